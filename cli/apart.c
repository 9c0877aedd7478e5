/* Files that a command must not write over: what it reads, and what it writes otherwise. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
  char *ends[2] = {cli_links_end(a), cli_links_end(b)};
  const char *left, *right;
  const bool same = ends[0] && ends[1] && place_of(ends[0], &left, &first) && place_of(ends[1], &right, &second) && !strcmp(left, right) &&
                    same_inode(&first, &second);
  free(ends[0]);
  free(ends[1]);
  return same;
}

static bool is_input(const char *path) {
  struct stat there, input;
  return stat(path, &there) == 0 && S_ISREG(there.st_mode) && fstat(STDIN_FILENO, &input) == 0 && same_inode(&there, &input);
}

static bool refuse(const char *other) {
  cli_say("%s would be written over: it is given for two things; give two files", cli_display_name(other));
  return false;
}

static bool is_file(const char *path) { return path && strcmp(path, "-") != 0; }

bool cli_apart(const char *written, const char *const *read, size_t n) {
  for (size_t i = 0; is_file(written) && i < n; i++)
    if (read[i] && (is_file(read[i]) ? same_file(written, read[i]) : is_input(written))) return refuse(read[i]);
  return true;
}

bool cli_apart_outputs(const char *written, const char *const *others, size_t n) {
  for (size_t i = 0; is_file(written) && i < n; i++)
    if (is_file(others[i]) && same_file(written, others[i])) return refuse(others[i]);
  return true;
}
