/* The whole pipeline on hostile text: compile, evaluate every mapping, run the
 * tests, explain, report, format. No files can be reached, and limits keep one
 * input from taking long. Nothing is checked but that nothing breaks, that the
 * analysis and the simulator never differ, and that formatting is stable. */
#include <nestor/nestor.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const nestor_program *p, nestor_report *const *reports, nestor_buffer *out) {
  for (size_t i = 0; i < nestor_program_mappings(p) && i < 8; i++) {
    nestor_eval *e = nestor_eval_new(p, i);
    if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK) {
      for (int f = 0; f < 3; f++) nestor_report_add(reports[f], e);
      nestor_eval_explain(e, out);
    } else nestor_report_add_failure(reports[1], e);
    nestor_diagnostics_text(nestor_eval_diagnostics(e), true, out);
    nestor_diagnostics_json(nestor_eval_diagnostics(e), out);
    if (nestor_eval_run(e, NESTOR_ENGINE_SIMULATE, NULL) == NESTOR_OK) {
      uint64_t reads = 0, again = 0;
      for (size_t l = 0; l < nestor_eval_levels(e); l++)
        for (size_t t = 0; t < nestor_eval_tensors(e); t++) reads += (uint64_t)nestor_eval_counters(e, l, t).reads;
      if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK) {
        for (size_t l = 0; l < nestor_eval_levels(e); l++)
          for (size_t t = 0; t < nestor_eval_tensors(e); t++) again += (uint64_t)nestor_eval_counters(e, l, t).reads;
        if (reads != again) abort();
      }
    }
    nestor_eval_free(e);
  }
}

static void format(const nestor_session *s, const nestor_program *p) {
  nestor_buffer *once = nestor_buffer_new(), *twice = nestor_buffer_new();
  if (nestor_program_format(p, once) == NESTOR_OK) {
    nestor_program *q =
      nestor_program_new(s, "again", nestor_buffer_data(once), nestor_buffer_size(once), NESTOR_STAGE_PARSE);
    if (nestor_program_format(q, twice) != NESTOR_OK) abort();
    if (strcmp(nestor_buffer_data(once), nestor_buffer_data(twice))) abort();
    nestor_program_free(q);
  }
  nestor_buffer_free(once);
  nestor_buffer_free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nestor_session *s = nestor_session_new();
  nestor_session_set_limits(s, (nestor_limits){.source_bytes = 1 << 16, .simulate_work = 1 << 12, .verify_points = 64});
  nestor_program *p = nestor_program_new(s, "fuzz", (const char *)data, size, NESTOR_STAGE_CHECK);
  nestor_report *reports[3];
  for (int f = 0; f < 3; f++) reports[f] = nestor_report_new((nestor_format)f, f == 0);
  nestor_buffer *out = nestor_buffer_new();
  nestor_diagnostics_text(nestor_program_diagnostics(p), true, out);
  nestor_diagnostics_json(nestor_program_diagnostics(p), out);
  evaluate(p, reports, out);
  if (nestor_program_status(p) == NESTOR_OK) {
    nestor_tests *t = nestor_tests_new(p);
    nestor_tests_text(t, false, out);
    nestor_tests_json(t, out);
    nestor_tests_free(t);
    nestor_program_emit(p, "ast", out);
    nestor_program_emit(p, "ir", out);
    nestor_program_emit(p, "expr", out);
    format(s, p);
  }
  for (int f = 0; f < 3; f++) {
    nestor_report_write(reports[f], out);
    nestor_report_free(reports[f]);
  }
  nestor_buffer_free(out);
  nestor_program_free(p);
  nestor_session_free(s);
  return 0;
}
