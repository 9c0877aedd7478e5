/* `nestor bench`: the benchmark is a program of its own, so that what it needs (libcurl, SQLite, an HTTP server) is
 * loaded by nobody else. This file finds it, beside the modules of the library, and becomes it. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_bench(int argc, char **argv) {
  char path[PATH_MAX + 64];
  const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
  char *slash = NULL;
  if (n > 0) {
    path[n] = '\0';
    slash = strrchr(path, '/');
  }
  if (!slash) {
    cli_say("cannot tell where nestor is installed: %s", strerror(errno));
    return CLI_IO;
  }
  char **words = calloc((size_t)argc + 2, sizeof *words);
  if (!words) abort();
  words[0] = path;
  memcpy(words + 1, argv, (size_t)argc * sizeof *words);
  static const char *const places[] = {"/../lib/nestor/nestor-bench", "/../" NST_LIBRARY_DIRECTORY "/nestor/nestor-bench"};
  for (int i = 0; i < 2; i++) {
    strcpy(slash, places[i]);
    execv(path, words);
    if (errno != ENOENT) break;
  }
  if (errno == ENOENT) cli_say("the benchmark is not installed: %s is missing; ./setup.sh installs what building it needs", path);
  else cli_say("cannot start %s: %s", path, strerror(errno));
  free(words);
  return CLI_IO;
}
