/* Workloads in words, as loops in pseudo-code, and as a table. */
#include "bench/tasks/draft.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <string.h>

static void index_of(const nst_draft *d, const nst_draft_rank *rank, nestor_buffer *b) {
  for (int i = 0; i < 2 && rank->dim[i] >= 0; i++) {
    if (i) nst_text_add(b, " + ");
    if (rank->coef[i] != 1) nst_text_add(b, "%lld * ", (long long)rank->coef[i]);
    nst_text_add(b, "%s", d->dims[rank->dim[i]].name);
  }
  if (rank->offset < 0) nst_text_add(b, " - %lld", (long long)-rank->offset);
  if (rank->offset > 0) nst_text_add(b, " + %lld", (long long)rank->offset);
}

static void access(const nst_draft *d, int t, const char *open, const char *between, const char *close,
                   nestor_buffer *b) {
  nst_text_add(b, "%s%s", d->tensors[t].name, open);
  for (int k = 0; k < d->tensors[t].nranks; k++) {
    if (k) nst_text_add(b, "%s", between);
    index_of(d, &d->tensors[t].ranks[k], b);
  }
  nst_text_add(b, "%s", close);
}

static void expression(const nst_draft *d, const nst_draft_statement *s, const char *open, const char *between,
                       const char *close, nestor_buffer *b) {
  for (const char *at = s->form; *at; at++) {
    if (*at == '$')
      access(d, s->inputs[*++at - '1'], open, between, close, b);
    else
      nst_text_add(b, "%c", *at);
  }
}

static void names(const nst_draft *d, unsigned dims, nestor_buffer *b) {
  for (int i = 0, n = 0; i < d->ndims; i++)
    if (dims >> i & 1) nst_text_add(b, "%s%s", n++ ? ", " : "", d->dims[i].name);
}

static void padding(const nst_draft *d, nestor_buffer *b) {
  for (int t = 0; t < d->ntensors; t++)
    for (int k = 0; k < d->tensors[t].nranks; k++) {
      const nst_draft_rank *rank = &d->tensors[t].ranks[k];
      if (!rank->shape) continue;
      char size[NST_DRAFT_NAME + 32], factor[32] = "";
      if (rank->shape != 1) snprintf(factor, sizeof factor, "%lld * ", (long long)rank->shape);
      snprintf(size, sizeof size, "%s%s", factor, d->dims[rank->dim[0]].size);
      nst_text_add(b,
                   "%s has only the indices 0 to %s - 1 in rank %d (its size there is %s): what lies outside is "
                   "padding and does not exist.\n",
                   d->tensors[t].name, size, k + 1, size);
    }
}

static void in_prose(const nst_draft *d, nestor_buffer *b) {
  nst_text_add(b, "The computation has the dimensions");
  for (int i = 0; i < d->ndims; i++)
    nst_text_add(b, "%s %s of size %s (default %lld)", i ? "," : "", d->dims[i].name, d->dims[i].size,
                 (long long)d->dims[i].extent);
  nst_text_add(b, ".\n");
  for (int s = 0; s < d->nstatements; s++) {
    const nst_draft_statement *statement = &d->statements[s];
    nst_text_add(b, "%s, ",
                 d->nstatements > 1
                   ? (s ? "Then, for all values of its indices" : "First, for all values of its indices")
                   : "For all values of its indices");
    access(d, statement->out, "[", ", ", "]", b);
    if (!statement->reduced)
      nst_text_add(b, " is ");
    else {
      nst_text_add(b, " is the %s over ",
                   !strcmp(statement->op, "+=")     ? "sum"
                   : !strcmp(statement->op, "max=") ? "maximum"
                                                    : "minimum");
      names(d, statement->reduced, b);
      nst_text_add(b, " of ");
    }
    const bool sum = statement->reduced && strchr(statement->form, '+');
    if (sum) nst_text_add(b, "(");
    expression(d, statement, "[", ", ", "]", b);
    nst_text_add(b, sum ? ").\n" : ".\n");
  }
  nst_text_add(b, "Element types:");
  for (int t = 0; t < d->ntensors; t++)
    nst_text_add(b, "%s %s is %s", t ? "," : "", d->tensors[t].name, d->tensors[t].type);
  nst_text_add(b, ".\n");
  padding(d, b);
}

static void as_loops(const nst_draft *d, nestor_buffer *b) {
  nst_text_add(b, "```\n");
  for (int i = 0; i < d->ndims; i++)
    nst_text_add(b, "%s%s = %lld", i ? "; " : "", d->dims[i].size, (long long)d->dims[i].extent);
  nst_text_add(b, "  # sizes, by default\n");
  for (int t = 0; t < d->ntensors; t++)
    nst_text_add(b, "%s%s: %s", t ? "; " : "", d->tensors[t].name, d->tensors[t].type);
  nst_text_add(b, "  # element types\n");
  for (int s = 0; s < d->nstatements; s++) {
    const nst_draft_statement *statement = &d->statements[s];
    int depth = 0;
    for (int i = 0; i < d->ndims; i++)
      if (statement->dims >> i & 1)
        nst_text_add(b, "%*sfor %s in range(%s):\n", 2 * depth++, "", d->dims[i].name, d->dims[i].size);
    nst_text_add(b, "%*s", 2 * depth, "");
    access(d, statement->out, "[", "][", "]", b);
    if (!strcmp(statement->op, "max=") || !strcmp(statement->op, "min=")) {
      nst_text_add(b, " = %.3s(", statement->op);
      access(d, statement->out, "[", "][", "]", b);
      nst_text_add(b, ", ");
      expression(d, statement, "[", "][", "]", b);
      nst_text_add(b, ")\n");
    } else {
      nst_text_add(b, " %s ", statement->op);
      expression(d, statement, "[", "][", "]", b);
      nst_text_add(b, "\n");
    }
  }
  nst_text_add(b, "```\n");
  padding(d, b);
}

static void as_table(const nst_draft *d, nestor_buffer *b) {
  nst_text_add(b, "| dimension | size | default |\n| --- | --- | --- |\n");
  for (int i = 0; i < d->ndims; i++)
    nst_text_add(b, "| %s | %s | %lld |\n", d->dims[i].name, d->dims[i].size, (long long)d->dims[i].extent);
  nst_text_add(b, "\n| tensor | element type | indices |\n| --- | --- | --- |\n");
  for (int t = 0; t < d->ntensors; t++) {
    nst_text_add(b, "| %s | %s | ", d->tensors[t].name, d->tensors[t].type);
    for (int k = 0; k < d->tensors[t].nranks; k++) {
      if (k) nst_text_add(b, ", ");
      index_of(d, &d->tensors[t].ranks[k], b);
    }
    nst_text_add(b, " |\n");
  }
  nst_text_add(b, "\n| step | writes | reduction | over | of |\n| --- | --- | --- | --- | --- |\n");
  for (int s = 0; s < d->nstatements; s++) {
    const nst_draft_statement *statement = &d->statements[s];
    const char *op = !strcmp(statement->op, "+=")     ? "sum"
                     : !strcmp(statement->op, "max=") ? "maximum"
                     : !strcmp(statement->op, "min=") ? "minimum"
                                                      : "none";
    nst_text_add(b, "| %d | %s | %s | ", s + 1, d->tensors[statement->out].name, op);
    names(d, statement->reduced, b);
    nst_text_add(b, " | ");
    for (const char *at = statement->form; *at; at++) {
      if (*at == '$')
        nst_text_add(b, "%s", d->tensors[statement->inputs[*++at - '1']].name);
      else
        nst_text_add(b, "%c", *at);
    }
    nst_text_add(b, " |\n");
  }
  padding(d, b);
}

void nst_draft_tell_workload(const nst_draft *d, nst_draft_style style, nestor_buffer *out) {
  switch (style) {
  case NST_STYLE_PROSE: in_prose(d, out); return;
  case NST_STYLE_LOOPS: as_loops(d, out); return;
  case NST_STYLE_TABLE: as_table(d, out); return;
  }
}
