/* nestor test: runs the test and verify blocks of the files. */
#include "cli/cli.h"

#include <string.h>

int cli_test(const cli_args *args) {
  nestor_buffer *out = nestor_buffer_new();
  size_t ran = 0;
  int code = CLI_GOOD;
  for (size_t i = 0; i < args->nfiles; i++) {
    nestor_program *program = cli_compile(args, args->files[i], NESTOR_STAGE_CHECK);
    if (!program) {
      code = cli_worse(code, CLI_IO);
      continue;
    }
    cli_diagnostics(args, nestor_program_diagnostics(program), false);
    const nestor_status status = nestor_program_status(program);
    if (status != NESTOR_OK) code = cli_worse(code, CLI_PROGRAM);
    else {
      nestor_tests *tests = nestor_tests_new(program);
      ran += nestor_tests_count(tests);
      if (nestor_tests_failed(tests)) code = cli_worse(code, CLI_PROGRAM);
      if (args->format == NESTOR_FORMAT_JSON) nestor_tests_json(tests, out);
      else if (!args->quiet || nestor_tests_failed(tests)) {
        if (args->nfiles > 1 && nestor_tests_count(tests)) {
          const char *name = cli_display_name(args->files[i]);
          nestor_buffer_append(out, name, strlen(name));
          nestor_buffer_append(out, "\n", 1);
        }
        if (nestor_tests_count(tests)) nestor_tests_text(tests, cli_stdout_color(args), out);
      }
      nestor_tests_free(tests);
    }
    nestor_program_free(program);
  }
  if (!ran && code == CLI_GOOD) {
    cli_say("no test or verify block in %s", args->nfiles == 1 ? cli_display_name(args->files[0]) : "the files");
    code = CLI_PROGRAM;
  }
  if (nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(out);
  return code;
}
