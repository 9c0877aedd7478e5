/* The card: examples and rules in words stand here; grammar, metrics and errors come from the compiler's own tables. */
#include "bench/tasks/card.h"

#include "bench/tasks/text.h"

#include <ctype.h>
#include <string.h>

size_t nst_card_count(const char *text) {
  size_t n = 0;
  for (const char *at = text; *at;) {
    const unsigned char c = (unsigned char)*at;
    if (isalpha(c))
      while (isalpha((unsigned char)*at)) at++;
    else if (isdigit(c))
      while (isdigit((unsigned char)*at)) at++;
    else
      at++;
    n += !isspace(c);
  }
  return n;
}

static const char first_example[] =
  "workload gemm(M = 64, N = 48, K = 32) {\n"
  "  dim m = M, n = N, k = K\n"
  "  tensor A, B : int8, C : int32\n"
  "  C[m, n] += A[m, k] * B[k, n]\n"
  "}\n"
  "hardware acc(PES = 4) {\n"
  "  memory DRAM { bandwidth = 8 B/cycle  read_energy = 100 pJ/B  write_energy = 120 pJ/B }\n"
  "  memory GLB  { capacity = 4 KiB  bandwidth = 32 B/cycle  energy = 2 pJ/B }\n"
  "  array  PE[x = PES, y = 2]\n"
  "  memory RF   { capacity = 64 B }\n"
  "  compute MAC { energy = 0.5 pJ }\n"
  "}\n"
  "mapping ans(M = 64, tm = 16, tn = 12) of gemm(M, 48, K = 32) on acc {\n"
  "  keep all in DRAM\n"
  "  for m by tm\n"
  "  for n by tn\n"
  "  keep A, B, C in GLB\n"
  "  par n on PE.x\n"
  "  for m by 4\n"
  "  keep C in RF\n"
  "  compute\n"
  "}\n"
  "model costs(M, N, K, tm, tn) {\n"
  "  let m_tiles = ceildiv(M, tm)\n"
  "  out reads_A   = M * K\n"
  "  out reads_B   = K * N * (if tn < N then m_tiles else 1)\n"
  "  out updates_C = M * N\n"
  "  out usage_GLB = min(tm, M) * K + K * min(tn, N) + 4 * min(tm, M) * min(tn, N)\n"
  "}\n";

static const char second_example[] = "workload block(K = 8, C = 6, P = 14, R = 3) {\n"
                                     "  dim k = K, c = C, p = P, r = R\n"
                                     "  tensor X[_, 2*P] : int8, W, V : int8, T, O\n"
                                     "  T[c, p] += W[c, r] * X[c, 2*p + r - 1]\n"
                                     "  O[k, p] += V[k, c] * relu(T[c, p])\n"
                                     "}\n"
                                     "hardware two {\n"
                                     "  memory DRAM\n"
                                     "  memory GLB { capacity = 1 KiB  double_buffered = true }\n"
                                     "  compute MAC\n"
                                     "}\n"
                                     "mapping fused(tp = 4) of block on two {\n"
                                     "  keep all in DRAM\n"
                                     "  for p by tp\n"
                                     "  keep T, O in GLB\n"
                                     "  seq {\n"
                                     "    do T { keep W, X in GLB  compute }\n"
                                     "    do O { for k by 4  keep V in GLB  compute }\n"
                                     "  }\n"
                                     "}\n";

/* ---- parts ---------------------------------------------------------------- */

/* A rule; of `decl` only the alternatives that begin with one of the words. */
static void add_rule(nestor_buffer *out, const char *rule, const char *const *words) {
  nestor_buffer *line = nestor_buffer_new();
  nestor_grammar_rule(rule, line);
  if (!words)
    nst_text_add(out, "%s", nestor_buffer_data(line));
  else {
    const char *at = strstr(nestor_buffer_data(line), " = ");
    if (at) nestor_buffer_append(out, nestor_buffer_data(line), (size_t)(at + 2 - nestor_buffer_data(line)));
    int n = 0;
    for (at = at ? at + 3 : ""; *at;) {
      const char *end = strstr(at, " | "), *line_end = strchr(at, '\n');
      if (!end || end > line_end) end = line_end;
      for (const char *const *w = words; *w; w++)
        if (!strncmp(at, *w, strlen(*w)) && at[strlen(*w)] == ' ')
          nst_text_add(out, "%s %.*s", n++ ? " |" : "", (int)(end - at), at);
      at = *end == '\n' ? "" : end + 3;
    }
    nst_text_add(out, "\n");
  }
  nestor_buffer_free(line);
}

static void add_grammar(nestor_buffer *out) {
  static const char *const declarations[] = {"workload", "hardware", "mapping", "model", NULL};
  static const char *const rules[] = {"opt_params", "ref",   "opt_args", "args", "witem",  "opt_shape",   "access",
                                      "reduce",     "hitem", "mitem",    "size", "target", "titem_model", "expr"};
  nst_text_add(out, "## Grammar\n\nWords and signs stand for themselves; rules are in capitals; ( ) | ? * mean what "
                    "they do in regular expressions, and are quoted where they are signs.\n\n```\n");
  add_rule(out, "decl", declarations);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) add_rule(out, rules[i], NULL);
  nst_text_add(out,
               "```\n\nOREXPR, from loose to tight: or, and, not, comparisons, + -, * / // %%, unary -, **. A "
               "RANK is an affine sum of dimensions with constant coefficients; ATTRS, ATTRLIST: attributes; TYPE: "
               "see below; a NAME has letters, digits, _. Numbers are exact; // and %% floor; functions: min max abs "
               "ceil floor ceildiv gcd log2 sqrt, sum(EXPR for i "
               "in a .. b). Comments: #. Reserved: if then else and or not true false step.\n\n");
}

static void add_metrics(nestor_buffer *out) {
  nst_text_add(out, "## Metrics\n\nL is a level, T a tensor; without T the sum over tensors.\n\n");
  nestor_metric_info m;
  for (size_t i = 0; nestor_metric_about(i, &m); i++)
    nst_text_add(out, "- %s%s%s%s%s%s: %s\n", m.name, *m.args ? "(" : "", m.args, *m.args ? ")" : "",
                 *m.unit ? ", " : "", m.unit, m.summary);
}

static void add_errors(nestor_buffer *out) {
  static const char *const ranges[][2] = {{"E0401", "E0408"}, {"E0601", "E0606"}, {"E0690", "E0691"},
                                          {"E0701", "E0701"}, {"E0706", "E0706"}, {"E0708", "E0715"}};
  nst_text_add(out, "\n## Errors\n\n");
  nestor_message_info m;
  int n = 0;
  for (size_t i = 0; nestor_message_about(i, &m); i++)
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
      if (strcmp(m.code, ranges[k][0]) >= 0 && strcmp(m.code, ranges[k][1]) <= 0)
        nst_text_add(out, "%s%s", n++ ? "; " : "", m.title);
  nst_text_add(out, ".\n");
}

void nst_card_write(nestor_buffer *out) {
  nst_text_add(out,
               "# The Nestor language\n\nA program declares workloads, hardware (levels, outermost first) and mappings "
               "of one on the other. Nestor counts exactly what every memory holds and moves.\n\n"
               "```nest\n%s```\n\nA cascade (several statements), with a stride and padding (X has a shape: outside it "
               "nothing exists); a tensor without a type is fp16:\n\n```nest\n%s```\n\n",
               first_example, second_example);
  add_grammar(out);
  nst_text_add(out, "## Attributes\n\n"
                    "An attribute is NAME = EXPR. hardware: clock (1 GHz). memory: capacity (B, KiB, MiB; left out: "
                    "unbounded), bandwidth or read_bandwidth and write_bandwidth (B/cycle, or GB/s with a "
                    "clock), energy or read_energy and write_energy (pJ/B), double_buffered (false), overlap (true), "
                    "leakage, area, holds. array: multicast (true), reduce (true). compute: energy (pJ per "
                    "operation), rate (1 operation per cycle), leakage, area. A quantity needs its unit; CAP * 1 KiB "
                    "for a parameter. TYPE: int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64 fp8 fp16 "
                    "bf16 fp32 fp64 bits(N); one holds for the untyped names before it. Without parameters a mapping "
                    "uses the defaults of workload and hardware.\n\n"
                    "## Counting\n\n"
                    "- `for d by T` cuts the current extent of d into tiles of T, one after another, the last one "
                    "smaller (T past the extent: one tile); `into N`: tiles of ceildiv(extent, N); `for d`: tiles of "
                    "1. `par` cuts likewise, side by side on an axis; without `by`: ceildiv(extent, places). What is "
                    "left after the last node runs in steps of one, in the order of the dims.\n"
                    "- `keep T in L`: from there inward L holds T's tile: the elements that the statement touches in "
                    "the current box (really touched, padding left out). Keeps of a tensor form a chain "
                    "down to the compute; a level where it is not kept is bypassed. Without a keep in the outermost "
                    "memory, all is kept there first.\n"
                    "- Input: when a tile changes, only elements that the previous tile lacks are moved: fills(inner), "
                    "reads(outer). Nothing older is remembered. So a loop over a dimension that T does "
                    "not use loads T's tiles again exactly if a loop further in (above the keep) changes them; "
                    "overlapping windows move only what is new.\n"
                    "- Output: elements that leave a tile are drains(inner), updates(outer); at the end all are. "
                    "Elements that come back are read back (reads, fills); the first time they start from zero.\n"
                    "- Instances in an array that need the same element in one step share one read (multicast), and "
                    "partial sums meet (reduce). The compute holds nothing: each step reads its operands "
                    "and writes its result.\n"
                    "- usage(L): sum of the largest tiles in bytes, twice where double buffered.\n"
                    "- cycles(L) of a memory, per working instance: the larger of (reads + drains) / read_bandwidth "
                    "and (fills + updates) / write_bandwidth, or all four / bandwidth, in bytes. cycles: the maximum "
                    "of steps / rate and of cycles(L) of the memories with overlap, plus cycles(L) of each memory "
                    "without.\n"
                    "- All is exact inside; a figure in bytes or cycles is rounded up once, after all sums (int4 is "
                    "half a byte).\n"
                    "- Array: a keep inside it comes after all its pars, a keep outside before them.\n"
                    "- Cascade: `seq` runs its branches one after another in every iteration above it. Loops above it "
                    "are over dimensions that all statements use and no producer reduces. "
                    "An intermediate kept above the seq on chip never moves further out. A keep in a branch starts "
                    "empty in every run of the branch and is drained at its end; usage: the keeps above plus "
                    "the largest branch. cycles: the sum of each statement's.\n"
                    "- A model sees only its parameters; every `out` must be exact.\n\n");
  add_metrics(out);
  add_errors(out);
}

void nst_card_system(nestor_buffer *out, bool card) {
  nst_text_add(out, "You answer questions about Nestor, a language in which workloads, accelerators and mappings are "
                    "written and their costs counted exactly. Follow the form of answer that is asked for.\n");
  if (!card) return;
  nst_text_add(out, "\n");
  nst_card_write(out);
}
