/* The closed forms that `explain` prints, held to what they claim: explain.
 *
 * Random programs, and a few with named sizes, are explained at their defaults
 * and at other parameters. Every closed form is read back from the text, put
 * into a model beside the program, and evaluated at 50 points at which its
 * condition holds: it must give the count of the analysis at each of them.
 *
 * NESTOR_PROPERTY_N is the number of programs, NESTOR_PROPERTY_SEED the first
 * seed; without the former NESTOR_TEST_SCALE percent of the usual number run. */
#include "driver/internal.h"
#include "generate.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS = 256, PARAMS = 64, NAMES = 128, POINTS = 50, TRIES = 600 };

typedef struct {
  char label[160], what[16], level[64], tensor[64], stmt[64];
  char form[1024], condition[1024];
  bool minus, divides; /* updates less the form; only while tiles divide */
} form;

typedef struct {
  long programs, forms, points, bad;
  nestor_session *session;
} run;

/* ---- reading an explanation ---- */

static void cut(char *out, size_t size, const char *from, size_t len) {
  if (len >= size) len = size - 1;
  memcpy(out, from, len);
  out[len] = '\0';
}

/* Columns are two spaces or more apart. */
static const char *column(const char *at, char *out, size_t size) {
  while (*at == ' ') at++;
  const char *end = at;
  while (*end && *end != '\n' && strncmp(end, "  ", 2) != 0) end++;
  cut(out, size, at, (size_t)(end - at));
  return end;
}

static bool read_form(form *f, const char *line) {
  char text[1024], value[64], condition[1024];
  memset(f, 0, sizeof *f);
  const char *at = column(line, f->label, sizeof f->label);
  at = column(at, text, sizeof text);
  at = column(at, value, sizeof value);
  column(at, condition, sizeof condition);
  if (sscanf(f->label, "%15[a-z](%63[^,], %63[^)]) in %63s", f->what, f->level, f->tensor, f->stmt) < 3) return false;
  if (strncmp(text, "= ", 2) != 0 || strncmp(value, "= ", 2) != 0) return false;
  const char *body = text + 2, *minus = strncmp(body, "updates(", 8) == 0 ? strstr(body, " - ") : NULL;
  f->minus = minus;
  if (minus) body = minus + 3;
  cut(f->form, sizeof f->form, body, strcspn(body, ":"));
  char *rest = strstr(condition, "only while tiles divide");
  f->divides = rest;
  if (rest) *rest = '\0';
  rest = strstr(condition, "at these sizes"); /* they do not change here */
  if (rest) *rest = '\0';
  size_t n = strlen(condition);
  while (n && strchr(" ,", condition[n - 1])) condition[--n] = '\0';
  strcpy(f->condition, strncmp(condition, "while ", 6) == 0 ? condition + 6 : "true");
  return true;
}

static int read_forms(form *forms, const char *text) {
  int n = 0;
  const char *line = strstr(text, "\nclosed forms");
  if (!line) return 0;
  for (line++; *line && *line != '\n' && n < FORMS; line += strcspn(line, "\n") + 1) n += read_form(&forms[n], line);
  return n;
}

/* ---- the model of a program's forms ---- */

static bool is_name(const char *text) {
  return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
}

/* The names that forms may use: parameters first, then named values of the mapping. */
static int names_of(const nst_ir_mapping *m, const char **names, int *value) {
  int n = 0;
  for (int i = 0; i < m->scope.nparams && n < NAMES; i++) value[n] = -1, names[n++] = m->scope.params[i].name;
  for (int i = 0; i < m->scope.nvalues && n < NAMES; i++) {
    const char *name = m->scope.values[i].name;
    bool fresh = name && is_name(name);
    for (int k = 0; k < n; k++) fresh = fresh && strcmp(names[k], name) != 0;
    if (fresh) value[n] = i, names[n++] = name;
  }
  return n;
}

static void write_model(nst_buffer *out, const char *program, const char *const *names, int nnames, const form *forms,
                        int n) {
  nst_buffer_clear(out);
  nst_buffer_printf(out, "%s\nmodel every_form(", program);
  for (int i = 0; i < nnames; i++) nst_buffer_printf(out, "%s%s", i ? ", " : "", names[i]);
  nst_buffer_puts(out, ") {\n");
  for (int i = 0; i < n; i++)
    nst_buffer_printf(out, "  out y%d = %s\n  out c%d = if %s then 1 else 0\n", i, forms[i].form, i,
                      forms[i].condition);
  nst_buffer_puts(out, "}\n");
}

/* ---- counts ---- */

static int level_of(const nst_ir_mapping *m, const char *name) {
  for (int i = 0; i < m->hardware.nlevels; i++)
    if (!strcmp(m->hardware.levels[i].name, name)) return i;
  return -1;
}

static int tensor_of(const nst_ir_mapping *m, const char *name) {
  for (int i = 0; i < m->workload.ntensors; i++)
    if (!strcmp(m->workload.tensors[i].name, name)) return i;
  return -1;
}

static int stmt_of(const nst_ir_mapping *m, const form *f) {
  for (int i = 0; *f->stmt && i < m->workload.nstmts; i++)
    if (!strcmp(m->workload.tensors[m->workload.stmts[i].out.tensor].name, f->stmt)) return i;
  return 0;
}

/* -1: the label is that of several tiles. */
static int64_t counted(const nestor_eval *e, const form *f) {
  const int level = level_of(e->ir, f->level), tensor = tensor_of(e->ir, f->tensor), stmt = stmt_of(e->ir, f);
  const nst_moves *moved = nst_counts_at(e->counts, stmt, level, tensor);
  if (!strcmp(f->what, "reads")) return f->minus ? moved->updates - moved->reads : moved->reads;
  if (!strcmp(f->what, "updates")) return moved->updates;
  int64_t tile = -1;
  for (int i = 0; i < e->ir->nslots; i++) {
    if (e->ir->slots[i].level != level || e->ir->slots[i].tensor != tensor) continue;
    if (tile >= 0) return -1;
    tile = e->counts->tile[i];
  }
  return tile;
}

/* Whether every tile on the way to a statement divides what it splits. */
static bool tiles_divide(const nestor_eval *e, int stmt) {
  int64_t extent[NAMES];
  memcpy(extent, e->nest->extent, (size_t)e->ir->workload.ndims * sizeof *extent);
  for (int i = 0; i < e->ir->paths[stmt].nnodes; i++) {
    const nst_ir_node *n = e->ir->nodes[e->ir->paths[stmt].nodes[i]];
    if (n->kind != NST_NODE_FOR && n->kind != NST_NODE_PAR) continue;
    const int64_t tile = e->nest->tile[n->id];
    if (tile >= extent[n->dim]) continue;
    if (extent[n->dim] % tile) return false;
    extent[n->dim] = tile;
  }
  return true;
}

/* ---- trying ---- */

static int64_t any(gen_random *r, int64_t base, const nestor_eval *e) {
  const int64_t extent = e->ir->workload.ndims ? e->nest->extent[gen_below(r, e->ir->workload.ndims)] : base;
  const int64_t choices[] = {base,
                             base,
                             extent,
                             extent + 1,
                             extent - 1,
                             1,
                             2,
                             base + 1,
                             base - 1,
                             base / 2,
                             2 * base,
                             gen_between(r, 1, 12),
                             gen_between(r, 1, extent < 4096 ? (int)extent : 4096)};
  const int64_t v = choices[gen_below(r, (int)(sizeof choices / sizeof *choices))];
  return v > 0 ? v : 1;
}

static void vary(gen_random *r, int64_t *params, const int64_t *base, const nestor_eval *e) {
  const int percent = gen_between(r, 20, 90);
  for (int i = 0; i < e->ir->scope.nparams; i++) params[i] = gen_chance(r, percent) ? any(r, base[i], e) : base[i];
}

static void complain(run *t, const char *program, const nestor_eval *e, const form *f, const int64_t *base,
                     const int64_t *params, int64_t says, int64_t is) {
  if (t->bad++ >= 5) return;
  printf("%s = %s while %s%s, explained at", f->label, f->form, f->condition, f->divides ? ", tiles divide" : "");
  for (int i = 0; i < e->ir->scope.nparams; i++) printf(" %s = %lld", e->ir->scope.params[i].name, (long long)base[i]);
  printf("\nsays %lld where the analysis counts %lld, at", (long long)says, (long long)is);
  for (int i = 0; i < e->ir->scope.nparams; i++)
    printf(" %s = %lld", e->ir->scope.params[i].name, (long long)params[i]);
  printf("\n%s\n", program);
}

static nestor_program *compile(run *t, const char *text) {
  return nestor_program_new(t->session, "random.nest", text, strlen(text), NESTOR_STAGE_CHECK);
}

static void try_points(run *t, const char *text, nestor_eval *e, nestor_model *model, const form *forms, int n,
                       const int64_t *base, const int *value, int nnames, gen_random *r) {
  int done[FORMS] = {0};
  for (int k = 0; k < (e->ir->scope.nparams ? TRIES : 1); k++) {
    int64_t params[NAMES];
    if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, base) != NESTOR_OK) return;
    vary(r, params, base, e);
    if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, params) != NESTOR_OK) continue;
    for (int i = e->ir->scope.nparams; i < nnames; i++)
      if (!nst_value_to_i64(&params[i], &e->nest->values[value[i]])) params[i] = 0;
    if (nestor_model_run(model, params) != NESTOR_OK) continue;
    for (int i = 0; i < n; i++) {
      nestor_value says, holds;
      if (done[i] >= POINTS || (forms[i].divides && !tiles_divide(e, stmt_of(e->ir, &forms[i])))) continue;
      if (!nestor_model_value(model, (size_t)(2 * i + 1), &holds) || holds.integer != 1) continue;
      const int64_t is = counted(e, &forms[i]);
      if (is < 0) continue;
      nestor_model_value(model, (size_t)(2 * i), &says);
      done[i]++;
      t->points++;
      if (says.kind != NESTOR_VALUE_INTEGER || says.integer != is)
        complain(t, text, e, &forms[i], base, params, says.integer, is), done[i] = POINTS;
    }
  }
}

static void explain_at(run *t, const char *text, nestor_eval *e, const int64_t *base, gen_random *r) {
  static form forms[FORMS];
  const char *names[NAMES];
  int value[NAMES];
  nestor_buffer *said = nestor_buffer_new();
  nestor_eval_explain(e, said);
  const int n = read_forms(forms, nestor_buffer_data(said)), nnames = names_of(e->ir, names, value);
  nst_buffer with = {0};
  write_model(&with, text, names, nnames, forms, n);
  nestor_program *p = compile(t, with.text);
  nestor_model *model = n ? nestor_model_new(p, nestor_program_find_model(p, "every_form")) : NULL;
  t->forms += n;
  if (model)
    try_points(t, text, e, model, forms, n, base, value, nnames, r);
  else if (n) {
    printf("the forms are no text of the language:\n%s\n", with.text);
    t->bad++;
  }
  nestor_model_free(model);
  nestor_program_free(p);
  nst_buffer_fini(&with);
  nestor_buffer_free(said);
}

static void try_program(run *t, const char *text, uint64_t seed) {
  gen_random r = {seed * 977 + 5};
  nestor_program *p = compile(t, text);
  nestor_eval *e = nestor_eval_new(p, 0);
  int64_t base[PARAMS], other[PARAMS];
  bool good = e && e->ir->scope.nparams <= PARAMS && nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK;
  for (int i = 0; good && i < e->ir->scope.nparams; i++) good = nst_value_to_i64(&base[i], &e->params[i]);
  if (good) {
    t->programs++;
    explain_at(t, text, e, base, &r);
    for (int k = 0; k < 2 && e->ir->scope.nparams; k++) {
      if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, base) != NESTOR_OK) break;
      vary(&r, other, base, e);
      if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, other) == NESTOR_OK) explain_at(t, text, e, other, &r);
    }
  }
  nestor_eval_free(e);
  nestor_program_free(p);
}

/* Named sizes, loops that do not turn at the defaults, tiles spread by themselves, windows. */
static const char *const named[] = {
  "workload gemm(M = 512, N = 512, K = 512) { dim m = M, n = N, k = K tensor A, B : int8, C : int32\n"
  "  C[m, n] += A[m, k] * B[k, n] }\n"
  "hardware h { memory DRAM memory GLB { capacity = 128 KiB } array PE[x = 16, y = 16] memory RF compute MAC }\n"
  "mapping m(tm = 512, tn = 64, tk = 32) of gemm(512, 512, 512) on h {\n"
  "  keep all in DRAM for m by tm for n by tn for k by tk keep all in GLB par m on PE.y par n on PE.x keep all in RF "
  "}\n",
  "workload conv(K = 16, C = 8, T = 100, R = 5) { dim k = K, c = C, t = T, r = R tensor X, W : int8, Y : int32\n"
  "  Y[k, t] += X[c, t + r] * W[k, c, r] }\n"
  "hardware h { memory DRAM memory SRAM compute MAC }\n"
  "mapping m(tt = 100, tc = 4, tk = 16) of conv on h {\n"
  "  keep all in DRAM for t by tt for k by tk for c by tc keep all in SRAM }\n",
  "workload conv(K = 12, C = 8, P = 20, R = 3) { dim k = K, c = C, p = P, r = R tensor X[C, 42], W : int8, Y : int32\n"
  "  Y[k, p] += X[c, 2*p + r - 1] * W[k, c, r] }\n"
  "hardware h { memory DRAM memory L2 memory L1 array PE[x = 4] { multicast = false } compute MAC }\n"
  "mapping m(pt = 20, ct = 1, kn = 3, p2 = 5) of conv on h {\n"
  "  keep all in DRAM for k into kn for c by ct for p by pt keep all in L2 for p by p2 keep X, Y in L1 par k on PE.x "
  "}\n",
};

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void) {
  run t = {.session = nestor_session_new()};
  const long usual = 200 * number("NESTOR_TEST_SCALE", 100) / 100;
  const long n = number("NESTOR_PROPERTY_N", usual > 0 ? usual : 1), first = number("NESTOR_PROPERTY_SEED", 1);
  nst_buffer text = {0};
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    for (uint64_t k = 0; k < 4; k++) try_program(&t, named[i], k);
  const long fixed = t.programs;
  for (long i = 0; i < n && t.bad < 5; i++) {
    if (i % 4 == 3)
      gen_cascade(&text, (uint64_t)(first + i));
    else
      gen_nest(&text, (uint64_t)(first + i));
    try_program(&t, text.text, (uint64_t)(first + i));
  }
  printf("%ld programs, %ld closed forms at %ld points: %ld wrong\n", t.programs, t.forms, t.points, t.bad);
  nst_buffer_fini(&text);
  nestor_session_free(t.session);
  return t.bad || fixed < (long)(4 * sizeof named / sizeof *named) || t.points < 20 * t.forms / 4;
}
