/* The answer of a sweep for people: what was searched, how sure it is, the best
 * and the front as tables, and the mappings of the first of them, or of all on
 * request, as text of the language that can be pasted into a file. */
#include "driver/expectation.h"
#include "driver/sweep.h"
#include "driver/table.h"

#include <math.h>
#include <string.h>

static void grouped(nst_buffer *out, const char *digits) {
  const size_t n = strlen(digits);
  for (size_t i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) nst_buffer_putc(out, ',');
    nst_buffer_putc(out, digits[i]);
  }
}

static void count(nst_buffer *out, const char *name, uint64_t v, const char *after) {
  char digits[24];
  nst_buffer text = {0};
  nst_buffer_printf(&text, "%llu", (unsigned long long)v);
  memcpy(digits, text.text, text.len + 1);
  nst_buffer_fini(&text);
  nst_buffer_printf(out, "%s ", name);
  grouped(out, digits);
  nst_buffer_puts(out, after);
}

static void say_space(const nestor_sweep *s, const nestor_sweep_info *info, bool color, nst_buffer *out) {
  nst_buffer_printf(out, "%ssweep %s of %s%s: ", color ? NST_BOLD : "", info->name, info->mapping,
                    color ? NST_PLAIN : "");
  grouped(out, info->points);
  nst_buffer_puts(out, !strcmp(info->points, "1") ? " point" : " points");
  if (s->variants.count > 1) {
    nst_buffer_puts(out, " (");
    grouped(out, info->tuples);
    nst_buffer_puts(out, " of the parameters x ");
    grouped(out, info->variants);
    nst_buffer_printf(out, " %s)", s->variants.nkeeps ? "orders and keeps" : "orders");
  }
  nst_buffer_putc(out, '\n');
}

static void say_proof(const nestor_sweep *s, const nestor_sweep_info *info, nst_buffer *out) {
  const nestor_sweep_options *o = &s->options;
  if (info->proven) {
    nst_buffer_printf(out, "  proven: the whole space was searched%s\n", info->found ? "" : ", and no point is valid");
    return;
  }
  nst_buffer_puts(out, "  not proven: ");
  if (o->sample && s->engine_name && !strcmp(s->engine_name, "sample"))
    nst_buffer_printf(out, "a random sample of %llu points, seed %llu", (unsigned long long)o->sample,
                      (unsigned long long)o->seed);
  else if (o->limit && !s->whole) {
    nst_buffer_puts(out, "the search was limited to ");
    count(out, "at most", o->limit, " points");
  } else if (s->shards_done || o->shards > 1)
    nst_buffer_puts(out, "only a part of the space was searched");
  else
    nst_buffer_puts(out, "the search was stopped");
  nst_buffer_puts(out, "; better points may exist\n");
}

static void say_tally(const nestor_sweep_info *info, nst_buffer *out) {
  count(out, "  evaluated", info->evaluated, ", ");
  count(out, "pruned", info->pruned, ", ");
  count(out, "duplicates", info->duplicates, ", ");
  count(out, "dropped", info->dropped, "; ");
  count(out, "valid", info->valid, info->pruned ? " at least\n" : "\n");
}

static void say_time(const nestor_sweep_info *info, nst_buffer *out) {
  const double run = info->seconds_run > 0 ? info->seconds_run : 1e-9;
  nst_buffer_printf(out, "  engine %s, %d thread%s, ", info->engine, info->threads, info->threads == 1 ? "" : "s");
  nst_number_decimal(out, round(1000 * info->seconds_compile) / 1000, 3);
  nst_buffer_puts(out, " s to prepare, ");
  nst_number_decimal(out, round(1000 * info->seconds_run) / 1000, 3);
  nst_buffer_puts(out, " s to run: ");
  nst_number_decimal(out, (double)info->evaluated / run / 1e6, 2);
  nst_buffer_puts(out, " million evaluated a second, ");
  nst_number_decimal(
    out,
    ((double)info->evaluated + (double)info->pruned + (double)info->duplicates + (double)info->dropped) / run / 1e6, 2);
  nst_buffer_puts(out, " million searched\n");
  if (info->why_plain) nst_buffer_printf(out, "  without native code: %s\n", info->why_plain);
}

/* ---- tables ---- */

static void head(const nestor_sweep *s, nst_table *t) {
  nst_table_text(t, "#");
  for (int k = 0; k < s->ir->npoints; k++) nst_table_text(t, s->mapping->scope.params[s->ir->points[k].param].name);
  for (int b = 0; b < s->variants.npermutes; b++)
    nst_buffer_printf(nst_table_cell(t), s->variants.npermutes > 1 ? "order %d" : "order", b + 1);
  for (int i = 0; i < s->variants.nkeeps; i++) {
    nst_sweep_point all = {0}; /* variant 0: its keeps are those of every point */
    nst_sweep_keep(s, &all, i, nst_table_cell(t));
  }
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) nst_sweep_metric_name(s, i, nst_table_cell(t));
}

static void units(const nestor_sweep *s, nst_table *t) {
  const int before = 1 + s->ir->npoints + s->variants.npermutes + s->variants.nkeeps;
  for (int i = 0; i < before; i++) nst_table_text(t, "");
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    const nst_expr *e = nst_sweep_metric_expr(s, i);
    nst_table_text(t, e->kind == NST_X_METRIC ? nst_metric_unit(e->metric) : "");
  }
}

static void metric(nst_buffer *out, nst_rat v) {
  int64_t whole;
  if (nst_rat_to_i64(&whole, v))
    nst_number_grouped(out, whole);
  else
    nst_number_decimal(out, nst_rat_to_double(v), 3);
}

static void row(nestor_sweep *s, nst_table *t, size_t number, const nst_sweep_point *p) {
  nst_buffer_printf(nst_table_cell(t), "%zu", number);
  const nst_value *params = nst_sweep_params(s, p);
  for (int k = 0; k < s->ir->npoints; k++) nst_sweep_value(nst_table_cell(t), &params[s->ir->points[k].param]);
  for (int b = 0; b < s->variants.npermutes; b++) nst_sweep_order(s, p, b, " ", nst_table_cell(t));
  for (int i = 0; i < s->variants.nkeeps; i++) {
    nst_buffer text = {0};
    nst_table_text(t, nst_sweep_keep(s, p, i, &text) ? "kept" : "-");
    nst_buffer_fini(&text);
  }
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) metric(nst_table_cell(t), nst_sweep_metric(s, i, p));
}

typedef const nst_sweep_point *point_at(const nst_sweep_result *r, size_t i);

static void table(nestor_sweep *s, const char *title, point_at *at, size_t n, bool color, nst_buffer *out) {
  nst_buffer_printf(out, "\n%s%s%s\n", color ? NST_BOLD : "", title, color ? NST_PLAIN : "");
  nst_table t;
  const int columns = 1 + s->ir->npoints + s->variants.npermutes + s->variants.nkeeps + nst_sweep_nmetrics(s);
  nst_table_init(&t, columns, 0, 2, color);
  head(s, &t);
  units(s, &t);
  for (size_t i = 0; i < n; i++) row(s, &t, i + 1, at(s->found, i));
  nst_table_print(&t, out);
  nst_table_fini(&t);
}

/* Rows one after another that differ in nothing but orders and keeps. */
static bool same_figures(nestor_sweep *s, const nst_sweep_point *a, const nst_sweep_point *b) {
  for (int i = 0; i < nst_sweep_nmetrics(s); i++)
    if (nst_rat_cmp(nst_sweep_metric(s, i, a), nst_sweep_metric(s, i, b)) != 0) return false;
  nst_buffer x = {0}, y = {0};
  const nst_sweep_point *const points[] = {a, b};
  nst_buffer *const texts[] = {&x, &y};
  for (int k = 0; k < 2; k++) {
    const nst_value *params = nst_sweep_params(s, points[k]); /* valid until the next call */
    for (int i = 0; i < s->ir->npoints; i++) {
      nst_sweep_value(texts[k], &params[s->ir->points[i].param]);
      nst_buffer_putc(texts[k], ' ');
    }
  }
  const bool same = x.len == y.len && (!x.len || !memcmp(x.text, y.text, x.len));
  nst_buffer_fini(&x);
  nst_buffer_fini(&y);
  return same;
}

static void say_equals(nestor_sweep *s, size_t n, nst_buffer *out) {
  for (size_t first = 0, last; first < n; first = last + 1) {
    for (last = first; last + 1 < n && same_figures(s, nst_sweep_result_best(s->found, first),
                                                    nst_sweep_result_best(s->found, last + 1));)
      last++;
    if (last == first) continue;
    nst_buffer_printf(out, "  %zu to %zu have the same tiles and the same figures: only their orders%s differ\n", first + 1,
                      last + 1, s->variants.nkeeps ? " or keeps" : "");
  }
}

/* ---- mappings that can be pasted into a file ---- */

enum { SHORT = 100 /* columns of a mapping that is kept on a line */, SHOWN = 3 };

static void mappings(nestor_sweep *s, const char *kind, point_at *at, size_t n, nst_buffer *out) {
  for (size_t i = 0; i < n; i++) {
    nst_buffer name = {0}, text = {0};
    nst_buffer_printf(&name, "%s_%s%zu", s->ir->name, kind, i + 1);
    nst_sweep_mapping_line(s, at(s->found, i), name.text, &text);
    if (text.len > SHORT) {
      if (i || *kind) nst_buffer_putc(out, '\n');
      nst_buffer_clear(&text);
      nst_sweep_mapping_laid_out(s, at(s->found, i), name.text, &text);
    } else nst_buffer_putc(&text, '\n');
    nst_buffer_add(out, text.text, text.len);
    nst_buffer_fini(&text);
    nst_buffer_fini(&name);
  }
}

static bool is_best(const nestor_sweep *s, const nst_sweep_point *p, size_t nbest) {
  for (size_t i = 0; i < nbest; i++) {
    const nst_sweep_point *b = nst_sweep_result_best(s->found, i);
    if (b->variant == p->variant && (!s->ir->npoints || !memcmp(b->places, p->places, (size_t)s->ir->npoints * sizeof *p->places)))
      return true;
  }
  return false;
}

/* Those of the best, or of the front where nothing is best; all of them on request. */
static void show_mappings(nestor_sweep *s, size_t nbest, size_t nfront, nst_buffer *out) {
  size_t best = nbest, front = nfront;
  if (!s->all_mappings) {
    best = nbest < SHOWN ? nbest : SHOWN;
    front = nbest ? 0 : nfront < SHOWN ? nfront : SHOWN;
  }
  nst_buffer_putc(out, '\n');
  mappings(s, "", nst_sweep_result_best, best, out);
  mappings(s, "front_", nst_sweep_result_front, front, out);
  size_t left = nbest - best; /* a mapping that is in both tables counts once */
  for (size_t i = front; i < nfront; i++) left += !is_best(s, nst_sweep_result_front(s->found, i), nbest);
  if (!left) return;
  nst_buffer_puts(out, "# ");
  nst_number_grouped(out, (int64_t)left);
  nst_buffer_printf(out, " more mapping%s in these tables: --mappings prints %s\n", left == 1 ? "" : "s",
                    left == 1 ? "it" : "them");
}

void nst_sweep_table(nestor_sweep *s, bool color, bool timing, nst_buffer *out) {
  const nestor_sweep_info info = nestor_sweep_about(s);
  say_space(s, &info, color, out);
  say_tally(&info, out);
  say_proof(s, &info, out);
  if (timing) say_time(&info, out);
  const size_t nbest = nst_sweep_result_nbest(s->found), nfront = nst_sweep_result_nfront(s->found);
  if (nbest) {
    nst_buffer title = {0};
    nst_buffer_printf(&title, "%s ", s->ir->maximize ? "greatest" : "least");
    for (int i = 0; i < s->ir->nobjectives; i++) {
      nst_buffer_puts(&title, i ? ", then " : "");
      nst_source_quote(&title, s->program->sources, s->ir->objectives[i]->span);
    }
    table(s, title.text, nst_sweep_result_best, nbest, color, out);
    say_equals(s, nbest, out);
    nst_buffer_fini(&title);
  }
  if (nfront) table(s, "Pareto front", nst_sweep_result_front, nfront, color, out);
  if (!nbest && !nfront) return;
  show_mappings(s, nbest, nfront, out);
}
