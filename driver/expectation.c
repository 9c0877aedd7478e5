/* Showing why an expectation fails: the sides of the comparison that fails, as
 * written and as valued, and the metrics in it. `and`, `or` and `not` are walked
 * through to the comparisons that decide. */
#include "driver/expectation.h"

#include <string.h>

void nst_source_quote(nst_buffer *out, const nst_sources *sources, nst_span span) {
  const nst_source *source = nst_sources_get(sources, span.source);
  if (!source) return;
  bool space = false;
  const size_t begin = out->len;
  for (uint32_t i = span.begin; i < span.end && i < source->len; i++) {
    char c = source->text[i];
    if (c == '#') {
      while (i < span.end && source->text[i] != '\n') i++;
      c = ' ';
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      space = out->len > begin;
      continue;
    }
    if (space) nst_buffer_putc(out, ' ');
    space = false;
    nst_buffer_putc(out, c);
  }
}

uint32_t nst_quote_line(const nst_sources *sources, nst_span span) {
  const nst_source *source = nst_sources_get(sources, span.source);
  uint32_t line = 0, column;
  if (source) nst_source_locate(source, span.begin, &line, &column);
  return line;
}

void nst_value_grouped(nst_buffer *out, int64_t v) {
  const size_t begin = out->len;
  nst_number_grouped(out, v);
  for (size_t i = begin; i < out->len; i++)
    if (out->text[i] == ',') out->text[i] = NST_VALUE_SEPARATOR;
}

void nst_value_print(nst_buffer *out, const nst_value *v) {
  char text[96];
  switch (v->kind) {
    case NST_VALUE_RAT:
      if (v->rat.den == 1 && v->rat.num <= INT64_MAX && v->rat.num >= -INT64_MAX) nst_value_grouped(out, (int64_t)v->rat.num);
      else nst_buffer_add(out, text, nst_rat_print(text, sizeof text, v->rat));
      return;
    case NST_VALUE_REAL: nst_buffer_double(out, v->real); return;
    case NST_VALUE_BOOL: nst_buffer_puts(out, v->truth ? "true" : "false"); return;
  }
}

typedef struct {
  nst_buffer *out;
  const nst_eval_env *env;
  const nst_sources *sources;
  const nst_expr *shown[32]; int nshown; /* metrics that have been printed */
  bool percent;                          /* utilization is compared with a percentage */
} describer;

static bool is_comparison(const nst_expr *e) { return e->kind >= NST_X_EQ && e->kind <= NST_X_GE; }

/* Compares without what groups digits, to see whether a value says more than what is written. */
static bool same_number(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == NST_VALUE_SEPARATOR || *a == '_') a++;
    while (*b == NST_VALUE_SEPARATOR || *b == '_') b++;
    if (*a != *b) return false;
    if (!*a) return true;
  }
}

static void show(describer *d, const nst_expr *e) {
  nst_buffer text = {0}, value = {0};
  nst_source_quote(&text, d->sources, e->span);
  nst_value v;
  nst_span where;
  const nst_eval_status status = nst_expr_eval(&v, e, d->env, &where);
  if (status == NST_EVAL_OK) nst_value_print(&value, &v);
  else nst_buffer_printf(&value, "no value: %s", nst_eval_status_text(status));
  if (!text.len || !same_number(text.text, value.text)) {
    nst_buffer_printf(d->out, "    %s = %s", text.len ? text.text : "", value.text);
    const char *unit = e->kind == NST_X_METRIC && status == NST_EVAL_OK ? nst_metric_unit(e->metric) : "";
    nst_buffer_printf(d->out, "%s%s\n", *unit ? " " : "", unit);
  }
  nst_buffer_fini(&text);
  nst_buffer_fini(&value);
}

static bool same_metric(const nst_expr *a, const nst_expr *b) {
  return a->metric == b->metric && a->level == b->level && a->tensor == b->tensor;
}

static void show_metric(describer *d, const nst_expr *e) {
  for (int i = 0; i < d->nshown; i++)
    if (same_metric(d->shown[i], e)) return;
  if (d->nshown == (int)(sizeof d->shown / sizeof *d->shown)) return;
  d->shown[d->nshown++] = e;
  show(d, e);
}

static bool holds(const describer *d, const nst_expr *e) {
  nst_value v;
  nst_span where;
  return nst_expr_eval(&v, e, d->env, &where) == NST_EVAL_OK && v.kind == NST_VALUE_BOOL && v.truth;
}

/* utilization == 100: a share against what looks like a percentage. */
static bool share_as_percent(const describer *d, const nst_expr *share, const nst_expr *other) {
  nst_value v;
  nst_span where;
  return share->kind == NST_X_METRIC && share->metric == NST_METRIC_UTILIZATION &&
         nst_expr_eval(&v, other, d->env, &where) == NST_EVAL_OK && v.kind == NST_VALUE_RAT &&
         nst_rat_to_double(v.rat) > 1 && nst_rat_to_double(v.rat) <= 100;
}

/* Both sides of the comparisons that make e something else than `wanted`. */
static void show_sides(describer *d, const nst_expr *e, bool wanted) {
  if (!e || holds(d, e) == wanted) return;
  if (e->kind == NST_X_AND || e->kind == NST_X_OR) {
    show_sides(d, e->a, wanted);
    show_sides(d, e->b, wanted);
  } else if (e->kind == NST_X_NOT) show_sides(d, e->a, !wanted);
  else if (is_comparison(e)) {
    if (share_as_percent(d, e->a, e->b) || share_as_percent(d, e->b, e->a)) d->percent = true;
    for (int side = 0; side < 2; side++) {
      const nst_expr *x = side ? e->b : e->a;
      if (x->kind == NST_X_METRIC) show_metric(d, x);
      else show(d, x);
    }
  }
}

static void show_metrics(describer *d, const nst_expr *e) {
  if (!e) return;
  if (e->kind == NST_X_METRIC) show_metric(d, e);
  show_metrics(d, e->a);
  show_metrics(d, e->b);
  show_metrics(d, e->c);
}

void nst_expectation_describe(nst_buffer *out, const nst_expr *e, const nst_eval_env *env, const nst_sources *sources) {
  describer d = {.out = out, .env = env, .sources = sources};
  show_sides(&d, e, true);
  show_metrics(&d, e);
  if (d.percent) nst_buffer_puts(out, "    utilization is a share from 0 to 1, not a percentage\n");
}
