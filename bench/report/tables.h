/* The tables of a report, filled once and shown as text or as HTML. */
#ifndef NST_BENCH_REPORT_TABLES_H
#define NST_BENCH_REPORT_TABLES_H
#include "bench/report/figures.h"

typedef struct {
  char *id, *title; /* id: of the section in HTML */
  char *brief;      /* of the link to it; "": it has none, being one of several for each model */
  char **cells;     /* rows x columns; the first row is the head, the first column holds names */
  char **notes;
  size_t columns, ncells, nnotes;
} nst_report_table;

typedef struct {
  nst_report_table *items;
  size_t n;
} nst_report_tables;

nst_report_tables nst_report_tables_make(nst_report *report);
/* Whether a column is of words; those are set from the left. */
bool nst_report_table_is_text(const nst_report_table *table, size_t column);
void nst_report_tables_free(nst_report_tables tables);
#endif
