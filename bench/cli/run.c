/* `nestor bench run`: asks a model every task, into a run file. */
#include "bench/cli/answers.h"
#include "bench/cli/judging.h"

#include "cli/cli.h"

#include <stdlib.h>

int bench_run(int argc, char **argv) {
  bench_asking a;
  bench_asking_init(&a);
  const bench_option options[] = {
    BENCH_ASKING_OPTIONS(&a),
    {"key", 'k', BENCH_TEXT, &a.answers, "FILE", "answers that bench gen wrote: judge at the end, into the run file"},
    {NULL, 0, BENCH_FLAG, NULL, NULL, NULL}};
  static const char help[] =
    "Asks a model every task and writes each answer to the run file when it comes. Stopped at any moment, the same\n"
    "command goes on and asks again only what was under way. The server's key comes from NESTOR_API_KEY (or\n"
    "--key-env NAME, or OPENAI_API_KEY or ANTHROPIC_API_KEY by the dialect) and is written nowhere; --key is another thing, the answers\n"
    "to the tasks. What stands in brackets holds where an option is not given.\n\n"
    "  nestor bench run tasks.jsonl --key key.jsonl -u http://localhost:8080/v1 -m qwen3-4b -n 5 -r qwen.run\n"
    "  nestor bench report qwen.run --html qwen.html\n";
  const bench_usage words = {"TASKS.jsonl --base-url URL --model NAME [OPTIONS]", help, options};
  bench_texts rest;
  int code = bench_options("run", &words, argc, argv, &rest);
  if (code < 0 && rest.n != 1) {
    cli_say(rest.n ? "one file of tasks is asked at a time"
                   : "which tasks? `nestor bench run TASKS.jsonl --base-url URL --model NAME`");
    code = CLI_WRONG_USAGE;
  }
  if (code < 0) code = bench_asking_begin(&a, rest.items[0]);
  nst_grading *grading = NULL; /* made first: a wrong key file should cost no answers */
  if (code < 0 && a.answers && !(grading = bench_judging_new(&a, a.answers))) code = CLI_IO;
  if (code < 0) {
    code = bench_ask_answers(&a);
    const int judged = grading ? bench_judge(&a, grading) : CLI_GOOD;
    code = bench_tell_answers(&a, code ? code : judged);
  }
  nst_grading_free(grading);
  free(rest.items);
  bench_asking_fini(&a);
  return code;
}
