/* What the three forms of a report share. Each appends one evaluation's figures. */
#ifndef NST_DRIVER_REPORT_H
#define NST_DRIVER_REPORT_H
#include "driver/internal.h"

struct nestor_report {
  nestor_format format;
  bool color;
  nst_buffer body;     /* of the evaluations so far */
  nst_buffer failures; /* JSON only: entries of "errors" */
};

void nst_report_table(nst_buffer *out, const nestor_eval *e, bool color);
void nst_report_json(nst_buffer *out, const nestor_eval *e);
void nst_report_csv(nst_buffer *out, const nestor_eval *e);
extern const char nst_report_csv_header[];

/* The compute of a report: the unit that statements run on; several in a cascade are added up. */
typedef struct { nst_buffer name; int64_t instances; nst_rat cycles, energy; } nst_report_compute;
void nst_report_compute_init(nst_report_compute *c, const nestor_eval *e);
void nst_report_compute_fini(nst_report_compute *c);
bool nst_report_is_used(const nst_ir_mapping *m, int level); /* a compute that some statement runs on */

/* The level whose own cycles are the largest of those that overlap: it sets the pace. */
int nst_bottleneck(const nestor_eval *e);
#endif
