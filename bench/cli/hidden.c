/* The secret of the split hidden, from its file. */
#include "bench/cli/bench.h"
#include "bench/record/memory.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *bench_read_secret(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return cli_say("cannot open %s: %s", path, strerror(errno)), NULL;
  char *text = nst_memory_new(4097, 1);
  const size_t n = fread(text, 1, 4096, file);
  const bool bad = ferror(file) || !feof(file) || strlen(text) != n;
  fclose(file);
  size_t end = n;
  while (end && (text[end - 1] == '\n' || text[end - 1] == '\r')) text[--end] = '\0';
  if (!bad && end >= 16) return text;
  cli_say("%s is no secret: it wants 16 to 4096 bytes of text on a line of its own", path);
  free(text);
  return NULL;
}
