/* nestor fmt: the one true layout. A file is rewritten (-w) only when it
 * changes and only when it parses; --check writes nothing. */
#include "cli/cli.h"

#include <string.h>

static bool same(const nestor_buffer *a, const nestor_buffer *b) {
  return nestor_buffer_size(a) == nestor_buffer_size(b) &&
         !memcmp(nestor_buffer_data(a), nestor_buffer_data(b), nestor_buffer_size(a));
}

static int format_one(const cli_args *args, const nestor_session *session, const char *path, nestor_buffer *out) {
  int code = CLI_IO;
  nestor_buffer *before = nestor_buffer_new(), *after = nestor_buffer_new();
  if (cli_read(path, true, before)) {
    nestor_program *program = nestor_program_new(session, cli_display_name(path), nestor_buffer_data(before),
                                                 nestor_buffer_size(before), NESTOR_STAGE_PARSE);
    cli_diagnostics(args, nestor_program_diagnostics(program), false);
    code = CLI_PROGRAM;
    if (nestor_program_format(program, after) == NESTOR_OK) {
      code = CLI_GOOD;
      if (args->check) {
        if (!same(before, after)) {
          cli_say("%s would be formatted differently", cli_display_name(path));
          code = CLI_PROGRAM;
        }
      } else if (args->write && strcmp(path, "-")) {
        if (!same(before, after)) code = cli_write_file(path, nestor_buffer_data(after), nestor_buffer_size(after));
      } else nestor_buffer_append(out, nestor_buffer_data(after), nestor_buffer_size(after));
    }
    nestor_program_free(program);
  }
  nestor_buffer_free(before);
  nestor_buffer_free(after);
  return code;
}

int cli_fmt(const cli_args *args) {
  if (args->check + args->write + (args->output != NULL) > 1) {
    cli_say("--check, -w and -o exclude each other");
    return CLI_WRONG_USAGE;
  }
  nestor_session *session = nestor_session_new();
  nestor_buffer *out = nestor_buffer_new();
  int code = CLI_GOOD;
  for (size_t i = 0; i < args->nfiles; i++) code = cli_worse(code, format_one(args, session, args->files[i], out));
  if (nestor_buffer_size(out) || (args->output && code == CLI_GOOD)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(out);
  nestor_session_free(session);
  return code;
}
