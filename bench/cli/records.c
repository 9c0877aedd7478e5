/* Records from files of JSON Lines, with messages that name file and line. */
#include "bench/cli/bench.h"
#include "bench/record/lines.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 28 };

typedef bool take_line(void *context, const nst_line *line, char error[NST_RECORD_ERROR]);

/* take: false with an empty error where it only wants to stop. */
static bool each_line(const char *path, take_line *take, void *context) {
  const bool input = !strcmp(path, "-");
  const int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cli_say("cannot open %s: %s", path, strerror(errno)), false;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  bool ok = true;
  for (nst_line_status status; (status = nst_lines_next(lines, &line)) != NST_LINE_END;) {
    char error[NST_RECORD_ERROR] = "";
    if (status == NST_LINE_FAILED) {
      cli_say("cannot read %s: %s", cli_display_name(path), strerror(errno));
      ok = false;
      break;
    }
    if (status == NST_LINE_TOO_LONG) strcpy(error, "it is longer than 256 MiB");
    else if (take(context, &line, error)) continue;
    ok = false;
    if (!*error) break;
    cli_say("%s:%llu: %s", cli_display_name(path), (unsigned long long)line.number, error);
  }
  nst_lines_free(lines);
  if (!input) close(fd);
  return ok;
}

typedef struct { bench_task_fn *each; void *context; } task_reader;
static bool take_task(void *context, const nst_line *line, char error[NST_RECORD_ERROR]) {
  const task_reader *r = context;
  nst_task task;
  return nst_task_parse(&task, line->text, line->size, error) && r->each(r->context, &task);
}

bool bench_each_task(const char *path, bench_task_fn *each, void *context) {
  return each_line(path, take_task, &(task_reader){each, context});
}

typedef struct { bench_key_fn *each; void *context; } key_reader;
static bool take_key(void *context, const nst_line *line, char error[NST_RECORD_ERROR]) {
  const key_reader *r = context;
  nst_key key;
  return nst_key_parse(&key, line->text, line->size, error) && r->each(r->context, &key);
}

bool bench_each_key(const char *path, bench_key_fn *each, void *context) {
  return each_line(path, take_key, &(key_reader){each, context});
}
