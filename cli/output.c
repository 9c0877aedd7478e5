/* Output: everything a command prints is written here, once, at its end.
 *
 * A regular file is replaced by rename, so that under its name there is the old
 * text or the new one and never a part. Names of temporary files are unique:
 * runs side by side do not meet. A write error of any kind (a full disk, a
 * closed descriptor) is said and gives CLI_IO; a reader of standard output that has
 * left, as `head` does, gives it without a word. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as many as the system follows */

void cli_guard_descriptors(void) {
  /* A file opened later must not become "standard output": closed descriptors
   * are taken by one whose reads and writes fail. */
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int got = open("/", O_RDONLY | O_DIRECTORY);
    if (got != fd && got >= 0) close(got);
  }
}

bool cli_write_all(int fd, const char *bytes, size_t size) {
  while (size) {
    const ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    size -= (size_t)n;
  }
  return true;
}

static int failed(const char *path, int error) {
  cli_say("cannot write %s: %s", path, strerror(error));
  return CLI_IO;
}

char *cli_links_end(const char *path) {
  char *at = strdup(path), to[PATH_MAX];
  for (int links = 0; at && links < MOST_LINKS; links++) {
    const ssize_t n = readlink(at, to, sizeof to);
    if (n < 0 || (size_t)n == sizeof to) return at;
    const char *slash = strrchr(at, '/');
    const size_t head = slash && *to != '/' ? (size_t)(slash - at) + 1 : 0;
    char *next = malloc(head + (size_t)n + 1);
    if (!next) abort();
    memcpy(next, at, head);
    memcpy(next + head, to, (size_t)n);
    next[head + (size_t)n] = '\0';
    free(at);
    at = next;
  }
  if (!at) abort();
  free(at);
  return NULL;
}

int cli_output_failed(int error) { return error == EPIPE ? CLI_IO : failed("standard output", error); }

bool cli_can_write(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0) {
    const int error = S_ISDIR(info.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    return !error || (failed(path, error), false);
  }
  char *end = errno == ENOENT ? cli_links_end(path) : NULL;
  if (!end) return failed(path, errno == ENOENT ? ELOOP : errno), false;
  char *slash = strrchr(end, '/');
  if (slash) slash[slash == end] = '\0';
  const int error = access(slash ? end : ".", W_OK | X_OK) != 0 ? errno : 0;
  free(end);
  return !error || (failed(path, error), false);
}

/* The permissions a plain creation would have given, or those of the file replaced. */
static mode_t mode_for(const struct stat *old) {
  if (old) return old->st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

bool cli_file_open(cli_file *f, const char *path) {
  struct stat info;
  *f = (cli_file){.path = path, .fd = -1};
  if (!strcmp(path, "-")) return f->fd = STDOUT_FILENO, f->path = "standard output", true;
  const bool exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return failed(path, EISDIR), false;
  if (exists && !S_ISREG(info.st_mode)) { /* a device or a pipe: there is nothing to replace */
    f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->fd >= 0 || (failed(path, errno), false);
  }
  if (exists && access(path, W_OK) != 0) return failed(path, errno), false;

  /* Through a symbolic link the file it leads to is replaced or made, not the link. */
  f->target = cli_links_end(path);
  if (!f->target) return failed(path, ELOOP), false;
  const size_t len = strlen(f->target);
  f->temporary = malloc(len + 16);
  if (!f->temporary) abort();
  snprintf(f->temporary, len + 16, "%s.XXXXXX.tmp", f->target);
  f->fd = mkstemps(f->temporary, 4);
  const int error = f->fd < 0 || fchmod(f->fd, mode_for(exists ? &info : NULL)) != 0 ? errno : 0;
  if (!error) return true;
  if (f->fd < 0) free(f->temporary), free(f->target);
  cli_file_close(f, false);
  return failed(path, error), false;
}

void cli_file_write(cli_file *f, const char *bytes, size_t size) {
  if (!f->error && !cli_write_all(f->fd, bytes, size)) f->error = errno;
}

int cli_file_close(cli_file *f, bool keep) {
  if (f->fd < 0) return CLI_GOOD;
  if (f->fd != STDOUT_FILENO && close(f->fd) != 0 && !f->error) f->error = errno;
  if (f->temporary && keep && !f->error && rename(f->temporary, f->target) != 0) f->error = errno;
  if (f->temporary && (!keep || f->error)) unlink(f->temporary);
  free(f->temporary);
  free(f->target);
  const int error = f->error;
  const bool output = f->fd == STDOUT_FILENO;
  *f = (cli_file){.path = f->path, .fd = -1};
  if (!error || !keep) return CLI_GOOD;
  return output ? cli_output_failed(error) : failed(f->path, error);
}

int cli_write_file(const char *path, const char *bytes, size_t size) {
  cli_file f;
  if (!cli_file_open(&f, path)) return CLI_IO;
  cli_file_write(&f, bytes, size);
  return cli_file_close(&f, true);
}

int cli_output(const cli_args *args, const nestor_buffer *text) {
  if (args && args->output) return cli_write_file(args->output, nestor_buffer_data(text), nestor_buffer_size(text));
  if (!cli_write_all(STDOUT_FILENO, nestor_buffer_data(text), nestor_buffer_size(text)))
    return cli_output_failed(errno);
  return CLI_GOOD;
}
