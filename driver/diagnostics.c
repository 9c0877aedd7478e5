/* The public view of a list of messages. A nestor_diagnostics is an nst_diags
 * under another name, or NULL for an empty list. */
#include "driver/internal.h"

static const nst_diags *inside(const nestor_diagnostics *d) { return (const nst_diags *)(const void *)d; }

size_t nestor_diagnostics_count(const nestor_diagnostics *d) { return d ? nst_diags_count(inside(d)) : 0; }
size_t nestor_diagnostics_errors(const nestor_diagnostics *d) { return d ? nst_diags_errors(inside(d)) : 0; }

bool nestor_diagnostics_limit(const nestor_diagnostics *d) { return d && nst_diags_limit(inside(d)); }

bool nestor_diagnostics_get(const nestor_diagnostics *d, size_t i, nestor_diagnostic *out) {
  if (i >= nestor_diagnostics_count(d)) return false;
  const nst_diag *m = nst_diags_get(inside(d), i);
  *out = (nestor_diagnostic){
    .severity = nst_diag_severity(m->id) == NST_SEVERITY_ERROR ? NESTOR_SEVERITY_ERROR : NESTOR_SEVERITY_WARNING,
    .code = nst_diag_code(m->id),
    .message = m->message,
    .help = m->help,
  };
  const nst_source *source = nst_sources_get(nst_diags_sources(inside(d)), m->span.source);
  if (source) {
    out->file = source->name;
    nst_source_locate(source, m->span.begin, &out->line, &out->column);
    nst_source_locate(source, m->span.end, &out->end_line, &out->end_column);
  }
  return true;
}

void nestor_diagnostics_text(const nestor_diagnostics *d, bool color, nestor_buffer *out) {
  if (d) nst_diags_render(inside(d), &out->text, color);
}

void nestor_diagnostics_json(const nestor_diagnostics *d, nestor_buffer *out) {
  if (d) nst_diags_render_json(inside(d), &out->text);
  else nst_buffer_puts(&out->text, "{\"schema\":\"nestor.diagnostics/1\",\"diagnostics\":[]}\n");
}
