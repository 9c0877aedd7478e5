/* Files that a command must not write over: what it reads, and what it writes otherwise. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_inode(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

/* The last part of a path, and the directory that it is in. false: there is none. */
static bool place_of(const char *path, const char **name, struct stat *directory) {
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  char *head = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  if (!head) abort();
  const bool there = stat(head, directory) == 0;
  free(head);
  return there;
}

/* Whether two paths lead to one regular file, or to one that is yet to be made. */
static bool same_file(const char *a, const char *b) {
  struct stat first, second;
  const bool has_first = stat(a, &first) == 0, has_second = stat(b, &second) == 0;
  if (has_first != has_second) return false;
  if (has_first) return S_ISREG(first.st_mode) && same_inode(&first, &second);
  const char *left, *right;
  return place_of(a, &left, &first) && place_of(b, &right, &second) && !strcmp(left, right) && same_inode(&first, &second);
}

bool cli_apart(const char *written, const char *const *others, size_t n) {
  if (!written || !strcmp(written, "-")) return true;
  for (size_t i = 0; i < n; i++) {
    if (!others[i] || !strcmp(others[i], "-") || !same_file(written, others[i])) continue;
    cli_say("%s would be written over: it is given for two things; give two files", cli_display_name(others[i]));
    return false;
  }
  return true;
}
