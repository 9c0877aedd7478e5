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

int cli_write_file(const char *path, const char *bytes, size_t size) {
  struct stat info;
  const bool exists = stat(path, &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return failed(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) { /* a device or a pipe: there is nothing to replace */
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return failed(path, errno);
    int error = cli_write_all(fd, bytes, size) ? 0 : errno;
    if (close(fd) != 0 && !error) error = errno;
    return error ? failed(path, error) : CLI_GOOD;
  }
  if (exists && access(path, W_OK) != 0) return failed(path, errno);

  /* Through a symbolic link the file it leads to is replaced, not the link. */
  char *real = exists ? realpath(path, NULL) : NULL;
  const char *target = real ? real : path;
  const size_t len = strlen(target);
  char *temporary = malloc(len + 16);
  if (!temporary) abort();
  snprintf(temporary, len + 16, "%s.XXXXXX.tmp", target);
  const int fd = mkstemps(temporary, 4);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    if (!cli_write_all(fd, bytes, size) || fchmod(fd, mode_for(exists ? &info : NULL)) != 0) error = errno;
    if (close(fd) != 0 && !error) error = errno;
    if (!error && rename(temporary, target) != 0) error = errno;
    if (error) unlink(temporary);
  }
  free(temporary);
  free(real);
  return error ? failed(path, error) : CLI_GOOD;
}

int cli_output(const cli_args *args, const nestor_buffer *text) {
  if (args && args->output) return cli_write_file(args->output, nestor_buffer_data(text), nestor_buffer_size(text));
  if (!cli_write_all(STDOUT_FILENO, nestor_buffer_data(text), nestor_buffer_size(text)))
    return failed("standard output", errno);
  return CLI_GOOD;
}
