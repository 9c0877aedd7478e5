/* Planting faults. The text is cut into words; each fault looks for the places where it can be planted, draws one and
 * writes the text anew with some words replaced. */
#include "bench/tasks/mutate.h"

#include "bench/record/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NST_FAULT(id, name, what) name,
#include "bench/tasks/faults.def"
#include "bench/tasks/faults_tried.def"
#undef NST_FAULT
};
const char *nst_fault_name(nst_fault fault) { return names[fault]; }

typedef struct {
  const char *at;
  size_t size, line;
} word;
typedef struct {
  size_t first, last;
} line; /* words, last excluded */
typedef struct {
  const char *text;
  size_t size;
  word *words;
  size_t nwords;
  line *lines;
  size_t nlines;
  nst_random *r;
  nestor_buffer *out;
} surgery;

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128; }

/* Words are names, numbers (with units glued to them) and signs of one or two characters. */
static void cut(surgery *s) {
  size_t nwords = 0, nlines = 0;
  s->words = nst_memory_new(s->size + 1, sizeof *s->words);
  s->lines = nst_memory_new(s->size + 2, sizeof *s->lines);
  for (size_t i = 0; i < s->size;) {
    const char c = s->text[i];
    if (c == '\n') {
      s->lines[nlines++].last = nwords;
      s->lines[nlines].first = nwords;
    }
    if (isspace((unsigned char)c)) {
      i++;
      continue;
    }
    size_t n = 1;
    if (name_char(c)) {
      while (i + n < s->size &&
             (name_char(s->text[i + n]) || (s->text[i + n] == '.' && isdigit((unsigned char)c) && i + n + 1 < s->size &&
                                            isdigit((unsigned char)s->text[i + n + 1]))))
        n++;
    } else if (i + 1 < s->size && strchr("=<>!*/.+", c) &&
               (s->text[i + 1] == '=' || (s->text[i + 1] == c && strchr("*/.", c))))
      n = 2;
    s->words[nwords++] = (word){s->text + i, n, nlines};
    i += n;
  }
  s->nwords = nwords;
  s->lines[nlines].last = nwords;
  s->nlines = nlines + (s->lines[nlines].last > s->lines[nlines].first);
}

static bool is(const surgery *s, size_t w, const char *text) {
  return w < s->nwords && s->words[w].size == strlen(text) && !memcmp(s->words[w].at, text, s->words[w].size);
}
static bool is_number(const surgery *s, size_t w) { return w < s->nwords && isdigit((unsigned char)*s->words[w].at); }
static bool is_name(const surgery *s, size_t w) {
  return w < s->nwords && name_char(*s->words[w].at) && !is_number(s, w);
}
static bool same(const surgery *s, size_t a, size_t b) {
  return s->words[a].size == s->words[b].size && !memcmp(s->words[a].at, s->words[b].at, s->words[a].size);
}
static bool starts(const surgery *s, size_t l, const char *keyword) {
  return s->lines[l].first < s->lines[l].last && is(s, s->lines[l].first, keyword);
}

/* ---- writing -------------------------------------------------------------- */

static void put(surgery *s, const char *from, const char *to) {
  nestor_buffer_append(s->out, from, (size_t)(to - from));
}

/* All of the text, with the words from first to last (excluded) replaced. */
static bool replace(surgery *s, size_t first, size_t last, const char *with, size_t size) {
  put(s, s->text, s->words[first].at);
  nestor_buffer_append(s->out, with, size);
  put(s, s->words[last - 1].at + s->words[last - 1].size, s->text + s->size);
  return true;
}
static bool replace_word(surgery *s, size_t w, const char *with) { return replace(s, w, w + 1, with, strlen(with)); }
static bool replace_with_word(surgery *s, size_t w, size_t by) {
  return replace(s, w, w + 1, s->words[by].at, s->words[by].size);
}

/* Two runs of words, a before b, change places. */
static bool exchange(surgery *s, size_t a, size_t a_end, size_t b, size_t b_end) {
  const char *a0 = s->words[a].at, *a1 = s->words[a_end - 1].at + s->words[a_end - 1].size;
  const char *b0 = s->words[b].at, *b1 = s->words[b_end - 1].at + s->words[b_end - 1].size;
  put(s, s->text, a0);
  put(s, b0, b1);
  put(s, a1, b0);
  put(s, a0, a1);
  put(s, b1, s->text + s->size);
  return true;
}

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* Words are taken out so that the text does not show where they were: of a line that was theirs alone nothing is left,
 * of the gaps before and behind them one. */
static bool remove_words(surgery *s, size_t first, size_t last) {
  const char *from = s->words[first].at, *to = s->words[last - 1].at + s->words[last - 1].size,
             *end = s->text + s->size;
  const char *before = from, *behind = to;
  while (before > s->text && blank(before[-1])) before--;
  while (behind < end && blank(*behind)) behind++;
  const bool opens = before == s->text || before[-1] == '\n', closes = behind == end || *behind == '\n';
  if (opens && closes)
    from = before, to = behind + (behind < end);
  else if (closes)
    from = before, to = behind;
  else if (opens || behind - to > from - before)
    to = behind;
  else
    from = before;
  put(s, s->text, from);
  put(s, to, end);
  return true;
}

/* ---- places --------------------------------------------------------------- */

typedef struct {
  size_t *items, n;
} places;
static void add(places *p, size_t i) {
  p->items = nst_memory_grow(p->items, p->n + 1, sizeof *p->items);
  p->items[p->n++] = i;
}
/* One of them, or SIZE_MAX; the list is done with. */
static size_t draw(places *p, nst_random *r) {
  const size_t i = p->n ? p->items[nst_random_below(r, p->n)] : SIZE_MAX;
  free(p->items);
  *p = (places){0};
  return i;
}

/* Words of a line that begin a node: branches may hold several on one line. */
static bool begins_node(const surgery *s, size_t w, const char *keyword) {
  return is(s, w, keyword) && is_name(s, w + 1) && !(w && (is(s, w - 1, ",") || is(s, w - 1, "in")));
}
/* Where the node that begins at w ends: before the next node, brace or line. */
static size_t node_end(const surgery *s, size_t w) {
  size_t e = w + 1;
  while (e < s->nwords && s->words[e].line == s->words[w].line && !is(s, e, "{") && !is(s, e, "}") &&
         !is(s, e, "for") && !is(s, e, "par") && !is(s, e, "keep") && !is(s, e, "compute") && !is(s, e, "seq") &&
         !is(s, e, "do"))
    e++;
  return e;
}
static bool in_mapping(const surgery *s) { return is(s, 0, "mapping"); }
static size_t next_node(const surgery *s, size_t w, const char *keyword) {
  size_t e = node_end(s, w);
  return e < s->nwords && is(s, e, keyword) ? e : SIZE_MAX;
}

static bool loop_order(surgery *s) {
  places p = {0};
  for (size_t w = 0; in_mapping(s) && w < s->nwords; w++)
    if (begins_node(s, w, "for") && next_node(s, w, "for") != SIZE_MAX) add(&p, w);
  const size_t a = draw(&p, s->r);
  if (a == SIZE_MAX) return false;
  const size_t b = next_node(s, a, "for");
  return exchange(s, a, node_end(s, a), b, node_end(s, b));
}

/* A node drawn among those of a keyword that `may` allows; SIZE_MAX: there is none. */
typedef bool may_node(const surgery *s, size_t w);
static size_t draw_node(surgery *s, const char *keyword, may_node *may) {
  places p = {0};
  for (size_t w = 0; in_mapping(s) && w < s->nwords; w++)
    if (begins_node(s, w, keyword) && (!may || may(s, w))) add(&p, w);
  return draw(&p, s->r);
}

static bool has_tile(const surgery *s, size_t w) { return node_end(s, w) > w + 3; }

static bool tile(surgery *s) {
  const size_t w = draw_node(s, "for", has_tile);
  if (w == SIZE_MAX) return false;
  places others = {0};
  for (size_t v = 0; v < s->nwords; v++)
    if (begins_node(s, v, "for") && has_tile(s, v) && !same(s, v + 3, w + 3)) add(&others, v + 3);
  const size_t by = draw(&others, s->r);
  if (by != SIZE_MAX && nst_random_chance(s->r, 60)) return replace_with_word(s, w + 3, by);
  static const char *const numbers[] = {"1", "2", "3", "5"};
  const char *with = numbers[nst_random_below(s->r, 4)];
  return !is(s, w + 3, with) && replace_word(s, w + 3, with);
}

static bool wrong_dim_of(surgery *s, const char *keyword) {
  const size_t w = draw_node(s, keyword, NULL);
  if (w == SIZE_MAX) return false;
  places others = {0};
  for (size_t v = 0; v < s->nwords; v++)
    if ((begins_node(s, v, "for") || begins_node(s, v, "par")) && !same(s, v + 1, w + 1)) add(&others, v + 1);
  const size_t by = draw(&others, s->r);
  return by != SIZE_MAX && replace_with_word(s, w + 1, by);
}

static bool missing_node(surgery *s, const char *keyword) {
  const size_t w = draw_node(s, keyword, NULL);
  return w != SIZE_MAX && remove_words(s, w, node_end(s, w));
}

static bool missing_keep(surgery *s) {
  const size_t w = draw_node(s, "keep", NULL);
  if (w == SIZE_MAX) return false;
  places tensors = {0};
  for (size_t v = w + 1; v < node_end(s, w) && !is(s, v, "in"); v++)
    if (is_name(s, v)) add(&tensors, v);
  if (tensors.n <= 1) return free(tensors.items), remove_words(s, w, node_end(s, w));
  const size_t v = draw(&tensors, s->r);
  return is(s, v - 1, ",") ? remove_words(s, v - 1, v + 1) : remove_words(s, v, v + 2);
}

static bool keep_level(surgery *s) {
  const size_t w = draw_node(s, "keep", NULL);
  if (w == SIZE_MAX) return false;
  const size_t at = node_end(s, w) - 1;
  places others = {0};
  for (size_t v = 0; v < s->nwords; v++)
    if (begins_node(s, v, "keep") && !same(s, node_end(s, v) - 1, at)) add(&others, node_end(s, v) - 1);
  const size_t by = draw(&others, s->r);
  return by != SIZE_MAX && replace_with_word(s, at, by);
}

static bool keep_place(surgery *s) {
  places p = {0};
  for (size_t w = 0; in_mapping(s) && w < s->nwords; w++) {
    const bool keep = begins_node(s, w, "keep"), loop = begins_node(s, w, "for");
    if ((keep && next_node(s, w, "for") != SIZE_MAX) || (loop && next_node(s, w, "keep") != SIZE_MAX)) add(&p, w);
  }
  const size_t a = draw(&p, s->r);
  if (a == SIZE_MAX) return false;
  const size_t b = node_end(s, a);
  return exchange(s, a, b, b, node_end(s, b));
}

static bool wrong_axis(surgery *s) {
  const size_t w = draw_node(s, "par", NULL);
  if (w == SIZE_MAX) return false;
  const size_t axis = node_end(s, w) - 1;
  places others = {0};
  for (size_t v = 0; v < s->nwords; v++)
    if (begins_node(s, v, "par") && !same(s, node_end(s, v) - 1, axis)) add(&others, node_end(s, v) - 1);
  const size_t by = draw(&others, s->r);
  return by != SIZE_MAX ? replace_with_word(s, axis, by) : wrong_dim_of(s, "par");
}

/* ---- workloads ------------------------------------------------------------ */

/* Statements: the lines of a workload that hold an access and no keyword. */
static bool in_statement(const surgery *s, size_t w) {
  const size_t l = s->words[w].line;
  return is(s, 0, "workload") && l && !starts(s, l, "dim") && !starts(s, l, "tensor") && !starts(s, l, "}");
}

static bool rank_term(surgery *s) {
  places p = {0};
  int depth = 0;
  for (size_t w = 0; w < s->nwords; w++) {
    depth += is(s, w, "[") ? 1 : is(s, w, "]") ? -1 : 0;
    if (depth && in_statement(s, w) && (is_number(s, w) || is_name(s, w))) add(&p, w);
  }
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  if (is_number(s, w)) return replace_word(s, w, is(s, w, "2") ? "3" : is(s, w, "1") ? "2" : "1");
  const word *v = &s->words[w];
  const size_t end = is(s, w + 3, "*") ? w + 5 : w + 3;
  if (is(s, w + 1, "+") && end <= s->nwords && nst_random_chance(s->r, 50)) return remove_words(s, w + 1, end);
  char with[64];
  if (v->size > 40) return false;
  memcpy(with + 2, v->at, v->size);
  if (nst_random_chance(s->r, 60)) {
    memcpy(with, "2*", 2);
    return !is(s, w - 1, "*") && replace(s, w, w + 1, with, v->size + 2);
  }
  memcpy(with + 2 + v->size, " + 1", 4);
  return replace(s, w, w + 1, with + 2, v->size + 4);
}

/* A comma between two ranks of an access: the first is [*a, *comma), the second [*comma + 1, *b). */
static bool draw_ranks(surgery *s, size_t *a, size_t *comma, size_t *b) {
  places p = {0};
  int depth = 0;
  for (size_t w = 0; w < s->nwords; w++) {
    depth += is(s, w, "[") ? 1 : is(s, w, "]") ? -1 : 0;
    if (depth && in_statement(s, w) && is(s, w, ",")) add(&p, w);
  }
  *comma = draw(&p, s->r);
  if (*comma == SIZE_MAX) return false;
  *a = *comma, *b = *comma + 1;
  while (*a > 1 && !is(s, *a - 1, "[") && !is(s, *a - 1, ",")) --*a;
  while (*b < s->nwords && !is(s, *b, "]") && !is(s, *b, ",")) ++*b;
  return true;
}

static bool swapped_ranks(surgery *s) {
  size_t a, comma, b;
  if (!draw_ranks(s, &a, &comma, &b)) return false;
  return a < comma && b > comma + 1 && exchange(s, a, comma, comma + 1, b);
}

static bool wrong_type(surgery *s) {
  static const char *const types[] = {"int8", "fp16", "fp32", "int4", "fp64"};
  places p = {0};
  for (size_t w = 1; is(s, 0, "workload") && w < s->nwords; w++)
    if (is(s, w - 1, ":")) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  const char *with = types[nst_random_below(s->r, 5)];
  return !is(s, w, with) && replace_word(s, w, with);
}

static bool reduction(surgery *s) {
  places p = {0};
  for (size_t w = 1; w < s->nwords; w++)
    if (in_statement(s, w) && (is(s, w, "+=") || (is(s, w, "=") && (is(s, w - 1, "max") || is(s, w - 1, "min")))))
      add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  return is(s, w, "+=") ? replace_word(s, w, "=") : remove_words(s, w - 1, w);
}

/* ---- hardware ------------------------------------------------------------- */

static bool unit(surgery *s) {
  static const char *const pairs[][2] = {{"KiB", "MiB"}, {"KiB", "B"}, {"B", "KiB"}, {"B", "b"},
                                         {"pJ", "nJ"},   {"GB", "MB"}, {"GB", "Gb"}, {"GHz", "MHz"}};
  places p = {0};
  for (size_t w = 1; is(s, 0, "hardware") && w < s->nwords; w++)
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (is_number(s, w - 1) && is(s, w, pairs[i][0])) add(&p, w * 16 + i);
  const size_t drawn = draw(&p, s->r);
  return drawn != SIZE_MAX && replace_word(s, drawn / 16, pairs[drawn % 16][1]);
}

static bool number(surgery *s) {
  places p = {0};
  for (size_t w = 0; w < s->nwords; w++)
    if (is_number(s, w)) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX || s->words[w].size > 15) return false;
  char *end;
  const unsigned long long n = strtoull(s->words[w].at, &end, 10);
  const bool fraction = *end == '.';
  const unsigned long long other[] = {n + 1, n * 2 + (n == 0), n > 1 ? n - 1 : 2, n * 10 + 1};
  char with[32], digits[32];
  size_t k = 0, len = 0;
  for (unsigned long long v = other[nst_random_below(s->r, fraction ? 2 : 4)]; v || !k; v /= 10)
    digits[k++] = (char)('0' + v % 10);
  while (k) with[len++] = digits[--k];
  with[len] = '\0';
  return replace_word(s, w, with);
}

static bool flag(surgery *s) {
  places p = {0};
  for (size_t w = 0; w < s->nwords; w++)
    if (is(s, w, "true") || is(s, w, "false")) add(&p, w);
  const size_t w = draw(&p, s->r);
  return w != SIZE_MAX && replace_word(s, w, is(s, w, "true") ? "false" : "true");
}

static bool missing_attribute(surgery *s) {
  places p = {0};
  for (size_t w = 1; is(s, 0, "hardware") && w + 1 < s->nwords; w++)
    if (s->words[w].line && is_name(s, w) && is(s, w + 1, "=") && !is(s, w - 1, "[") && !is(s, w - 1, ",")) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  size_t e = w + 2;
  while (e < s->nwords && s->words[e].line == s->words[w].line && !is(s, e, "}") && !is(s, e + 1, "=")) e++;
  return remove_words(s, w, e < s->nwords ? e : s->nwords);
}

/* ---- any program ---------------------------------------------------------- */

static bool misspelt(surgery *s) {
  places p = {0};
  for (size_t w = 2; w < s->nwords; w++)
    if (is_name(s, w) && s->words[w].size > 1) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX || s->words[w].size > 40) return false;
  char with[64];
  const size_t n = s->words[w].size, at = (size_t)nst_random_between(s->r, 1, (int64_t)n - 1);
  memcpy(with, s->words[w].at, n);
  if (n > 2 && nst_random_chance(s->r, 50))
    memmove(with + at, with + at + 1, n - at - 1), with[n - 1] = '\0';
  else
    memmove(with + at + 1, with + at, n - at), with[n + 1] = '\0';
  return !is(s, w, with) && replace_word(s, w, with);
}

static bool missing_brace(surgery *s) {
  places p = {0};
  for (size_t w = 0; w < s->nwords; w++)
    if (is(s, w, "}")) add(&p, w);
  const size_t w = draw(&p, s->r);
  return w != SIZE_MAX && remove_words(s, w, w + 1);
}

/* ---- models --------------------------------------------------------------- */

static size_t body(const surgery *s) {
  size_t w = 0;
  while (w < s->nwords && !is(s, w, "{")) w++;
  return w;
}

static bool operator_of(surgery *s) {
  static const char *const pairs[][2] = {{"ceildiv", "min"}, {"min", "max"}, {"max", "min"}, {"+", "-"},
                                         {"-", "+"},         {"*", "+"},     {"//", "*"}};
  places p = {0};
  for (size_t w = body(s); is(s, 0, "model") && w < s->nwords; w++)
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (is(s, w, pairs[i][0])) add(&p, w * 8 + i);
  const size_t drawn = draw(&p, s->r);
  return drawn != SIZE_MAX && replace_word(s, drawn / 8, pairs[drawn % 8][1]);
}

static bool variable(surgery *s) {
  places params = {0}, uses = {0};
  const size_t start = body(s);
  for (size_t w = 2; is(s, 0, "model") && w < start; w++)
    if (is_name(s, w)) add(&params, w);
  for (size_t w = start; params.n > 1 && w < s->nwords; w++)
    for (size_t i = 0; i < params.n; i++)
      if (same(s, w, params.items[i])) add(&uses, w);
  const size_t at = draw(&uses, s->r), by = draw(&params, s->r);
  return at != SIZE_MAX && !same(s, at, by) && replace_with_word(s, at, by);
}

static bool condition(surgery *s) {
  static const char *const pairs[][2] = {{"<", "<="},  {"<", ">"},    {">", ">="},  {"<=", "<"},
                                         {"==", "!="}, {"and", "or"}, {"or", "and"}};
  places p = {0};
  for (size_t w = body(s); is(s, 0, "model") && w < s->nwords; w++)
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
      if (is(s, w, pairs[i][0])) add(&p, w * 8 + i);
  const size_t drawn = draw(&p, s->r);
  return drawn != SIZE_MAX && replace_word(s, drawn / 8, pairs[drawn % 8][1]);
}

/* ---- faults that tests plant alone ---------------------------------------- */

/* Something written before a word. */
static bool insert(surgery *s, size_t w, const char *text, size_t size) {
  put(s, s->text, s->words[w].at);
  nestor_buffer_append(s->out, text, size);
  put(s, s->words[w].at, s->text + s->size);
  return true;
}

static bool begins_any(const surgery *s, size_t w) {
  return begins_node(s, w, "for") || begins_node(s, w, "par") || begins_node(s, w, "keep");
}

static bool twice(surgery *s) {
  places p = {0};
  for (size_t w = 0; in_mapping(s) && w < s->nwords; w++)
    if (begins_any(s, w)) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  const word *last = &s->words[node_end(s, w) - 1];
  put(s, s->text, last->at + last->size);
  nestor_buffer_append(s->out, "\n", 1);
  put(s, s->words[w].at, s->text + s->size);
  return true;
}

static bool extra_loop(surgery *s) {
  places p = {0}, dims = {0};
  for (size_t w = 0; in_mapping(s) && w < s->nwords; w++) {
    if (begins_any(s, w) || (is(s, w, "compute") && !is(s, w - 1, ","))) add(&p, w);
    if (begins_node(s, w, "for") || begins_node(s, w, "par")) add(&dims, w + 1);
  }
  const size_t at = draw(&p, s->r), dim = draw(&dims, s->r);
  if (at == SIZE_MAX || dim == SIZE_MAX || s->words[dim].size > 40) return false;
  nestor_buffer *loop = nestor_buffer_new();
  nestor_buffer_append(loop, "for ", 4);
  nestor_buffer_append(loop, s->words[dim].at, s->words[dim].size);
  nestor_buffer_append(loop, nst_random_chance(s->r, 50) ? " by 2\n" : " by 3\n", 6);
  insert(s, at, nestor_buffer_data(loop), nestor_buffer_size(loop));
  nestor_buffer_free(loop);
  return true;
}

static bool into(surgery *s) {
  places p = {0};
  for (size_t w = 3; in_mapping(s) && w < s->nwords; w++)
    if (is(s, w - 2, "for") && (is(s, w, "by") || is(s, w, "into"))) add(&p, w);
  const size_t w = draw(&p, s->r);
  return w != SIZE_MAX && replace_word(s, w, is(s, w, "by") ? "into" : "by");
}

/* A line that is neither the first nor opens or closes a brace for others. */
static bool is_whole_line(const surgery *s, size_t l) {
  if (!l || l >= s->nlines || s->lines[l].first == s->lines[l].last) return false;
  int depth = 0;
  for (size_t w = s->lines[l].first; w < s->lines[l].last && depth >= 0; w++)
    depth += is(s, w, "{") ? 1 : is(s, w, "}") ? -1 : 0;
  return depth == 0;
}

static bool exchanged_lines(surgery *s) {
  places p = {0};
  for (size_t l = 1; l + 1 < s->nlines; l++)
    if (is_whole_line(s, l) && is_whole_line(s, l + 1)) add(&p, l);
  const size_t l = draw(&p, s->r);
  return l != SIZE_MAX && exchange(s, s->lines[l].first, s->lines[l].last, s->lines[l + 1].first, s->lines[l + 1].last);
}

static bool missing_line(surgery *s) {
  places p = {0};
  for (size_t l = 1; !in_mapping(s) && l < s->nlines; l++)
    if (is_whole_line(s, l)) add(&p, l);
  const size_t l = draw(&p, s->r);
  return l != SIZE_MAX && remove_words(s, s->lines[l].first, s->lines[l].last);
}

static bool missing_default(surgery *s) {
  places p = {0};
  for (size_t w = 2; w < s->nwords && !is(s, w, "{"); w++)
    if (is(s, w, "=") && is_number(s, w + 1)) add(&p, w);
  const size_t w = draw(&p, s->r);
  return w != SIZE_MAX && remove_words(s, w, w + 2);
}

/* A name that somebody chose, or that of an attribute. */
static bool is_free_name(const surgery *s, size_t w) {
  static const char *const keywords[] = {
    "workload", "hardware", "mapping", "model", "dim", "tensor", "memory", "array",   "compute", "for",  "par", "keep",
    "by",       "into",     "in",      "on",    "of",  "seq",    "do",     "all",     "let",     "out",  "if",  "then",
    "else",     "and",      "or",      "min",   "max", "ceil",   "floor",  "ceildiv", "true",    "false"};
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (is(s, w, keywords[i])) return false;
  return is_name(s, w) && w > 1;
}

static bool swapped_names(surgery *s) {
  enum { FAR = 24 }; /* words between the two */
  places p = {0};
  for (size_t a = 2; a < s->nwords; a++)
    for (size_t b = a + 1; b < s->nwords && b - a < FAR && s->words[b].line == s->words[a].line; b++)
      if (is_free_name(s, a) && is_free_name(s, b) && !same(s, a, b)) add(&p, a * FAR + (b - a));
  const size_t drawn = draw(&p, s->r);
  if (drawn == SIZE_MAX) return false;
  const size_t a = drawn / FAR, b = a + drawn % FAR;
  return exchange(s, a, a + 1, b, b + 1);
}

static bool wrong_name(surgery *s) {
  places p = {0}, others = {0};
  for (size_t w = 2; w < s->nwords; w++)
    if (is_free_name(s, w)) add(&p, w);
  const size_t w = draw(&p, s->r);
  for (size_t v = 2; w != SIZE_MAX && v < s->nwords; v++)
    if (is_free_name(s, v) && !same(s, v, w) && same(s, v - 1, w - 1)) add(&others, v);
  const size_t by = draw(&others, s->r);
  return by != SIZE_MAX && replace_with_word(s, w, by);
}

static bool missing_rank(surgery *s) {
  size_t a, comma, b;
  if (!draw_ranks(s, &a, &comma, &b)) return false;
  return nst_random_chance(s->r, 50) ? remove_words(s, a, comma + 1) : remove_words(s, comma, b);
}

/* Behind the bracket that closes the one at w. */
static size_t behind_bracket(const surgery *s, size_t w) {
  int depth = 0;
  for (; w < s->nwords; w++) {
    depth += is(s, w, "(") || is(s, w, "[") ? 1 : is(s, w, ")") || is(s, w, "]") ? -1 : 0;
    if (!depth) return w + 1;
  }
  return w;
}

static bool missing_term(surgery *s) {
  places p = {0};
  const bool model = is(s, 0, "model");
  for (size_t w = model ? body(s) : 2; w + 1 < s->nwords; w++)
    if ((model || in_statement(s, w)) && (is(s, w, "+") || is(s, w, "-") || is(s, w, "*")) &&
        (is_name(s, w + 1) || is_number(s, w + 1) || is(s, w + 1, "(")))
      add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  size_t end = w + 1;
  if (!is(s, end, "(")) end++;
  if (is(s, end, "(") || is(s, end, "[")) end = behind_bracket(s, end);
  return remove_words(s, w, end);
}

static bool off_by_one(surgery *s) {
  places p = {0};
  for (size_t w = body(s); is(s, 0, "model") && w < s->nwords; w++)
    if ((is_number(s, w) || is_free_name(s, w)) && !is(s, w + 1, "=") && !is(s, w + 1, "(")) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX || s->words[w].size > 40) return false;
  char with[64] = "(";
  memcpy(with + 1, s->words[w].at, s->words[w].size);
  memcpy(with + 1 + s->words[w].size, nst_random_chance(s->r, 50) ? " + 1)" : " - 1)", 6);
  return replace_word(s, w, with);
}

/* ceildiv(a, b) becomes (a // b), ceil becomes floor. */
static bool rounding(surgery *s) {
  places p = {0};
  for (size_t w = body(s); is(s, 0, "model") && w < s->nwords; w++)
    if (is(s, w + 1, "(") && (is(s, w, "ceildiv") || is(s, w, "ceil"))) add(&p, w);
  const size_t w = draw(&p, s->r);
  if (w == SIZE_MAX) return false;
  if (is(s, w, "ceil")) return replace_word(s, w, "floor");
  size_t comma = w + 2;
  while (comma < s->nwords && !is(s, comma, ",")) comma = is(s, comma, "(") ? behind_bracket(s, comma) : comma + 1;
  if (comma >= s->nwords) return false;
  put(s, s->text, s->words[w].at);
  put(s, s->words[w + 1].at, s->words[comma].at);
  nestor_buffer_append(s->out, " //", 3);
  put(s, s->words[comma].at + 1, s->text + s->size);
  return true;
}

static bool branches(surgery *s) {
  places p = {0};
  for (size_t w = body(s); is(s, 0, "model") && w < s->nwords; w++)
    if (is(s, w, "then")) add(&p, w);
  const size_t then = draw(&p, s->r);
  if (then == SIZE_MAX) return false;
  size_t otherwise = then + 1;
  while (otherwise < s->nwords && !is(s, otherwise, "else"))
    otherwise = is(s, otherwise, "(") ? behind_bracket(s, otherwise) : otherwise + 1;
  size_t end = otherwise + 1;
  while (end < s->nwords && !is(s, end, ")")) end = is(s, end, "(") ? behind_bracket(s, end) : end + 1;
  if (end >= s->nwords || otherwise == then + 1 || end == otherwise + 1) return false;
  return exchange(s, then + 1, otherwise, otherwise + 1, end);
}

static bool plant(surgery *s, nst_fault fault) {
  switch (fault) {
  case NST_FAULT_LOOP_ORDER: return loop_order(s);
  case NST_FAULT_TILE: return tile(s);
  case NST_FAULT_WRONG_DIM: return wrong_dim_of(s, "for");
  case NST_FAULT_MISSING_LOOP: return missing_node(s, "for");
  case NST_FAULT_MISSING_KEEP: return missing_keep(s);
  case NST_FAULT_KEEP_LEVEL: return keep_level(s);
  case NST_FAULT_KEEP_PLACE: return keep_place(s);
  case NST_FAULT_MISSING_PAR: return missing_node(s, "par");
  case NST_FAULT_WRONG_AXIS: return wrong_axis(s);
  case NST_FAULT_RANK_TERM: return rank_term(s);
  case NST_FAULT_SWAPPED_RANKS: return swapped_ranks(s);
  case NST_FAULT_WRONG_TYPE: return wrong_type(s);
  case NST_FAULT_REDUCTION: return reduction(s);
  case NST_FAULT_UNIT: return unit(s);
  case NST_FAULT_NUMBER: return number(s);
  case NST_FAULT_FLAG: return flag(s);
  case NST_FAULT_MISSING_ATTRIBUTE: return missing_attribute(s);
  case NST_FAULT_MISSPELT: return misspelt(s);
  case NST_FAULT_MISSING_BRACE: return missing_brace(s);
  case NST_FAULT_OPERATOR: return operator_of(s);
  case NST_FAULT_VARIABLE: return variable(s);
  case NST_FAULT_CONDITION: return condition(s);
  case NST_FAULT_TWICE: return twice(s);
  case NST_FAULT_EXTRA_LOOP: return extra_loop(s);
  case NST_FAULT_INTO: return into(s);
  case NST_FAULT_EXCHANGED_LINES: return exchanged_lines(s);
  case NST_FAULT_MISSING_LINE: return missing_line(s);
  case NST_FAULT_MISSING_DEFAULT: return missing_default(s);
  case NST_FAULT_SWAPPED_NAMES: return swapped_names(s);
  case NST_FAULT_WRONG_NAME: return wrong_name(s);
  case NST_FAULT_MISSING_RANK: return missing_rank(s);
  case NST_FAULT_MISSING_TERM: return missing_term(s);
  case NST_FAULT_OFF_BY_ONE: return off_by_one(s);
  case NST_FAULT_ROUNDING: return rounding(s);
  case NST_FAULT_BRANCHES: return branches(s);
  case NST_FAULT_ALL: break;
  }
  return false;
}

bool nst_mutate(nestor_buffer *out, const char *text, size_t size, nst_fault fault, nst_random *r) {
  surgery s = {.text = text, .size = size, .r = r, .out = out};
  cut(&s);
  const bool planted = s.nwords > 4 && plant(&s, fault);
  free(s.words);
  free(s.lines);
  return planted;
}
