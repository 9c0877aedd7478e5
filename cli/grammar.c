/* nestor grammar: the language's grammar for constrained decoding and for people. */
#include "cli/cli.h"

int cli_grammar(const cli_args *args) {
  if (args->nfiles) {
    cli_say("nestor grammar takes no file; the notation is given with --format");
    return CLI_WRONG_USAGE;
  }
  nestor_buffer *out = nestor_buffer_new();
  nestor_grammar(args->grammar, out);
  const int code = cli_output(args, out);
  nestor_buffer_free(out);
  return code;
}
