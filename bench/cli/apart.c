/* Files that a command must not write over. */
#include "bench/cli/bench.h"

#include "cli/cli.h"

#include <string.h>
#include <sys/stat.h>

bool bench_apart(const char *written, const char *const *others, size_t n) {
  struct stat a, b;
  if (!written || !strcmp(written, "-")) return true;
  const bool there = stat(written, &a) == 0;
  if (there && !S_ISREG(a.st_mode)) return true;
  for (size_t i = 0; i < n; i++) {
    if (!others[i] || !strcmp(others[i], "-")) continue;
    if (strcmp(written, others[i]) != 0 &&
        (!there || stat(others[i], &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino))
      continue;
    cli_say("%s would be written over: it is given for two things; give two files", cli_display_name(others[i]));
    return false;
  }
  return true;
}
