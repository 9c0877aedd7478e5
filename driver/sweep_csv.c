/* The answer of a sweep as CSV: one row a point, the best first, then the front. */
#include "driver/sweep.h"

#include <string.h>

static void quoted(nst_buffer *out, const nst_buffer *text) {
  const char *p = text->len ? text->text : "";
  if (!strpbrk(p, ",\"\n")) {
    nst_buffer_puts(out, p);
    return;
  }
  nst_buffer_putc(out, '"');
  for (; *p; p++) {
    if (*p == '"') nst_buffer_putc(out, '"');
    nst_buffer_putc(out, *p);
  }
  nst_buffer_putc(out, '"');
}

void nst_sweep_csv_head(const nestor_sweep *s, nst_buffer *out) {
  for (int k = 0; k < s->ir->npoints; k++)
    nst_buffer_printf(out, "%s%s", k ? "," : "", s->mapping->scope.params[s->ir->points[k].param].name);
  for (int b = 0; b < s->variants.npermutes; b++)
    nst_buffer_printf(out, "%sorder_%d", b || s->ir->npoints ? "," : "", b + 1);
  const bool before = s->ir->npoints || s->variants.npermutes;
  for (int i = 0; i < s->variants.nkeeps; i++) {
    nst_buffer text = {0};
    nst_sweep_point none = {0};
    nst_buffer_puts(&text, "keep ");
    nst_sweep_keep(s, &none, i, &text);
    if (i || before) nst_buffer_putc(out, ',');
    quoted(out, &text);
    nst_buffer_fini(&text);
  }
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    nst_buffer text = {0};
    nst_sweep_metric_name(s, i, &text);
    if (i || before || s->variants.nkeeps) nst_buffer_putc(out, ',');
    quoted(out, &text);
    nst_buffer_fini(&text);
  }
  nst_buffer_putc(out, '\n');
}

void nst_sweep_csv_row(const nestor_sweep *s, const nst_value *params, const nst_sweep_point *p, nst_buffer *out) {
  for (int k = 0; k < s->ir->npoints; k++) {
    if (k) nst_buffer_putc(out, ',');
    nst_sweep_value(out, &params[s->ir->points[k].param]);
  }
  for (int b = 0; b < s->variants.npermutes; b++) {
    if (b || s->ir->npoints) nst_buffer_putc(out, ',');
    nst_sweep_order(s, p, b, " ", out);
  }
  const bool before = s->ir->npoints || s->variants.npermutes;
  uint64_t orders[64], dropped;
  nst_variant_decode(&s->variants, p->variant, orders, &dropped);
  for (int i = 0; i < s->variants.nkeeps; i++)
    nst_buffer_printf(out, "%s%d", i || before ? "," : "", !(dropped >> i & 1));
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    if (i || before || s->variants.nkeeps) nst_buffer_putc(out, ',');
    nst_number_json(out, nst_sweep_metric(s, i, p));
  }
  nst_buffer_putc(out, '\n');
}

void nst_sweep_csv(nestor_sweep *s, nst_buffer *out) {
  nst_buffer_puts(out, "sweep,kind,rank,");
  nst_sweep_csv_head(s, out);
  for (size_t i = 0; i < nst_sweep_result_nbest(s->found); i++) {
    const nst_sweep_point *p = nst_sweep_result_best(s->found, i);
    nst_buffer_printf(out, "%s,best,%zu,", s->ir->name, i + 1);
    nst_sweep_csv_row(s, nst_sweep_params(s, p), p, out);
  }
  for (size_t i = 0; i < nst_sweep_result_nfront(s->found); i++) {
    const nst_sweep_point *p = nst_sweep_result_front(s->found, i);
    nst_buffer_printf(out, "%s,pareto,%zu,", s->ir->name, i + 1);
    nst_sweep_csv_row(s, nst_sweep_params(s, p), p, out);
  }
}
