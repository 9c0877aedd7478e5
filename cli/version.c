/* nestor version: which nestor, and which counting rules. */
#include "cli/cli.h"

#include <stdio.h>

int cli_version(const cli_args *args) {
  char line[96];
  const int n = snprintf(line, sizeof line, "nestor %s, counting rules version %d\n", nestor_version(),
                         nestor_semantics());
  nestor_buffer *out = nestor_buffer_new();
  nestor_buffer_append(out, line, (size_t)n);
  const int code = cli_output(args, out);
  nestor_buffer_free(out);
  return code;
}
