/* Workloads of drafts: a template is drawn and its text read; strides, dilations, sizes and types are drawn. */
#include "bench/tasks/draft.h"
#include "bench/tasks/traits.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *name;
  int last;
  bool held_out;
  const char *dims, *statements;
} template;
static const template templates[] = {
#define NST_TEMPLATE(name, last, held_out, dims, statements) {name, last, held_out, dims, statements},
#include "bench/tasks/templates.def"
#undef NST_TEMPLATE
};
enum { NTEMPLATES = sizeof templates / sizeof *templates };

static bool slides(const template *t) { return strstr(t->dims, ":f") != NULL; }

static int count(const char *text, char c) {
  int n = 0;
  for (; *text; text++) n += *text == c;
  return n;
}

static unsigned traits_of(const template *t) {
  const int statements = count(t->statements, ';');
  return (unsigned)(count(t->dims, ':') > 3) << NST_TRAIT_DIMS | (unsigned)slides(t) << NST_TRAIT_HALO |
         (unsigned)(slides(t) && strpbrk(t->statements, "SDZ")) << NST_TRAIT_STRIDE |
         (unsigned)(statements > 1) << NST_TRAIT_CASCADE | (unsigned)(statements > 2) << NST_TRAIT_CHAIN;
}

static int first_level(const template *t) {
  int first = 1;
  for (int trait = 0; trait < NST_TRAIT_COUNT; trait++)
    if (traits_of(t) >> trait & 1 && nst_trait_level((nst_trait)trait) > first)
      first = nst_trait_level((nst_trait)trait);
  return first;
}

size_t nst_draft_templates(void) { return NTEMPLATES; }

const char *nst_draft_template(size_t i, int *first, int *last, bool *held_out) {
  *first = first_level(&templates[i]);
  *last = templates[i].last;
  *held_out = templates[i].held_out;
  return templates[i].name;
}

/* What a draft may be of. The last level has cascades alone. Closed forms are not written for dilations and padding. */
static bool fits(const template *t, const nst_draft *d) {
  static const unsigned all = 1u << NST_TRAIT_DIMS | 1u << NST_TRAIT_HALO | 1u << NST_TRAIT_STRIDE |
                              1u << NST_TRAIT_CASCADE | 1u << NST_TRAIT_CHAIN;
  const unsigned traits = traits_of(t);
  if (d->level > t->last || traits & ~d->allowed) return false;
  if (d->raises >= 0 && all >> d->raises & 1 && !(traits >> d->raises & 1)) return false;
  if (d->level == NST_LEVELS && !(traits >> NST_TRAIT_CASCADE & 1)) return false;
  return d->kind != NST_KIND_GEN_MODEL || !slides(t) || !strpbrk(t->statements, "DZ");
}

static const template *draw(const nst_draft *d, nst_random *r) {
  const bool want_slide = nst_random_chance(r, 60); /* where there are both */
  const template *found[NTEMPLATES], *sliding[NTEMPLATES];
  size_t n = 0, nsliding = 0;
  for (size_t i = 0; i < NTEMPLATES; i++) {
    if (!fits(&templates[i], d)) continue;
    if (slides(&templates[i]))
      sliding[nsliding++] = &templates[i];
    else
      found[n++] = &templates[i];
  }
  return nsliding && (want_slide || !n) ? sliding[nst_random_below(r, nsliding)] : found[nst_random_below(r, n)];
}

/* ---- reading a template --------------------------------------------------- */

typedef struct {
  nst_draft *d;
  const char *at;
  int64_t stride, dilation, padding;
} reader;

static void skip(reader *in) {
  while (*in->at == ' ') in->at++;
}
static bool take(reader *in, const char *text) {
  skip(in);
  if (strncmp(in->at, text, strlen(text)) != 0) return false;
  in->at += strlen(text);
  return true;
}

static int dim_of(const nst_draft *d, char letter) {
  for (int i = 0; i < d->ndims; i++)
    if (d->dims[i].name[0] == letter) return i;
  return 0; /* the table is wrong: a test draws every template */
}

static nst_draft_rank read_rank(reader *in) {
  nst_draft_rank rank = {.dim = {-1, -1}, .coef = {0, 0}};
  for (int n = 0;; in->at++) {
    int64_t coef = 1;
    if (*in->at == 'S' || *in->at == 'D') {
      coef = *in->at == 'S' ? in->stride : in->dilation;
      in->at += 2; /* the letter and its "*" */
    }
    if (*in->at == 'Z') {
      rank.offset = -in->padding;
      rank.shape = rank.coef[0]; /* as many outputs as a step of the stride has room for */
    } else {
      rank.dim[n] = dim_of(in->d, *in->at);
      rank.coef[n++] = coef;
    }
    in->at++;
    if (*in->at != '+' && *in->at != '-') return rank;
  }
}

/* T[ranks] of a tensor that may be known. */
static int read_access(reader *in) {
  skip(in);
  const char name[2] = {*in->at++, '\0'};
  int t = nst_draft_find_tensor(in->d, name);
  nst_draft_tensor fresh = {.producer = -1};
  strcpy(fresh.name, name);
  take(in, "[");
  do fresh.ranks[fresh.nranks++] = read_rank(in);
  while (take(in, ","));
  take(in, "]");
  if (t >= 0) return t;
  for (int k = 0; k < fresh.nranks; k++) fresh.shaped |= fresh.ranks[k].shape != 0;
  t = in->d->ntensors++;
  in->d->tensors[t] = fresh;
  return t;
}

/* The expression with its accesses taken out: one of the forms below, so that it is constant text. */
static const char *form_of(const char *pattern) {
  static const char *const forms[] = {"$1",       "$1 * $2",       "$1 + $2",       "$1 * $2 * $3", "exp($1)",
                                      "relu($1)", "relu($1 + $2)", "gelu($1) * $2", "$1 / $2"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(forms[i], pattern)) return forms[i];
  return forms[0];
}

static void read_statement(reader *in) {
  static const char *const ops[] = {"+=", "max=", "min=", "="};
  nst_draft *d = in->d;
  const int index = d->nstatements++;
  nst_draft_statement *s = &d->statements[index];
  s->out = read_access(in);
  d->tensors[s->out].producer = index;
  for (size_t i = 0; i < 4 && !s->op; i++)
    if (take(in, ops[i])) s->op = ops[i];
  char pattern[64];
  size_t n = 0;
  skip(in);
  while (*in->at != ';') {
    if (isupper((unsigned char)*in->at)) {
      const int t = read_access(in);
      d->tensors[t].consumed = true;
      s->inputs[s->ninputs++] = t;
      pattern[n++] = '$';
      pattern[n++] = (char)('0' + s->ninputs);
    } else
      pattern[n++] = *in->at++;
  }
  pattern[n] = '\0';
  in->at++;
  skip(in);
  s->form = form_of(pattern);
  s->dims = nst_draft_tensor_dims(d, s->out);
  for (int i = 0; i < s->ninputs; i++) s->dims |= nst_draft_tensor_dims(d, s->inputs[i]);
  s->reduced = s->dims & ~nst_draft_tensor_dims(d, s->out);
}

/* ---- sizes and types ------------------------------------------------------ */

static int64_t draw_extent(const nst_draft *d, nst_dim_class kind, nst_random *r) {
  const bool round = !nst_draft_may(d, NST_TRAIT_IMPERFECT); /* sizes with many divisors */
  switch (kind) {
  case NST_DIM_LARGE: return round ? 4 * nst_random_between(r, 2, 8) : nst_random_between(r, 7, 30);
  case NST_DIM_CHANNEL: return round ? 2 * nst_random_between(r, 2, 8) : nst_random_between(r, 4, 15);
  case NST_DIM_BATCH: return nst_random_between(r, 2, 4);
  case NST_DIM_FILTER: return nst_random_between(r, 2, 4);
  }
  return 1;
}

/* Sizes shrink until the simulator has done in a moment. */
static void draw_sizes(nst_draft *d, nst_random *r) {
  const int64_t most = d->kind == NST_KIND_GEN_MODEL ? 2500 : 16000;
  for (int i = 0; i < d->ndims; i++) d->dims[i].extent = draw_extent(d, d->dims[i].kind, r);
  while (nst_draft_operations(d, NULL, NULL) > most) {
    int largest = 0;
    for (int i = 1; i < d->ndims; i++)
      if (d->dims[i].extent > d->dims[largest].extent) largest = i;
    int64_t *e = &d->dims[largest].extent;
    *e = !nst_draft_may(d, NST_TRAIT_IMPERFECT) && *e > 4 ? *e - (*e % 4 ? *e % 4 : 4)
                                                          : *e - 1 - (int64_t)nst_random_below(r, 3);
  }
}

static void draw_types(nst_draft *d, nst_random *r) {
  static const struct {
    const char *name;
    int bits;
  } types[] = {{"int8", 8},  {"int16", 16}, {"fp16", 16}, {"bf16", 16},
               {"fp32", 32}, {"int32", 32}, {"uint8", 8}, {"int4", 4}};
  const bool mixed = nst_random_chance(r, 60);
  const size_t base = (size_t)nst_random_below(r, 8);
  for (int t = 0; t < d->ntensors; t++) {
    size_t type = base;
    if (mixed && d->tensors[t].producer >= 0)
      type = 4 + (size_t)nst_random_below(r, 2);
    else if (mixed && nst_random_chance(r, 30))
      type = (size_t)nst_random_below(r, 8);
    d->tensors[t].type = types[type].name;
    d->tensors[t].bits = types[type].bits;
  }
}

/* Where the workload is what is asked for, it differs from its template: another layout of what is written, another
 * reduction or operation. Counts and legality do not depend on them. */
static void vary(nst_draft *d, nst_random *r) {
  for (int t = 0; t < d->ntensors; t++) {
    nst_draft_tensor *tensor = &d->tensors[t];
    for (int k = tensor->nranks - 1; k > 0 && tensor->producer >= 0; k--) {
      const size_t other = (size_t)nst_random_below(r, (uint64_t)k + 1);
      const nst_draft_rank rank = tensor->ranks[k];
      tensor->ranks[k] = tensor->ranks[other];
      tensor->ranks[other] = rank;
    }
  }
  static const char *const reductions[] = {"+=", "+=", "max=", "min="}, *const forms[] = {"$1 * $2", "$1 + $2"};
  for (int s = 0; s < d->nstatements; s++) {
    nst_draft_statement *statement = &d->statements[s];
    if (statement->ninputs != 2 || strlen(statement->form) != strlen(forms[0])) continue;
    if (statement->reduced) statement->op = reductions[nst_random_below(r, 4)];
    statement->form = forms[nst_random_below(r, 2)];
  }
}

void nst_draft_make_workload(nst_draft *d, nst_random *r) {
  const template *t = draw(d, r);
  d->cluster = t->name;
  d->held_out = t->held_out;
  snprintf(d->workload, sizeof d->workload, "%s", t->name);
  for (const char *at = t->dims; *at; at += at[3] == ' ' ? 4 : 3) {
    nst_draft_dim *dim = &d->dims[d->ndims++];
    dim->name[0] = at[0];
    dim->size[0] = (char)toupper((unsigned char)at[0]);
    dim->kind = at[2] == 'x'   ? NST_DIM_LARGE
                : at[2] == 'c' ? NST_DIM_CHANNEL
                : at[2] == 'b' ? NST_DIM_BATCH
                               : NST_DIM_FILTER;
  }
  reader in = {.d = d, .at = t->statements, .stride = nst_random_between(r, 2, 3), .dilation = 2, .padding = 1};
  if (d->target == NST_KIND_GEN_WORKLOAD) {
    in.stride = nst_random_between(r, 2, 5);
    in.dilation = nst_random_between(r, 2, 4);
    in.padding = nst_random_between(r, 1, 2);
  }
  while (*in.at) read_statement(&in);
  draw_sizes(d, r);
  draw_types(d, r);
  if (d->target == NST_KIND_GEN_WORKLOAD) vary(d, r);
}
