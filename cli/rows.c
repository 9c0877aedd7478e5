/* The list of every valid point: written as it comes, beside its place, and put
 * there at the end; of a .npy file the header is written again with the number of
 * rows. A device or a pipe gets CSV directly. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

struct cli_rows {
  const char *path;
  char *temporary; /* NULL: directly */
  int fd, error;
  nestor_rows kind;
  uint64_t bytes, head, record;
  char *chunk;
  size_t used;
};

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static bool flush(cli_rows *r) {
  if (r->used && !cli_write_all(r->fd, r->chunk, r->used)) r->error = errno;
  r->used = 0;
  return !r->error;
}

static bool add(void *context, const char *bytes, size_t size) {
  cli_rows *r = context;
  r->bytes += size;
  if (r->used + size > CHUNK && !flush(r)) return false;
  if (size > CHUNK) {
    if (!cli_write_all(r->fd, bytes, size)) r->error = errno;
    return !r->error;
  }
  memcpy(r->chunk + r->used, bytes, size);
  r->used += size;
  return true;
}

static int failed(const char *path, int error) {
  cli_say("cannot write %s: %s", path, strerror(error));
  return CLI_IO;
}

cli_rows *cli_rows_new(const char *path, nestor_sweep *sweep, int *code) {
  const bool npy = ends_with(path, ".npy");
  struct stat info;
  const bool exists = stat(path, &info) == 0, device = exists && !S_ISREG(info.st_mode);
  *code = CLI_WRONG_USAGE;
  if (!npy && !device && !ends_with(path, ".csv")) {
    cli_say("--all writes FILE.csv or FILE.npy, and \"%s\" is neither", path);
    return NULL;
  }
  cli_rows *r = calloc(1, sizeof *r);
  if (!r || !(r->chunk = malloc(CHUNK))) abort();
  r->path = path;
  r->kind = npy ? NESTOR_ROWS_NPY : NESTOR_ROWS_CSV;
  if (device)
    r->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  else {
    const size_t len = strlen(path);
    r->temporary = malloc(len + 16);
    if (!r->temporary) abort();
    snprintf(r->temporary, len + 16, "%s.XXXXXX.tmp", path);
    r->fd = mkstemps(r->temporary, 4);
  }
  if (r->fd < 0) {
    *code = failed(path, errno);
    free(r->temporary);
    free(r->chunk);
    free(r);
    return NULL;
  }
  nestor_buffer *head = nestor_buffer_new();
  nestor_sweep_list_head(sweep, r->kind, 0, head);
  r->head = nestor_buffer_size(head);
  add(r, nestor_buffer_data(head), nestor_buffer_size(head));
  nestor_buffer_free(head);
  nestor_sweep_list(sweep, r->kind, add, r);
  *code = CLI_GOOD;
  return r;
}

int cli_rows_end(cli_rows *r, nestor_sweep *sweep, bool keep) {
  flush(r);
  const uint64_t rows = nestor_sweep_about(sweep).valid;
  if (keep && !r->error && r->kind == NESTOR_ROWS_NPY && r->temporary) {
    nestor_buffer *head = nestor_buffer_new();
    nestor_sweep_list_head(sweep, r->kind, rows, head);
    if (lseek(r->fd, 0, SEEK_SET) < 0 || !cli_write_all(r->fd, nestor_buffer_data(head), nestor_buffer_size(head)))
      r->error = errno;
    nestor_buffer_free(head);
  }
  const mode_t mask = umask(0);
  umask(mask);
  if (r->temporary && fchmod(r->fd, 0666 & ~mask) != 0 && !r->error) r->error = errno;
  if (close(r->fd) != 0 && !r->error) r->error = errno;
  if (r->temporary && (!keep || r->error || rename(r->temporary, r->path) != 0)) {
    if (keep && !r->error) r->error = errno;
    unlink(r->temporary);
  }
  const int code = r->error ? failed(r->path, r->error) : CLI_GOOD;
  free(r->temporary);
  free(r->chunk);
  free(r);
  return code;
}
