/* nestor emit: what a stage of the compiler makes of a file. */
#include "cli/cli.h"

#include <string.h>

int cli_emit(const cli_args *args) {
  cli_args rest = *args;
  const char *stage = args->emit;
  if (!stage) { /* nestor emit STAGE FILE */
    stage = args->files[0];
    rest.files++;
    rest.nfiles--;
  }
  const char *const stages[] = {"ast", "ir", "expr", "llvm", NULL};
  bool known = false;
  for (size_t i = 0; stages[i]; i++) known |= !strcmp(stages[i], stage);
  if (!known) {
    const char *near = cli_nearest(stage, stages);
    if (near) cli_say("no stage is named \"%s\"; did you mean \"%s\"?", stage, near);
    else cli_say("no stage is named \"%s\"; there are ast, ir, expr and llvm", stage);
    return CLI_WRONG_USAGE;
  }
  if (!rest.nfiles) {
    cli_say("nestor emit %s needs a file; \"-\" is standard input", stage);
    return CLI_WRONG_USAGE;
  }
  nestor_buffer *out = nestor_buffer_new();
  int code = CLI_GOOD;
  for (size_t i = 0; i < rest.nfiles; i++) {
    nestor_program *program =
      cli_compile(args, rest.files[i], strcmp(stage, "ast") ? NESTOR_STAGE_CHECK : NESTOR_STAGE_PARSE);
    if (!program) {
      code = cli_worse(code, CLI_IO);
      continue;
    }
    cli_diagnostics(args, nestor_program_diagnostics(program), false);
    if (nestor_program_status(program) != NESTOR_OK) code = cli_worse(code, CLI_PROGRAM);
    else {
      nestor_buffer *text = nestor_buffer_new();
      const nestor_status status = nestor_program_emit(program, stage, text);
      if (status == NESTOR_OK) nestor_buffer_append(out, nestor_buffer_data(text), nestor_buffer_size(text));
      else {
        cli_say("%s: no stage %s: %s", cli_display_name(rest.files[i]), stage, nestor_buffer_data(text));
        code = cli_worse(code, CLI_PROGRAM);
      }
      nestor_buffer_free(text);
    }
    nestor_program_free(program);
  }
  if (nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(out);
  return code;
}
