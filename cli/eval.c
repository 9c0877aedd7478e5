/* nestor eval and nestor simulate: a report of every chosen mapping. They differ
 * in the engine only, so their output is comparable byte by byte. */
#include "cli/cli.h"

typedef struct {
  const cli_args *args;
  nestor_report *report;
  size_t added;
} context;

static int add(void *data, nestor_eval *eval, nestor_status status) {
  context *c = data;
  if (status != NESTOR_OK) {
    nestor_report_add_failure(c->report, eval);
    return CLI_GOOD; /* counted by the caller */
  }
  nestor_report_add(c->report, eval);
  c->added++;
  return c->args->require_fit && !nestor_eval_metrics(eval).fits ? CLI_PROGRAM : CLI_GOOD;
}

static int report(const cli_args *args, nestor_engine engine) {
  context c = {args, nestor_report_new(args->format, cli_stdout_color(args)), 0};
  int code = cli_evaluate(args, engine, add, &c);
  /* Nothing is written when nothing was evaluated: a file of an earlier run stays. */
  if (c.added || code == CLI_GOOD || (args->format == NESTOR_FORMAT_JSON && code != CLI_WRONG_USAGE)) {
    nestor_buffer *text = nestor_buffer_new();
    nestor_report_write(c.report, text);
    if (c.added || !args->output) code = cli_worse(code, cli_output(args, text));
    nestor_buffer_free(text);
  }
  nestor_report_free(c.report);
  return code;
}

int cli_eval(const cli_args *args) { return args->points ? cli_points(args) : report(args, args->engine); }
int cli_simulate(const cli_args *args) { return report(args, NESTOR_ENGINE_SIMULATE); }
