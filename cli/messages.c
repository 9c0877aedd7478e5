/* Messages: always to standard error, in colour only for people.
 *
 * Two variables of the command live here: whether standard error is shown in
 * colour, set once in main before anything can be said, and whether this is a
 * rank of an MPI job that leaves speaking to another. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool error_color, silent;

static bool wants_color(cli_color color, int fd) {
  if (color != CLI_COLOR_AUTO) return color == CLI_COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no_color && *no_color) return false;
  return isatty(fd) && (!term || strcmp(term, "dumb"));
}

void cli_use_color(cli_color color) { error_color = wants_color(color, STDERR_FILENO); }

bool cli_stdout_color(const cli_args *args) {
  return !args->output && wants_color(args->color, STDOUT_FILENO);
}

void cli_be_silent(void) { silent = true; }

void cli_say(const char *fmt, ...) {
  if (silent) return;
  fputs(error_color ? "\033[1mnestor:\033[0m " : "nestor: ", stderr);
  va_list list;
  va_start(list, fmt);
  vfprintf(stderr, fmt, list);
  va_end(list);
  fputc('\n', stderr);
}

void cli_diagnostics(const cli_args *args, const nestor_diagnostics *diagnostics, bool always) {
  if (!nestor_diagnostics_count(diagnostics) && !(args->json_diagnostics && always)) return;
  nestor_buffer *text = nestor_buffer_new();
  if (args->json_diagnostics) {
    nestor_diagnostics_json(diagnostics, text);
    const size_t size = nestor_buffer_size(text);
    if (!size || nestor_buffer_data(text)[size - 1] != '\n') nestor_buffer_append(text, "\n", 1);
  } else nestor_diagnostics_text(diagnostics, error_color, text);
  fwrite(nestor_buffer_data(text), 1, nestor_buffer_size(text), stderr);
  nestor_buffer_free(text);
}

int cli_worse(int a, int b) { return a > b ? a : b; }
