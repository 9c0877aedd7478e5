/* nestor explain: every chosen mapping in words. */
#include "cli/cli.h"

static int explain(void *data, nestor_eval *eval, nestor_status status) {
  nestor_buffer *out = data;
  if (status != NESTOR_OK) return CLI_GOOD; /* counted by the caller */
  if (nestor_buffer_size(out)) nestor_buffer_append(out, "\n", 1);
  return nestor_eval_explain(eval, out) == NESTOR_OK ? CLI_GOOD : CLI_PROGRAM;
}

int cli_explain(const cli_args *args) {
  nestor_buffer *out = nestor_buffer_new();
  int code = cli_evaluate(args, NESTOR_ENGINE_ANALYSIS, explain, out);
  if (nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(out);
  return code;
}
