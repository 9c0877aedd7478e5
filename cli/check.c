/* nestor check: are the files good programs? A mapping whose parameters all have defaults is also counted at them,
 * as what only numbers can show (a par that is too wide) is wrong then as well. That one does not fit is no error. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static size_t count(char *text, size_t cap, size_t n, const char *what) {
  if (!n) return 0;
  const int len = snprintf(text, cap, ", %zu %s%s", n, what, n == 1 ? "" : "s");
  return len < 0 ? 0 : (size_t)len;
}

static void describe(nestor_buffer *out, const char *path, const nestor_program *program) {
  char counts[160] = "";
  size_t used = 0;
  used += count(counts + used, sizeof counts - used, nestor_program_mappings(program), "mapping");
  used += count(counts + used, sizeof counts - used, nestor_program_tests(program), "test");
  used += count(counts + used, sizeof counts - used, nestor_program_verifies(program), "verify block");
  count(counts + used, sizeof counts - used, nestor_program_sweeps(program), "sweep");
  const char *name = cli_display_name(path);
  nestor_buffer_append(out, name, strlen(name));
  nestor_buffer_append(out, ": good", 6);
  nestor_buffer_append(out, counts, strlen(counts));
  nestor_buffer_append(out, "\n", 1);
}

static bool has_defaults(const nestor_program *program, size_t mapping) {
  nestor_param_info param;
  for (size_t p = 0; nestor_program_param(program, mapping, p, &param); p++)
    if (!param.has_default) return false;
  return true;
}

/* Whether all mappings can be evaluated with their defaults. */
static bool evaluates(const cli_args *args, const nestor_program *program) {
  bool good = true;
  for (size_t m = 0; m < nestor_program_mappings(program); m++) {
    if (!has_defaults(program, m)) continue;
    nestor_eval *e = nestor_eval_new(program, m);
    if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) != NESTOR_OK) {
      cli_diagnostics(args, nestor_eval_diagnostics(e), false);
      good = false;
    }
    nestor_eval_free(e);
  }
  return good;
}

int cli_check(const cli_args *args) {
  nestor_buffer *out = nestor_buffer_new();
  int code = CLI_GOOD;
  for (size_t i = 0; i < args->nfiles; i++) {
    nestor_program *program = cli_compile(args, args->files[i], NESTOR_STAGE_CHECK);
    if (!program) {
      code = cli_worse(code, CLI_IO);
      continue;
    }
    cli_diagnostics(args, nestor_program_diagnostics(program), true);
    const nestor_status status = nestor_program_status(program);
    if (status != NESTOR_OK || !evaluates(args, program)) code = cli_worse(code, CLI_PROGRAM);
    else if (!args->quiet) describe(out, args->files[i], program);
    nestor_program_free(program);
  }
  if (nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(out);
  return code;
}
