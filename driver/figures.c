/* Figures by name: "usage(GLB)", "reads(DRAM, A)", "offchip". The names and what
 * their parentheses hold come from the table of metrics. */
#include "driver/internal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef enum { ARGS_N, ARGS_L, ARGS_LT } args_kind;
static const struct { const char *name; size_t len; args_kind args; } metrics[] = {
#define NST_METRIC(id, name, args, unit, summary) {name, sizeof name - 1, ARGS_##args},
#include "ir/metrics.def"
#undef NST_METRIC
};

static const char *skip(const char *p) {
  while (*p == ' ' || *p == '\t') p++;
  return p;
}

/* The word at *p, and past it. */
static size_t word(const char **p, const char **text) {
  *text = *p = skip(*p);
  while (isalnum((unsigned char)**p) || **p == '_') ++*p;
  return (size_t)(*p - *text);
}

static bool same(const char *name, const char *text, size_t len) {
  return strlen(name) == len && !memcmp(name, text, len);
}

static bool parse_args(nst_figure *out, const nst_ir_mapping *m, const char **p) {
  const char *text;
  size_t len = word(p, &text);
  for (int l = 0; l < m->hardware.nlevels; l++)
    if (same(m->hardware.levels[l].name, text, len)) out->level = l;
  if (out->level < 0) return false;
  *p = skip(*p);
  if (**p == ',' && metrics[out->metric].args == ARGS_LT) {
    ++*p;
    len = word(p, &text);
    for (int t = 0; t < m->workload.ntensors; t++)
      if (same(m->workload.tensors[t].name, text, len)) out->tensor = t;
    if (out->tensor < 0) return false;
    *p = skip(*p);
  }
  return *(*p)++ == ')';
}

bool nst_figure_parse(nst_figure *out, const nst_ir_mapping *m, const char *text) {
  const char *p = text, *name;
  const size_t len = word(&p, &name);
  *out = (nst_figure){NST_METRIC_COUNT, -1, -1};
  for (int i = 0; i < NST_METRIC_COUNT; i++)
    if (metrics[i].len == len && !memcmp(metrics[i].name, name, len)) out->metric = (nst_metric)i;
  if (out->metric == NST_METRIC_COUNT) return false;
  const args_kind args = metrics[out->metric].args;
  p = skip(p);
  if (*p == '(' && args != ARGS_N) {
    p++;
    if (!parse_args(out, m, &p)) return false;
  } else if (args == ARGS_LT || out->metric == NST_METRIC_INSTANCES) return false;
  return !*skip(p);
}

nst_value nst_figure_exact(nst_figure f, const nst_metrics_view *view, nst_eval_status *status) {
  const nst_expr e = {.kind = NST_X_METRIC, .metric = f.metric, .level = f.level, .tensor = f.tensor};
  nst_metrics_view copy = *view;
  nst_value v = {.kind = NST_VALUE_RAT, .rat = nst_rat_int(0)};
  *status = nst_metrics_lookup(&copy, &e, &v);
  return v;
}

double nst_figure_value(nst_figure f, const nst_metrics_view *view) {
  nst_eval_status status;
  const nst_value v = nst_figure_exact(f, view, &status);
  if (status != NST_EVAL_OK) return NAN;
  switch (v.kind) {
    case NST_VALUE_RAT: return nst_rat_to_double(v.rat);
    case NST_VALUE_REAL: return v.real;
    case NST_VALUE_BOOL: return v.truth;
  }
  return NAN;
}
