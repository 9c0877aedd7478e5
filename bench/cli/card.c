/* nestor bench card: the language card that prompts hold. */
#include "bench/tasks/card.h"
#include "bench/cli/bench.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bench_card(int argc, char **argv) {
  bool count = false;
  const bench_option options[] = {
    {"count", 0, BENCH_FLAG, &count, NULL, "print its tokens (words, numbers and signs) instead"}, {0}};
  const bench_usage usage = {
    "[--count]", "Prints the language card, Markdown: what a model needs to know to write programs.\n", options};
  bench_texts rest;
  int code = bench_options("card", &usage, argc, argv, &rest);
  if (code < 0 && rest.n) {
    cli_say("`nestor bench card` takes no %s", rest.items[0]);
    code = CLI_WRONG_USAGE;
  }
  free(rest.items);
  if (code >= 0) return code;
  nestor_buffer *text = nestor_buffer_new();
  nst_card_write(text);
  if (count)
    printf("%zu\n", nst_card_count(nestor_buffer_data(text)));
  else
    fwrite(nestor_buffer_data(text), 1, nestor_buffer_size(text), stdout);
  nestor_buffer_free(text);
  if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_GOOD;
  return cli_output_failed(errno);
}
