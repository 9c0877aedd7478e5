/* nestor eval --points FILE.csv: one mapping at many points, through native code.
 *
 * The header names parameters; every row gives them whole numbers. Rows are read,
 * counted and written in chunks. A row that is wrong or cannot be evaluated is
 * told by its number, its figures stay empty, and the rest go on, so that row n
 * of the output is row n of the input. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, TOLD = 20, NUMBER = 40 };

typedef struct {
  const cli_args *args;
  const nestor_program *program;
  size_t mapping, nparams, ncolumns, nfigures;
  const char **names; /* [nparams] */
  size_t *param_of;   /* [ncolumns] of the file */
  bool *given;        /* [nparams]: by a column or --set */
  const char **figures;
  char **owned;
  size_t nowned;
  nestor_kernel *kernel;
  nestor_eval *eval; /* to say why a row is wrong */
  int64_t **columns; /* [nparams][CHUNK] */
  double **values;   /* [nfigures][CHUNK] */
  uint8_t *points, *bad;
  size_t row, told, wrong; /* rows before this chunk */
  nestor_buffer *out;
  const char *path;
} job;

/* ---- numbers ---- */

static size_t put_integer(char *out, int64_t v) {
  char digits[24];
  size_t n = 0, at = 0;
  uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
  do digits[n++] = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) out[at++] = '-';
  while (n) out[at++] = digits[--n];
  return at;
}

/* The shortest text that reads back as the same number. Few decimals, the usual case, need no search: a decimal of at
 * most 15 digits is the only such for its double. */
static size_t put_double(char *out, double v) {
  static const double powers[] = {1, 10, 100, 1000, 10000};
  for (int k = 0; k < 5; k++) {
    const double scaled = v * powers[k];
    if (!(fabs(scaled) < 1e15) || scaled != floor(scaled) || scaled / powers[k] != v) continue;
    const int64_t whole = (int64_t)(scaled / powers[k]);
    int64_t rest = (int64_t)fabs(scaled - (double)whole * powers[k]);
    if (!k) return put_integer(out, whole);
    size_t n = 0;
    if (v < 0 && !whole) out[n++] = '-';
    n += put_integer(out + n, whole);
    out[n++] = '.';
    for (int i = k - 1; i >= 0; i--) {
      out[n + (size_t)i] = (char)('0' + rest % 10);
      rest /= 10;
    }
    return n + (size_t)k;
  }
  for (int digits = 15;; digits++) {
    const int n = snprintf(out, NUMBER, "%.*g", digits, v);
    if (digits == 17 || strtod(out, NULL) == v) return (size_t)n;
  }
}

/* A whole number between blanks, up to a comma or the end of the line; NULL: something else. */
static const char *get_integer(const char *p, const char *end, int64_t *out) {
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  const bool negative = p < end && *p == '-';
  p += negative;
  if (p == end || *p < '0' || *p > '9') return NULL;
  uint64_t v = 0;
  for (; p < end && *p >= '0' && *p <= '9'; p++) {
    if (v > (INT64_MAX - 9) / 10) return NULL;
    v = 10 * v + (uint64_t)(*p - '0');
  }
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  *out = negative ? -(int64_t)v : (int64_t)v;
  return p == end || *p == ',' ? p : NULL;
}

/* ---- the header ---- */

static int wrong_header(const job *j, const char *what, const char *name, size_t len) {
  cli_say("%s: %s \"%.*s\" in the header", cli_display_name(j->path), what, (int)len, name);
  return CLI_WRONG_USAGE;
}

static int read_header(job *j, const char *p, const char *end) {
  if (end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) p += 3;
  j->param_of = calloc(j->nparams + 1, sizeof *j->param_of);
  if (!j->param_of) abort();
  for (bool more = true; more;) {
    const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
    const char *a = p, *b = stop;
    while (a < b && (*a == ' ' || *a == '"')) a++;
    while (b > a && (b[-1] == ' ' || b[-1] == '"')) b--;
    size_t param = 0;
    while (param < j->nparams &&
           (strlen(j->names[param]) != (size_t)(b - a) || memcmp(j->names[param], a, (size_t)(b - a))))
      param++;
    if (param == j->nparams) {
      nestor_mapping_info info = {0};
      nestor_program_mapping(j->program, j->mapping, &info);
      cli_say("%s: the mapping %s has no parameter \"%.*s\"", cli_display_name(j->path), info.name, (int)(b - a), a);
      return CLI_WRONG_USAGE;
    }
    if (j->given[param]) return wrong_header(j, "twice", a, (size_t)(b - a));
    j->given[param] = true;
    j->param_of[j->ncolumns++] = param;
    more = comma != NULL;
    p = stop + 1;
  }
  return CLI_GOOD;
}

/* Parameters set on the command line are the same in every row. */
static int take_sets(job *j) {
  for (size_t i = 0; i < j->args->nsets; i++) {
    const char *text = j->args->sets[i], *equals = strchr(text, '=');
    const size_t len = (size_t)(equals - text);
    size_t p = 0;
    while (p < j->nparams && (strlen(j->names[p]) != len || strncmp(j->names[p], text, len))) p++;
    if (p == j->nparams) {
      cli_say("--set %s: the mapping has no parameter \"%.*s\"", text, (int)len, text);
      return CLI_WRONG_USAGE;
    }
    if (j->given[p]) {
      cli_say("--set %s: the header of %s has it too", text, cli_display_name(j->path));
      return CLI_WRONG_USAGE;
    }
    int64_t v;
    const char *end = equals + 1 + strlen(equals + 1);
    if (get_integer(equals + 1, end, &v) != end) {
      cli_say("--set %s: \"%s\" is not a whole number", text, equals + 1);
      return CLI_WRONG_USAGE;
    }
    j->given[p] = true;
    for (size_t k = 0; k < CHUNK; k++) j->columns[p][k] = v;
  }
  return CLI_GOOD;
}

/* ---- rows ---- */

static void tell(job *j, size_t i, const char *what) {
  j->wrong++;
  if (j->told++ < TOLD)
    cli_say("%s: row %zu: %s", cli_display_name(j->path), j->row + i + 1, what);
  else if (j->told == TOLD + 1)
    cli_say("more rows are wrong; their figures are empty");
}

/* Reads the numbers of row i of the chunk; a row that is wrong gets what is no tile. */
static void read_row(job *j, size_t i, const char *p, const char *end) {
  const char *wrong = NULL;
  for (size_t c = 0; c < j->ncolumns && !wrong; c++) {
    if (p > end) {
      wrong = "there are fewer numbers than names in the header";
      break;
    }
    const char *next = get_integer(p, end, &j->columns[j->param_of[c]][i]);
    if (!next)
      wrong = "what should be a whole number is none";
    else
      p = next + 1;
  }
  if (!wrong && p <= end) wrong = "there are more numbers than names in the header";
  j->bad[i] = wrong != NULL;
  if (!wrong) return;
  for (size_t c = 0; c < j->ncolumns; c++) j->columns[j->param_of[c]][i] = 0;
  tell(j, i, wrong);
}

/* Runs the analysis at a row of the chunk. */
static bool evaluate_row(job *j, size_t i) {
  int64_t *params = calloc(j->nparams + 1, sizeof *params);
  if (!params) abort();
  for (size_t p = 0; p < j->nparams; p++) params[p] = j->columns[p][i];
  const bool good = nestor_eval_run(j->eval, NESTOR_ENGINE_ANALYSIS, params) == NESTOR_OK;
  free(params);
  return good;
}

/* Why a row that could be read has no figures, in the words of the analysis. */
static void tell_point(job *j, size_t i) {
  if (j->told >= TOLD) {
    tell(j, i, "");
    return;
  }
  nestor_diagnostic d = {.message = "it cannot be evaluated"};
  if (!evaluate_row(j, i)) nestor_diagnostics_get(nestor_eval_diagnostics(j->eval), 0, &d);
  tell(j, i, d.message);
}

/* A figure that a double may not hold, with all its digits. */
static bool write_exactly(job *j, size_t i, size_t figure, bool *evaluated) {
  if (!*evaluated && j->kernel && !evaluate_row(j, i)) return false;
  *evaluated = true;
  return nestor_eval_figure_text(j->eval, j->figures[figure], j->out) == NESTOR_OK;
}

static void write_row(job *j, size_t i, bool empty) {
  static const double exact = 9007199254740992.0; /* 2^53 */
  char line[1024];
  size_t n = 0;
  bool evaluated = false;
  for (size_t c = 0; c < j->ncolumns + j->nfigures; c++) {
    if (n + NUMBER + 1 > sizeof line) {
      nestor_buffer_append(j->out, line, n);
      n = 0;
    }
    if (c) line[n++] = ',';
    if (c < j->ncolumns) {
      if (!j->bad[i]) n += put_integer(line + n, j->columns[j->param_of[c]][i]);
    } else if (!empty && !isnan(j->values[c - j->ncolumns][i])) {
      const double v = j->values[c - j->ncolumns][i];
      if (fabs(v) >= exact) {
        nestor_buffer_append(j->out, line, n);
        n = 0;
        if (write_exactly(j, i, c - j->ncolumns, &evaluated)) continue;
      }
      n += put_double(line + n, v);
    }
  }
  line[n++] = '\n';
  nestor_buffer_append(j->out, line, n);
}

/* Without native code: one by one. */
static void count_row(job *j, size_t i) {
  nestor_eval_reset(j->eval);
  for (size_t p = 0; p < j->nparams; p++) {
    char number[24];
    if (!j->given[p]) continue;
    snprintf(number, sizeof number, "%lld", (long long)j->columns[p][i]);
    nestor_eval_set(j->eval, j->names[p], number);
  }
  const bool good = nestor_eval_run(j->eval, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK;
  j->points[i] = good ? NESTOR_POINT_OK : NESTOR_POINT_INVALID;
  for (size_t f = 0; f < j->nfigures; f++)
    if (!good || nestor_eval_figure(j->eval, j->figures[f], &j->values[f][i]) != NESTOR_OK) j->values[f][i] = NAN;
  if (good) return;
  nestor_diagnostic d = {.message = "it cannot be evaluated"};
  nestor_diagnostics_get(nestor_eval_diagnostics(j->eval), 0, &d);
  tell(j, i, d.message);
}

static void do_chunk(job *j, size_t n) {
  bool complete = true;
  for (size_t p = 0; p < j->nparams; p++) complete = complete && j->given[p];
  if (j->kernel) {
    if (!complete) nestor_kernel_defaults(j->kernel, n, j->given, j->columns, j->points);
    nestor_kernel_batch(j->kernel, n, (const int64_t *const *)j->columns, j->values, j->points);
  }
  for (size_t i = 0; i < n; i++) {
    if (!j->kernel && !j->bad[i]) count_row(j, i);
    const bool good = !j->bad[i] && j->points[i] == NESTOR_POINT_OK;
    if (j->kernel && !good && !j->bad[i]) tell_point(j, i);
    write_row(j, i, !good);
  }
  j->row += n;
}

static int do_rows(job *j, const char *text, size_t size) {
  const char *p = text, *end = text + size;
  const char *stop = memchr(p, '\n', size), *line_end = stop ? stop : end;
  int code = read_header(j, p, line_end > p && line_end[-1] == '\r' ? line_end - 1 : line_end);
  if (code == CLI_GOOD) code = take_sets(j);
  if (code != CLI_GOOD) return code;
  for (size_t c = 0; c < j->ncolumns + j->nfigures; c++) {
    const char *name = c < j->ncolumns ? j->names[j->param_of[c]] : j->figures[c - j->ncolumns];
    if (c) nestor_buffer_append(j->out, ",", 1);
    nestor_buffer_append(j->out, name, strlen(name));
  }
  nestor_buffer_append(j->out, "\n", 1);
  size_t n = 0;
  for (p = stop ? stop + 1 : end; p < end;) {
    stop = memchr(p, '\n', (size_t)(end - p));
    line_end = stop ? stop : end;
    const char *last = line_end > p && line_end[-1] == '\r' ? line_end - 1 : line_end;
    if (last > p) { /* an empty line is no row */
      read_row(j, n, p, last);
      if (++n == CHUNK) {
        do_chunk(j, n);
        n = 0;
      }
    }
    p = stop ? stop + 1 : end;
  }
  do_chunk(j, n);
  if (j->wrong)
    cli_say("%s: %zu of %zu rows are wrong; the others are complete", cli_display_name(j->path), j->wrong, j->row);
  return j->wrong ? CLI_PROGRAM : CLI_GOOD;
}

/* ---- setting up ---- */

static void *room(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  if (!p) abort();
  return p;
}

/* Whether it fits, what the memories inside the first hold, what moves and costs. */
static void choose_figures(job *j) {
  nestor_eval *e = j->eval;
  const size_t nlevels = nestor_eval_levels(e);
  j->figures = room(nlevels + 8, sizeof *j->figures);
  j->owned = room(nlevels, sizeof *j->owned);
  j->figures[j->nfigures++] = "fits";
  j->figures[j->nfigures++] = "offchip";
  j->figures[j->nfigures++] = "cycles";
  j->figures[j->nfigures++] = "energy";
  for (size_t l = 1; l < nlevels; l++) {
    const char *name = nestor_program_level(j->program, j->mapping, l);
    if (!name) continue;
    const size_t size = strlen(name) + 16;
    char *figure = room(size, 1);
    snprintf(figure, size, "usage(%s)", name);
    j->owned[j->nowned++] = figure;
    j->figures[j->nfigures++] = figure;
  }
}

static bool find_mapping(job *j, int *code) {
  const nestor_program *p = j->program;
  const cli_args *args = j->args;
  *code = CLI_WRONG_USAGE;
  if (args->nmappings > 1 || (!args->nmappings && nestor_program_mappings(p) != 1)) {
    cli_say("--points is for one mapping; choose it with --mapping NAME");
    return false;
  }
  j->mapping = args->nmappings ? nestor_program_find(p, args->mappings[0]) : 0;
  if (j->mapping != SIZE_MAX) return true;
  const char *near = nestor_program_suggest(p, args->mappings[0]);
  if (near)
    cli_say("no mapping is named \"%s\"; did you mean \"%s\"?", args->mappings[0], near);
  else
    cli_say("no mapping is named \"%s\"", args->mappings[0]);
  return false;
}

static int run_job(job *j, const nestor_buffer *text) {
  nestor_mapping_info info = {0};
  nestor_program_mapping(j->program, j->mapping, &info);
  j->nparams = info.params;
  j->names = room(j->nparams, sizeof *j->names);
  j->given = room(j->nparams, sizeof *j->given);
  j->columns = room(j->nparams, sizeof *j->columns);
  for (size_t p = 0; p < j->nparams; p++) {
    nestor_param_info param;
    nestor_program_param(j->program, j->mapping, p, &param);
    j->names[p] = param.name;
    j->columns[p] = room(CHUNK, sizeof **j->columns);
  }
  j->eval = nestor_eval_new(j->program, j->mapping);
  choose_figures(j);
  j->values = room(j->nfigures, sizeof *j->values);
  for (size_t f = 0; f < j->nfigures; f++) j->values[f] = room(CHUNK, sizeof **j->values);
  j->points = room(CHUNK, 1);
  j->bad = room(CHUNK, 1);
  nestor_status status;
  nestor_buffer *error = nestor_buffer_new();
  j->kernel = nestor_kernel_new(j->program, j->mapping, j->figures, j->nfigures, &status, error);
  int code = CLI_PROGRAM;
  if (!j->kernel && status == NESTOR_UNAVAILABLE)
    cli_say("--points is slower by far without native code: %s", nestor_buffer_data(error));
  if (!j->kernel && status != NESTOR_UNAVAILABLE)
    cli_say("%s", nestor_buffer_data(error));
  else
    code = do_rows(j, nestor_buffer_data(text), nestor_buffer_size(text));
  nestor_buffer_free(error);
  nestor_kernel_free(j->kernel);
  nestor_eval_free(j->eval);
  for (size_t p = 0; p < j->nparams; p++) free(j->columns[p]);
  for (size_t f = 0; f < j->nfigures; f++) free(j->values[f]);
  for (size_t i = 0; i < j->nowned; i++) free(j->owned[i]);
  free(j->names);
  free(j->given);
  free(j->columns);
  free(j->values);
  free(j->points);
  free(j->bad);
  free(j->figures);
  free(j->owned);
  free(j->param_of);
  return code;
}

int cli_points(const cli_args *args) {
  if (args->nfiles != 1) {
    cli_say("--points is for one program");
    return CLI_WRONG_USAGE;
  }
  nestor_program *program = cli_compile(args, args->files[0], NESTOR_STAGE_CHECK);
  if (!program) return CLI_IO;
  cli_diagnostics(args, nestor_program_diagnostics(program), false);
  nestor_buffer *text = nestor_buffer_new(), *out = nestor_buffer_new();
  int code = CLI_PROGRAM;
  job j = {.args = args, .program = program, .out = out, .path = args->points};
  if (nestor_program_status(program) == NESTOR_OK && find_mapping(&j, &code)) {
    if (!cli_read(args->points, false, text))
      code = CLI_IO;
    else if (!nestor_buffer_size(text)) {
      cli_say("%s is empty; its first line names the parameters", cli_display_name(args->points));
      code = CLI_WRONG_USAGE;
    } else
      code = run_job(&j, text);
  }
  if (nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  nestor_buffer_free(text);
  nestor_buffer_free(out);
  nestor_program_free(program);
  return code;
}
