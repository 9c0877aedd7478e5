/* Input: whole files and standard input, with a reason in words when they
 * cannot be read. What is in them is the library's affair. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A bound on what is read of a program, and of what has no end; the library's own limit is lower and better said. The
 * states and points that we or others wrote to a regular file are as large as they are. */
enum { READ_MAX = 1 << 28 };

const char *cli_display_name(const char *path) { return strcmp(path, "-") ? path : "<stdin>"; }

static bool read_all(int fd, const char *path, bool bounded, nestor_buffer *out) {
  char chunk[1 << 16];
  for (;;) {
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n == 0) return true;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      cli_say("cannot read %s: %s", cli_display_name(path), strerror(errno));
      return false;
    }
    nestor_buffer_append(out, chunk, (size_t)n);
    if (bounded && nestor_buffer_size(out) > READ_MAX) {
      cli_say("cannot read %s: it is larger than 256 MiB", cli_display_name(path));
      return false;
    }
  }
}

bool cli_read(const char *path, bool program, nestor_buffer *out) {
  if (!strcmp(path, "-")) return read_all(STDIN_FILENO, path, program, out);
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    cli_say("cannot open %s: %s", path, strerror(errno));
    return false;
  }
  struct stat info;
  bool ok = false;
  if (fstat(fd, &info) != 0)
    cli_say("cannot read %s: %s", path, strerror(errno));
  else if (S_ISDIR(info.st_mode))
    cli_say("cannot read %s: it is a directory; name a %sfile in it", path, program ? ".nest " : "");
  else
    ok = read_all(fd, path, program || !S_ISREG(info.st_mode), out);
  close(fd);
  return ok;
}

nestor_program *cli_compile(const cli_args *args, const char *path, nestor_stage stage) {
  nestor_buffer *text = nestor_buffer_new();
  nestor_program *program = NULL;
  if (cli_read(path, true, text)) {
    nestor_session *session = nestor_session_new();
    nestor_session_set_loader(session, nestor_load_file, NULL);
    if (!args->no_cache) nestor_session_set_cache(session, NULL);
    program = nestor_program_new(session, cli_display_name(path), nestor_buffer_data(text), nestor_buffer_size(text),
                                 stage);
    nestor_session_free(session);
  }
  nestor_buffer_free(text);
  return program;
}
