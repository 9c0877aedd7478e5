/* Records from files of JSON Lines, with messages that name file and line.
 *
 * A file whose first line is no such record is another file, given by mistake: that is said once, with what is wanted
 * in its place. Of a file that is right at first, each bad line is told of, up to a bound. */
#include "bench/cli/bench.h"
#include "bench/record/lines.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 28, MOST_SAID = 10 };

typedef bool take_line(void *context, const nst_line *line, char error[NST_RECORD_ERROR]);

bool bench_is_run_file(const char *text, size_t size) {
  static const char head[] = "SQLite format 3";
  return size >= sizeof head && !memcmp(text, head, sizeof head);
}

/* What a file is to hold, and where it comes from. */
typedef struct { const char *what, *source; } wanted;

static void say_bad(const char *path, const nst_line *line, const char *error, const wanted *w, bool first) {
  const char *name = cli_display_name(path);
  if (first && bench_is_run_file(line->text, line->size))
    cli_say("%s is a run file, and holds no %s as JSON Lines; %s. `nestor bench report` reads run files", name, w->what, w->source);
  else if (first)
    cli_say("%s:%llu: %s; %s", name, (unsigned long long)line->number, error, w->source);
  else
    cli_say("%s:%llu: %s", name, (unsigned long long)line->number, error);
}

/* take: false with an empty error where it only wants to stop. */
static bool each_line(const char *path, take_line *take, void *context, const wanted *w) {
  const bool input = !strcmp(path, "-");
  const int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cli_say("cannot open %s: %s; %s", path, strerror(errno), w->source), false;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  bool ok = true;
  size_t good = 0, bad = 0;
  for (nst_line_status status; (status = nst_lines_next(lines, &line)) != NST_LINE_END;) {
    char error[NST_RECORD_ERROR] = "";
    if (status == NST_LINE_FAILED) {
      cli_say("cannot read %s: %s", cli_display_name(path), strerror(errno));
      ok = false;
      break;
    }
    if (status == NST_LINE_TOO_LONG) strcpy(error, "it is longer than 256 MiB");
    else if (take(context, &line, error)) {
      good++;
      continue;
    }
    ok = false;
    if (!*error) break;
    if (bad++ < MOST_SAID) say_bad(path, &line, error, w, !good && bad == 1);
    if (!good) break;
  }
  if (bad > MOST_SAID) cli_say("%s: %zu more lines are bad", cli_display_name(path), bad - MOST_SAID);
  if (ok && !good) {
    cli_say("%s holds no %s; %s", cli_display_name(path), w->what, w->source);
    ok = false;
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
  static const wanted tasks = {"tasks", "tasks are what `nestor bench gen -o` wrote"};
  return each_line(path, take_task, &(task_reader){each, context}, &tasks);
}

typedef struct { bench_key_fn *each; void *context; } key_reader;
static bool take_key(void *context, const nst_line *line, char error[NST_RECORD_ERROR]) {
  const key_reader *r = context;
  nst_key key;
  return nst_key_parse(&key, line->text, line->size, error) && r->each(r->context, &key);
}

bool bench_each_key(const char *path, bench_key_fn *each, void *context) {
  static const wanted keys = {"keys", "a key is what `nestor bench gen --key` wrote with the tasks"};
  return each_line(path, take_key, &(key_reader){each, context}, &keys);
}
