/* Reports: evaluations become text as they are added, so that a report holds
 * no evaluation and costs what its text costs. */
#include "driver/report.h"

#include <stdlib.h>
#include <string.h>

bool nestor_format_parse(const char *name, nestor_format *out) {
  static const char *const names[] = {"table", "json", "csv"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, names[i])) return *out = (nestor_format)i, true;
  return false;
}

nestor_report *nestor_report_new(nestor_format format, bool color) {
  nestor_report *r = calloc(1, sizeof *r);
  if (!r) nst_out_of_memory();
  r->format = format;
  r->color = color;
  return r;
}

void nestor_report_free(nestor_report *report) {
  if (!report) return;
  nst_buffer_fini(&report->body);
  nst_buffer_fini(&report->failures);
  free(report);
}

void nestor_report_add(nestor_report *report, const nestor_eval *eval) {
  if (!eval->nest) return;
  switch (report->format) {
    case NESTOR_FORMAT_TABLE:
      if (report->body.len) nst_buffer_putc(&report->body, '\n');
      nst_report_table(&report->body, eval, report->color);
      return;
    case NESTOR_FORMAT_JSON:
      if (report->body.len) nst_buffer_puts(&report->body, ",\n");
      nst_report_json(&report->body, eval);
      return;
    case NESTOR_FORMAT_CSV: nst_report_csv(&report->body, eval); return;
  }
}

void nestor_report_add_failure(nestor_report *report, nestor_eval *eval) {
  if (report->format != NESTOR_FORMAT_JSON) return;
  nst_buffer *out = &report->failures;
  if (out->len) nst_buffer_putc(out, ',');
  nst_buffer_puts(out, "{\"mapping\":");
  nst_buffer_json_string(out, eval->ir->name, strlen(eval->ir->name));
  nestor_diagnostic d = {.code = "", .message = ""};
  nestor_diagnostics_get(nestor_eval_diagnostics(eval), 0, &d);
  nst_buffer_puts(out, ",\"code\":");
  nst_buffer_json_string(out, d.code, strlen(d.code));
  nst_buffer_puts(out, ",\"message\":");
  nst_buffer_json_string(out, d.message, strlen(d.message));
  nst_buffer_putc(out, '}');
}

void nestor_report_write(nestor_report *report, nestor_buffer *buffer) {
  nst_buffer *out = &buffer->text;
  switch (report->format) {
    case NESTOR_FORMAT_TABLE: break;
    case NESTOR_FORMAT_CSV: nst_buffer_puts(out, nst_report_csv_header); break;
    case NESTOR_FORMAT_JSON:
      nst_buffer_printf(out, "{\"schema\":\"nestor.eval/1\",\"semantics\":%d,\"results\":[", nestor_semantics());
      break;
  }
  if (report->body.len) nst_buffer_add(out, report->body.text, report->body.len);
  if (report->format == NESTOR_FORMAT_JSON) {
    nst_buffer_putc(out, ']');
    if (report->failures.len) {
      nst_buffer_puts(out, ",\"errors\":[");
      nst_buffer_add(out, report->failures.text, report->failures.len);
      nst_buffer_putc(out, ']');
    }
    nst_buffer_puts(out, "}\n");
  }
  nst_buffer_clear(&report->body);
  nst_buffer_clear(&report->failures);
}

bool nst_report_is_used(const nst_ir_mapping *m, int level) {
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->kind == NST_NODE_COMPUTE && m->nodes[i]->level == level) return true;
  return false;
}

void nst_report_compute_init(nst_report_compute *c, const nestor_eval *e) {
  *c = (nst_report_compute){.cycles = nst_rat_int(0), .energy = nst_rat_int(0)};
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    const nst_level_metrics *level = &e->metrics.levels[l];
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_COMPUTE || !nst_report_is_used(e->ir, l)) continue;
    if (c->name.len) nst_buffer_putc(&c->name, '+');
    nst_buffer_puts(&c->name, e->ir->hardware.levels[l].name);
    c->instances += level->instances;
    /* Sums of numbers that were added up before without overflow, in the mapping's own cycles and energy. */
    nst_rat_add(&c->cycles, c->cycles, level->cycles);
    nst_rat_add(&c->energy, c->energy, level->energy);
  }
}

void nst_report_compute_fini(nst_report_compute *c) { nst_buffer_fini(&c->name); }

int nst_bottleneck(const nestor_eval *e) {
  int best = -1;
  for (int l = e->ir->hardware.nlevels - 1; l >= 0; l--) { /* the compute wins a tie, then the inner level */
    const nst_ir_level *level = &e->ir->hardware.levels[l];
    const bool counts = level->kind == NST_LEVEL_COMPUTE ? nst_report_is_used(e->ir, l)
                                                         : level->kind == NST_LEVEL_MEMORY && level->overlap;
    if (counts && (best < 0 || nst_rat_cmp(e->metrics.levels[l].cycles, e->metrics.levels[best].cycles) > 0)) best = l;
  }
  return best;
}
