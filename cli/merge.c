/* nestor merge: the answer of a sweep from its parts. The first part brings the
 * program along; every other must belong to it. */
#include "cli/cli.h"

#include <string.h>

static int refuse(const char *path, nestor_buffer *error) {
  cli_say("cannot merge %s: %s", path, nestor_buffer_size(error) ? nestor_buffer_data(error) : "it is damaged");
  return CLI_PROGRAM;
}

int cli_merge(const cli_args *args) {
  nestor_sweep *sweep = NULL;
  nestor_buffer *bytes = nestor_buffer_new(), *error = nestor_buffer_new(), *out = nestor_buffer_new();
  int code = CLI_GOOD;
  for (size_t i = 0; i < args->nfiles && code == CLI_GOOD; i++) {
    nestor_buffer_clear(bytes);
    if (!cli_read(args->files[i], false, bytes))
      code = CLI_IO;
    else if (!sweep) {
      sweep = nestor_sweep_load(nestor_buffer_data(bytes), nestor_buffer_size(bytes), error);
      if (!sweep) code = refuse(args->files[i], error);
    } else if (nestor_sweep_merge(sweep, nestor_buffer_data(bytes), nestor_buffer_size(bytes), error) != NESTOR_OK)
      code = refuse(args->files[i], error);
  }
  if (code == CLI_GOOD) {
    if (!nestor_sweep_about(sweep).proven) cli_say("the parts do not cover the whole space: the answer is not proven");
    nestor_sweep_show_mappings(sweep, args->all_mappings);
    nestor_sweep_write(sweep, args->format, cli_stdout_color(args), false, out);
    code = cli_worse(cli_output(args, out), cli_emit_best(args, sweep, ""));
    nestor_plot *plot = nestor_plot_new();
    cli_plot_add(args, plot, sweep);
    code = cli_worse(code, cli_plot_write(args, plot));
    nestor_plot_free(plot);
  }
  nestor_sweep_free(sweep);
  nestor_buffer_free(bytes);
  nestor_buffer_free(error);
  nestor_buffer_free(out);
  return code;
}
