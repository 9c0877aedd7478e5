/* Output: everything a command prints is written here, once, at its end.
 *
 * A regular file is replaced by rename, so that under its name there is the old
 * text or the new one and never a part. Names of temporary files are unique:
 * runs side by side do not meet. A write error of any kind (a full disk, a
 * closed pipe or descriptor) is said and gives CLI_IO. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool cli_can_write(const char *path) {
  struct stat info;
  if (stat(path, &info) == 0) {
    const int error = S_ISDIR(info.st_mode) ? EISDIR : access(path, W_OK) != 0 ? errno : 0;
    return !error || (failed(path, error), false);
  }
  if (errno != ENOENT) return failed(path, errno), false;
  const char *slash = strrchr(path, '/');
  char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  if (!directory) abort();
  const int error = access(directory, W_OK | X_OK) != 0 ? errno : 0;
  free(directory);
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

  /* Through a symbolic link the file it leads to is replaced, not the link. */
  char *real = exists ? realpath(path, NULL) : NULL;
  f->target = real ? real : strdup(path);
  if (!f->target) abort();
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
  *f = (cli_file){.path = f->path, .fd = -1};
  return error && keep ? failed(f->path, error) : CLI_GOOD;
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
    return failed("standard output", errno);
  return CLI_GOOD;
}
