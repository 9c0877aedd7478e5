/* The report as text: tables in columns, or as lists where they are too wide for a terminal; then examples of failures.
 */
#include "bench/report/examples.h"
#include "bench/report/out.h"
#include "bench/report/tables.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 140 };

static void pad(nestor_buffer *out, const char *text, size_t width, bool left) {
  const size_t n = nst_out_width(text);
  const int space = (int)(width > n ? width - n : 0);
  if (left)
    nst_text_add(out, "%s%*s", text, space, "");
  else
    nst_text_add(out, "%*s%s", space, "", text);
}

static void as_list(nestor_buffer *out, const nst_report_table *t) {
  size_t width = 0;
  for (size_t c = 1; c < t->columns; c++)
    if (nst_out_width(t->cells[c]) > width) width = nst_out_width(t->cells[c]);
  for (size_t row = t->columns; row < t->ncells; row += t->columns) {
    nst_text_add(out, "  %s\n", t->cells[row]);
    for (size_t c = 1; c < t->columns; c++) {
      nst_out_text(out, "    ");
      pad(out, t->cells[c], width + 2, true);
      nst_text_add(out, "%s\n", t->cells[row + c]);
    }
  }
}

static void as_columns(nestor_buffer *out, const nst_report_table *t, const size_t *width, size_t total) {
  for (size_t row = 0; row < t->ncells; row += t->columns) {
    nestor_buffer *line = nestor_buffer_new();
    for (size_t c = 0; c < t->columns; c++) {
      nst_out_text(line, "  ");
      pad(line, t->cells[row + c], width[c], nst_report_table_is_text(t, c));
    }
    size_t size = nestor_buffer_size(line); /* no blanks at the end */
    while (size && nestor_buffer_data(line)[size - 1] == ' ') size--;
    nestor_buffer_append(out, nestor_buffer_data(line), size);
    nst_out_text(out, "\n");
    nestor_buffer_free(line);
    if (row) continue;
    nst_out_text(out, "  ");
    for (size_t i = 2; i < total; i++) nst_out_text(out, "-");
    nst_out_text(out, "\n");
  }
}

static void table(nestor_buffer *out, const nst_report_table *t) {
  size_t *width = nst_memory_new(t->columns, sizeof *width), total = 0;
  for (size_t i = 0; i < t->ncells; i++)
    if (nst_out_width(t->cells[i]) > width[i % t->columns]) width[i % t->columns] = nst_out_width(t->cells[i]);
  for (size_t c = 0; c < t->columns; c++) total += width[c] + 2;
  nst_text_add(out, "%s\n", t->title);
  if (total > WIDEST)
    as_list(out, t);
  else
    as_columns(out, t, width, total);
  for (size_t i = 0; i < t->nnotes; i++) nst_text_add(out, "  %s\n", t->notes[i]);
  nst_out_text(out, "\n");
  free(width);
}

/* Every line of a text, indented; at most so many. */
static void indented(nestor_buffer *out, const char *text, size_t most) {
  char *clean = nst_out_clean(text, false, 0);
  size_t n = 0;
  for (const char *s = clean; *s && n < most; n++) {
    const size_t size = strcspn(s, "\n");
    nst_text_add(out, "    | %.*s\n", (int)size, s);
    s += size + (s[size] == '\n');
    if (*s && n + 1 == most) nst_out_text(out, "    | ...\n");
  }
  free(clean);
}

/* What was said in place of an answer. */
static void beginning(nestor_buffer *out, const nst_report_example *e) {
  enum { SHOWN = 200 };
  if (!e->completion || (e->outcome != NST_OUTCOME_NO_ANSWER && e->outcome != NST_OUTCOME_REFUSED)) return;
  char *clean = nst_out_clean(e->completion, true, SHOWN);
  nst_text_add(out, *clean ? "    the answer: %s\n" : "    the answer is empty\n", clean);
  free(clean);
}

static void examples(nestor_buffer *out, const nst_report *r, const nst_report_system *s) {
  enum { LINES = 12 };
  const size_t n = nst_report_examples_shown(r, s);
  if (!n) return;
  char *name = nst_out_clean(s->name, true, 0);
  nst_text_add(out, "%s: examples of failures\n", name);
  free(name);
  for (size_t i = 0; i < n; i++) {
    const nst_report_example *e = nst_report_example_at(s, i);
    char *id = nst_out_clean(r->tasks[e->task].id, true, 80), *sample = nst_out_clean(e->sample_id, true, 40);
    nst_text_add(out, "  %s, sample %s: %s\n", id, sample, nst_outcome_name(e->outcome));
    free(id), free(sample);
    nst_report_difference d = nst_report_difference_make(e);
    if (*d.where) nst_text_add(out, "    at %s\n", d.where);
    for (size_t k = 0; k < d.n && k < LINES; k++)
      nst_text_add(out, "    %-28s expected %s, got %s\n", d.items[k].name, d.items[k].expected, d.items[k].got);
    if (d.n > LINES) nst_text_add(out, "    and %zu more\n", d.n - LINES);
    if (*d.message)
      indented(out, d.message, LINES);
    else if (!d.n && e->completion)
      indented(out, e->completion, LINES);
    if (*d.message || d.n) beginning(out, e);
    nst_report_difference_free(&d);
  }
  nst_out_text(out, "\n");
}

void nst_report_text(nst_report *r, nestor_buffer *out) {
  nst_report_tables all = nst_report_tables_make(r);
  for (size_t i = 0; i < all.n; i++) table(out, &all.items[i]);
  for (size_t i = 0; i < r->nsystems; i++) examples(out, r, &r->systems[i]);
  nst_report_tables_free(all);
}

void nst_report_summary(nst_report *r, nestor_buffer *out) {
  static const char *const shown[] = {"scores", "levels", "outcomes"};
  nst_report_tables all = nst_report_tables_make(r);
  for (size_t i = 0; i < all.n; i++)
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
      if (!strcmp(all.items[i].id, shown[k])) table(out, &all.items[i]);
  nst_report_tables_free(all);
}
