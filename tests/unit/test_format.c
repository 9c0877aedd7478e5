/* The formatter: the same tree, the same comments, and formatting again changes
 * nothing; for every program of the repository, and for many of them with
 * comments and line ends thrown in between any two tokens. */
#include "test.h"

#include "grammar/parse.h"
#include "syntax.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format(const char *text) {
  syntax s = syntax_parse(text, strlen(text), NULL);
  char *messages = syntax_messages(&s), *formatted = syntax_format(&s);
  assert_string_equal(messages, "");
  free(messages);
  syntax_fini(&s);
  return formatted;
}

static void assert_format(const char *text, const char *expected) {
  char *once = format(text), *twice = format(once);
  assert_string_equal(once, expected);
  assert_string_equal(twice, expected);
  free(once);
  free(twice);
}

static size_t comments_of(const syntax *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->file->ncomments; i++) n += s->file->comments[i].span.end - s->file->comments[i].span.begin;
  return n;
}

/* true if formatting keeps the tree and the comments of a valid program, and is stable. */
static bool round_trips(const char *text, size_t len, const char *what) {
  syntax a = syntax_parse(text, len, NULL);
  if (nst_diags_errors(a.diags)) {
    char *messages = syntax_messages(&a);
    print_error("%s does not parse:\n%s\n%.*s\n", what, messages, (int)len, text);
    free(messages);
    syntax_fini(&a);
    return false;
  }
  char *once = syntax_format(&a);
  syntax b = syntax_parse(once, strlen(once), NULL);
  char *twice = syntax_format(&b);
  bool tree = syntax_equal(&a, &b), stable = strcmp(once, twice) == 0;
  bool comments = a.file->ncomments == b.file->ncomments && comments_of(&a) == comments_of(&b);
  if (!tree || !stable || !comments) {
    print_error("%s: %s%s%s\n---- source\n%.*s\n---- once\n%s\n---- twice\n%s\n", what, tree ? "" : "another tree ",
                stable ? "" : "not stable ", comments ? "" : "other comments", (int)len, text, once, twice);
  }
  free(once);
  free(twice);
  syntax_fini(&a);
  syntax_fini(&b);
  return tree && stable && comments;
}

static void test_layout(void **state) {
  (void)state;
  assert_format("", "");
  assert_format("\xEF\xBB\xBF# only a comment  \r\n\r\n\r\n# another", "# only a comment\n\n# another\n");
  assert_format("const A=1_000;const   B = 128KiB ,C= 2e3 # c", "const A = 1_000\nconst B = 128 KiB, C = 2e3  # c\n");
  assert_format("use \"a b.nest\"\tas q\nuse std . hardware.edge", "use \"a b.nest\" as q\nuse std.hardware.edge\n");
  assert_format("const A = ( 1+2 )*-3 ** 2 ,B=not a<b and x or(y)", "const A = (1 + 2) * -3**2, B = not a < b and x or (y)\n");
  assert_format("const A=if a<b then f( x,y=2 )else g ( )", "const A = if a < b then f(x, y = 2) else g()\n");
}

static void test_workload(void **state) {
  (void)state;
  assert_format("workload w(M,N=4)\n{dim m=M ,n = N;tensor A,B:int8,C [ M,_ ]:bits( 4 )\n\n\n\nC[m,n]+=A[m,2 * k+r-1]*exp( B[k] )}",
                "workload w(M, N = 4) {\n  dim m = M, n = N\n  tensor A, B : int8, C[M, _] : bits(4)\n\n"
                "  C[m, n] += A[m, 2*k + r - 1] * exp(B[k])\n}\n");
  /* one line stays one line where it fits; items stand two columns apart, so `4` and `B` do not become a quantity */
  assert_format("workload w{dim i=4\tB[i]=A[i]}", "workload w { dim i = 4  B[i] = A[i] }\n");
  assert_format("workload w {\n}\nworkload v { \n# c\n}", "workload w { }\nworkload v {\n  # c\n}\n");
}

static void test_hardware(void **state) {
  (void)state;
  assert_format("hardware tiny(PES = 16) {\nclock = 1 GHz\nmemory DRAM { bandwidth = 32 B/cycle, energy = 100 pJ/B }\n"
                "memory GLB { capacity = 128 KiB; holds = A, B, energy = 2 pJ/B }\narray PE[x = PES, y = 16] { multicast = true }\n"
                "memory RF { }\ncompute MAC { rate = 1 }\n}",
                "hardware tiny(PES = 16) {\n  clock = 1 GHz\n  memory DRAM { bandwidth = 32 B/cycle  energy = 100 pJ/B }\n"
                "  memory GLB  { capacity = 128 KiB  holds = A, B  energy = 2 pJ/B }\n  array  PE[x = PES, y = 16] { multicast = true }\n"
                "  memory RF   { }\n  compute MAC { rate = 1 }\n}\n");
  /* a block on several lines keeps them and ends the run of aligned braces */
  assert_format("hardware h {\nmemory A {\ncapacity = 1 B\nenergy = 2 pJ/B }\nmemory LONGER { capacity = 1 B }\narray P[x = 2]\n}",
                "hardware h {\n  memory A {\n    capacity = 1 B\n    energy   = 2 pJ/B\n  }\n  memory LONGER { capacity = 1 B }\n"
                "  array  P[x = 2]\n}\n");
}

/* What the first formatting breaks must not count as one line when runs are aligned. */
static void test_runs(void **state) {
  (void)state;
  static const char *const blocks[] = {
    "memory A { capacity = 1 B }\nmemory LONG {\n}\nmemory BB { capacity = 2 B }\n",
    "memory A { capacity = 1 B }\nmemory LONG { holds = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,"
    " ccccccccccccccccccccccccccccccc }\nmemory BB { capacity = 2 B }\narray P[x = 2]\n",
    "memory A { capacity = 1 B }\nmemory LONG { holds = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb }\n"
    "memory MUCH_LONGER { capacity = 2 B }\narray P[x = 2]\n",
    "memory A { capacity = 1 B                                                                              }\narray P[x = 2]\n",
  };
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    char text[1024];
    int n = snprintf(text, sizeof text, "hardware h {\n%s}\n", blocks[i]);
    assert_true(round_trips(text, (size_t)n, "a run of levels"));
  }
}

static void test_mapping(void **state) {
  (void)state;
  assert_format("mapping x(t=4) of w . g(1,K=2) on h {let a=1 let long=2\nkeep? A,B in GLB keep all in L\nfor m by t{par n on PE.x by 2}\n"
                "permute{for k;for n into 2}\nseq{do S,T{compute on MAC}do U{\ncompute}}}",
                "mapping x(t = 4) of w.g(1, K = 2) on h {\n  let a    = 1\n  let long = 2\n  keep? A, B in GLB\n  keep all in L\n"
                "  for m by t { par n on PE.x by 2 }\n  permute { for k  for n into 2 }\n  seq {\n    do S, T { compute on MAC }\n"
                "    do U {\n      compute\n    }\n  }\n}\n");
}

static void test_other_blocks(void **state) {
  (void)state;
  assert_format("test  \"t\" of m(a=1){let x=1 expect x==1}", "test \"t\" of m(a = 1) { let x = 1  expect x == 1 }\n");
  assert_format("model m(M){\nlet a=1\nlet bb=2\nccc=sum( i*2 for i in 1..M-1 )\nout x=1\n\nout long=2\n# c\nout y=3 }",
                "model m(M) {\n  let a  = 1\n  let bb = 2\n  ccc = sum(i * 2 for i in 1 .. M - 1)\n  out x = 1\n\n  out long = 2\n  # c\n"
                "  out y = 3\n}\n");
  assert_format("verify m against x{\na==reads( L,A )\nover p in[1,2],q in 1..8 step 2,r in divisors( N ),s in pow2(1,8) }",
                "verify m against x {\n  a == reads(L, A)\n  over p in [1, 2], q in 1 .. 8 step 2, r in divisors(N), s in pow2(1, 8)\n}\n");
  assert_format("sweep s of m{\np in[1]\nwhere fits\nminimize a,b\nmaximize c\npareto d\ntop 3 }",
                "sweep s of m {\n  p in [1]\n  where fits\n  minimize a, b\n  maximize c\n  pareto d\n  top 3\n}\n");
}

static void test_comments(void **state) {
  (void)state;
  assert_format("## doc\n\n\nworkload w { # head\n\n# first\ndim m = 4 # short\ntensor A : int8 # c\n  C[m] = A[m] # longer\n\n# last\n\n} # end\n# tail",
                "## doc\n\nworkload w {  # head\n  # first\n  dim m = 4        # short\n  tensor A : int8  # c\n  C[m] = A[m]      # longer\n\n"
                "  # last\n}  # end\n# tail\n");
  assert_format("const A = 1 + # one\n# own\n2 # two\n  * 3", "const A = 1 +  # one\n    # own\n    2  # two\n    * 3\n");
  assert_format("mapping x of w # w\non h { # h\ncompute }", "mapping x of w  # w\n    on h {  # h\n  compute\n}\n");
}

static void test_width(void **state) {
  (void)state;
  assert_format("model m(a) {\nout x = aaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbbb * cccccccccccccccccccc + dddddddddddddddddddd - eeee\n}",
                "model m(a) {\n  out x = aaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbbbbbbbbbb * cccccccccccccccccccc\n"
                "      + dddddddddddddddddddd - eeee\n}\n");
  /* a block on one line that is too long is broken; the blocks inside it may stay */
  assert_format("mapping x of w on h { keep all in DRAM  for m by 4 { keep A in GLB  par n on PE.x }  for k by 2  keep A, B, C in RF  compute }",
                "mapping x of w on h {\n  keep all in DRAM\n  for m by 4 { keep A in GLB  par n on PE.x }\n  for k by 2\n  keep A, B, C in RF\n"
                "  compute\n}\n");
}

static void test_cases(void **state) {
  (void)state;
  static const char *const dirs[] = {
    "cases", "golden/syntax", "golden/check", "golden/check/parts", "golden/cli", "golden/eval",
    "../examples", "../examples/cascades", "../stdlib/hardware", "../stdlib/mappings", "../stdlib/workloads",
  };
  size_t wrong = 0;
  for (size_t d = 0; d < sizeof dirs / sizeof *dirs; d++) {
    size_t n;
    syntax_case *cases = syntax_cases(dirs[d], &n);
    for (size_t i = 0; i < n; i++) {
      syntax s = syntax_parse(cases[i].text, cases[i].len, NULL);
      size_t errors = nst_diags_errors(s.diags);
      syntax_fini(&s);
      if (!errors) wrong += !round_trips(cases[i].text, cases[i].len, cases[i].path);
    }
    syntax_cases_free(cases, n);
  }
  assert_int_equal(wrong, 0);
}

/* ---- comments and line ends between any two tokens ---- */

typedef struct { uint64_t state; } random_source;
static unsigned below(random_source *r, unsigned n) { /* xorshift64* */
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return (unsigned)(r->state * 0x2545F4914F6CDD1Du >> 33) % n;
}

static void test_scattered(void **state) {
  (void)state;
  static const char *const gaps[] = {"\n", "\n\n", " # c\n", "\n# own\n", "\n\n## own\n\n", "  \t ", "\r\n", " # a\n # b\n", "\n### x\n"};
  static const char *const dirs[] = {"cases/forms", "golden/syntax", "cases/cascades"};
  size_t wrong = 0;
  for (size_t d = 0; d < 3; d++) {
    size_t n;
    syntax_case *cases = syntax_cases(dirs[d], &n);
    for (size_t i = 0; i < n && wrong < 3; i++) {
      const char *text = cases[i].text;
      syntax s = syntax_parse(text, cases[i].len, NULL);
      nst_token_span *tokens;
      size_t ntokens = nst_diags_errors(s.diags) ? 0 : nst_parse_tokens(s.arena, s.interner, s.sources, s.source, &tokens);
      char *mutant = malloc(cases[i].len + 32 * ntokens + 1);
      for (unsigned seed = 1; seed <= 40 && ntokens; seed++) {
        random_source r = {seed * 0x9E3779B97F4A7C15u + i};
        unsigned density = 2 + below(&r, 30); /* one gap in so many is filled */
        size_t len = 0;
        uint32_t end = 0;
        for (size_t k = 0; k < ntokens; k++) {
          size_t between = tokens[k].begin - end;
          memcpy(mutant + len, text + end, between);
          len += between;
          if (below(&r, density) == 0) {
            const char *gap = gaps[below(&r, sizeof gaps / sizeof *gaps)];
            memcpy(mutant + len, gap, strlen(gap));
            len += strlen(gap);
          }
          memcpy(mutant + len, text + tokens[k].begin, tokens[k].end - tokens[k].begin);
          len += tokens[k].end - tokens[k].begin;
          end = tokens[k].end;
        }
        char what[256];
        snprintf(what, sizeof what, "%s, seed %u", cases[i].path, seed);
        wrong += !round_trips(mutant, len, what);
        if (wrong > 2) break;
      }
      free(mutant);
      syntax_fini(&s);
    }
    syntax_cases_free(cases, n);
  }
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_layout),  cmocka_unit_test(test_workload),     cmocka_unit_test(test_hardware), cmocka_unit_test(test_runs), cmocka_unit_test(test_mapping),
    cmocka_unit_test(test_other_blocks), cmocka_unit_test(test_comments), cmocka_unit_test(test_width),   cmocka_unit_test(test_cases),
    cmocka_unit_test(test_scattered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
