/* nestor bench report: run files as a table, JSON, CSV or HTML. */
#include "bench/report/report.h"
#include "bench/cli/bench.h"
#include "bench/record/lines.h"

#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_KS = 32, MOST_K = 1000000, LONGEST_LINE = 1 << 28 };

typedef struct {
  const char *tasks, *output, *html, *format, *ks;
  bench_texts samples;
  double level;
  uint64_t examples;
} settings;

/* "1,5,10", each from 1 to MOST_K. */
static bool read_ks(uint64_t *ks, size_t *n, const char *text) {
  for (*n = 0; text && *text && *n < MOST_KS;) {
    char *end;
    if (*text < '0' || *text > '9') break;
    ks[*n] = strtoull(text, &end, 10);
    if (!ks[*n] || ks[(*n)++] > MOST_K || (*end && *end != ',') || (*end && !end[1])) break;
    if (!*end) return true;
    text = end + 1;
  }
  if (!text) return true;
  cli_say("--k takes up to %d whole numbers from 1 to %d, as in --k 1,5,10", MOST_KS, MOST_K);
  return false;
}

static bool ends_in(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

/* JSON Lines that are other records than results, known by the first line; NULL: it may be results. Pipes are read once: they are not looked at. */
static const char *other_records(const char *path) {
  static const struct { const char *schema, *what; } known[] = {
    {"nestor.task/1", "these are tasks"}, {"nestor.key/1", "this is a key"}, {"nestor.sample/1", "these are samples, not judged yet"}};
  struct stat info;
  const int fd = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return NULL;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  json_t *json = nst_lines_next(lines, &line) == NST_LINE_READ ? json_loadb(line.text, line.size, JSON_ALLOW_NUL, NULL) : NULL;
  const char *schema = json_string_value(json_object_get(json, "schema")), *what = NULL;
  for (size_t i = 0; schema && i < sizeof known / sizeof *known; i++)
    if (!strcmp(schema, known[i].schema)) what = known[i].what;
  json_decref(json);
  nst_lines_free(lines);
  close(fd);
  return what;
}

static nst_runfile *open_run(const char *path, const settings *s, size_t *nlines, char *error) {
  if (!ends_in(path, ".jsonl")) return nst_runfile_open(path, false, error);
  const char *what = other_records(path);
  if (what) {
    sprintf(error, "%s; name a run file, or results of `nestor bench grade` with --tasks FILE", what);
    return NULL;
  }
  if (!s->tasks) {
    strcpy(error, "results say nothing of kinds, levels and templates: give the tasks with --tasks tasks.jsonl");
    return NULL;
  }
  const char *samples = *nlines < s->samples.n ? s->samples.items[*nlines] : NULL;
  ++*nlines;
  return nst_runfile_read_jsonl(s->tasks, samples, path, error);
}

static bool add_run(nst_report *report, const char *path, const settings *s, size_t *nlines) {
  char error[NST_RUNFILE_ERROR] = "";
  nst_runfile *run = open_run(path, s, nlines, error);
  if (!run) {
    if (strstr(error, path))
      cli_say("%s", error);
    else
      cli_say("%s: %s", path, error);
    return false;
  }
  const bool ok = nst_report_add(report, path, run, error);
  if (!ok) cli_say("%s", error);
  nst_runfile_free(run);
  return ok;
}

/* Whether two names lead to one file: counted twice its samples would pass for two runs. */
static bool same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whether a run file is a copy of another. Results as JSON Lines may be alike by nature: no times stand in them. */
static bool copies(const char *a, const char *b) {
  if (ends_in(a, ".jsonl") || ends_in(b, ".jsonl")) return false;
  struct stat x, y;
  if (stat(a, &x) != 0 || stat(b, &y) != 0 || !S_ISREG(x.st_mode) || !S_ISREG(y.st_mode) || x.st_size != y.st_size)
    return false;
  FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
  bool same = f && g;
  char left[1 << 14], right[sizeof left];
  for (size_t n; same && (n = fread(left, 1, sizeof left, f)) > 0;)
    same = fread(right, 1, n, g) == n && !memcmp(left, right, n);
  if (f) fclose(f);
  if (g) fclose(g);
  return same;
}

static bool distinct(const bench_texts *runs) {
  for (size_t i = 0; i < runs->n; i++)
    for (size_t k = 0; k < i; k++)
      if (same_file(runs->items[i], runs->items[k]))
        return cli_say("%s and %s are one file: a run counts once", runs->items[k], runs->items[i]), false;
      else if (copies(runs->items[i], runs->items[k]))
        return cli_say("%s is a copy of %s: a run counts once", runs->items[i], runs->items[k]), false;
  return true;
}

static bool all_apart(const settings *s, const bench_texts *runs) {
  return cli_apart_outputs(s->output, &s->html, 1) && cli_apart(s->output, &s->tasks, 1) && cli_apart(s->html, &s->tasks, 1) &&
         cli_apart(s->output, runs->items, runs->n) && cli_apart(s->html, runs->items, runs->n) &&
         cli_apart(s->output, s->samples.items, s->samples.n) && cli_apart(s->html, s->samples.items, s->samples.n);
}

static int write_forms(nst_report *report, const settings *s, nestor_format format) {
  nestor_buffer *out = nestor_buffer_new();
  switch (format) {
  case NESTOR_FORMAT_TABLE: nst_report_text(report, out); break;
  case NESTOR_FORMAT_JSON: nst_report_json(report, out); break;
  case NESTOR_FORMAT_CSV: nst_report_csv(report, out); break;
  }
  int code = cli_output(&(cli_args){.output = s->output}, out);
  if (s->html) {
    nestor_buffer_clear(out);
    nst_report_html(report, out);
    code = cli_worse(code, cli_write_file(s->html, nestor_buffer_data(out), nestor_buffer_size(out)));
  }
  nestor_buffer_free(out);
  return code;
}

int bench_report(int argc, char **argv) {
  settings s = {.format = "table", .level = 0.95, .examples = 3};
  const bench_option options[] = {
    {"format", 0, BENCH_TEXT, &s.format, "FORMAT", "table, json or csv (default table)"},
    {"output", 'o', BENCH_TEXT, &s.output, "FILE", "write there instead of standard output"},
    {"html", 0, BENCH_TEXT, &s.html, "FILE", "also a page with pictures, complete in itself"},
    {"tasks", 't', BENCH_TEXT, &s.tasks, "FILE", "tasks of results that are JSON Lines"},
    {"samples", 0, BENCH_TEXTS, &s.samples, "FILE", "their samples, for examples and tokens; once for each"},
    {"k", 'k', BENCH_TEXT, &s.ks, "LIST", "k of pass@k and pass^k, as 1,5,10"},
    {"level", 0, BENCH_NUMBER, &s.level, "P", "probability of intervals (default 0.95)"},
    {"examples", 0, BENCH_WHOLE, &s.examples, "N", "failures to show of each model (default 3)"},
    {0}};
  const bench_usage usage = {
    "RUN... [OPTIONS]",
    "Reports what models scored. A RUN is a run file of `nestor bench run`, or the results of `nestor bench grade` as\n"
    "JSON Lines (.jsonl) with --tasks. Files of one model and one way of sampling are put together as repeated runs. "
    "Samples that\n"
    "failed in the infrastructure, are not graded or missing stay in the denominator and are told of. "
    "docs/bench-report.md\n"
    "explains every figure.\n\n"
    "  nestor bench report m.run --html report.html\n"
    "  nestor bench report a.run b.run --format csv -o scores.csv\n"
    "  nestor bench report results.jsonl --tasks tasks.jsonl\n",
    options};
  bench_texts runs = {0};
  int code = bench_options("report", &usage, argc, argv, &runs);
  uint64_t ks[MOST_KS];
  size_t nks = 0, nlines = 0;
  nestor_format format = NESTOR_FORMAT_TABLE;
  if (code < 0 && !nestor_format_parse(s.format, &format)) {
    cli_say("--format is table, json or csv, not \"%s\"", s.format);
    code = CLI_WRONG_USAGE;
  }
  if (code < 0 && !(s.level > 0 && s.level < 1)) {
    cli_say("--level is a probability between 0 and 1, as in --level 0.95");
    code = CLI_WRONG_USAGE;
  }
  if (code < 0 && !read_ks(ks, &nks, s.ks)) code = CLI_WRONG_USAGE;
  if (code < 0 && !runs.n) {
    cli_say("nothing to report: name a run file, as in `nestor bench report m.run`");
    code = CLI_WRONG_USAGE;
  }
  if (code < 0 && !distinct(&runs)) code = CLI_WRONG_USAGE;
  if (code < 0 && !all_apart(&s, &runs)) code = CLI_WRONG_USAGE;
  if (code < 0) {
    nst_report *report = nst_report_new(&(nst_report_options){ks, nks, s.level, (size_t)s.examples});
    for (size_t i = 0; i < runs.n && code < 0; i++)
      if (!add_run(report, runs.items[i], &s, &nlines)) code = CLI_IO;
    const size_t ungraded = nst_report_ungraded(report);
    if (code < 0 && ungraded)
      cli_say("%zu sample%s not graded; until then the score is incomplete. `nestor bench run` with --key judges into "
              "the run file, "
              "`nestor bench grade` judges JSON Lines",
              ungraded, ungraded == 1 ? " is" : "s are");
    if (code < 0) code = write_forms(report, &s, format);
    nst_report_free(report);
  }
  free(runs.items);
  free(s.samples.items);
  return code;
}
