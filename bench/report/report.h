/* Reports: run files as figures, and those as text, JSON, CSV and HTML.
 *
 * Files of one model with one way of sampling are one system: their samples are put together, and each repetition of
 * the tasks is one of its runs. What the figures are and where their formulas come from is in docs/bench-report.md. A
 * sample that failed in the infrastructure, was not graded or never came is outstanding: it stays in the denominator,
 * is no pass and no wrong answer, and is told of beside the score. The same files give the same bytes. Everything that
 * a model or a server wrote is shown escaped. */
#ifndef NST_BENCH_REPORT_REPORT_H
#define NST_BENCH_REPORT_REPORT_H
#include "bench/run/runfile.h"

#include <nestor/nestor.h>

typedef struct nst_report nst_report;
enum { NST_REPORT_ERROR = NST_RUNFILE_ERROR };

typedef struct {
  const uint64_t *ks; /* k of pass@k and pass^k; none: 1, 2, 5, 10, .. as far as there are samples */
  size_t nks;
  double level;    /* of intervals; 0: 0.95 */
  size_t examples; /* failures shown of each system */
} nst_report_options;

nst_report *nst_report_new(const nst_report_options *options);
void nst_report_free(nst_report *report);
/* Adds what a run file holds (copied); `name` is shown. false: it could not be read, holds no samples, has samples of
 * tasks it does not hold, or has other tasks of the same names than a file before it. The report is then of no use. */
bool nst_report_add(nst_report *report, const char *name, nst_runfile *run, char error[NST_REPORT_ERROR]);
/* Samples without results in what was added. */
size_t nst_report_ungraded(const nst_report *report);

/* The forms, once all is added; appended to out. */
void nst_report_text(nst_report *report, nestor_buffer *out);
/* Of it the scores, levels and outcomes alone. */
void nst_report_summary(nst_report *report, nestor_buffer *out);
void nst_report_json(nst_report *report, nestor_buffer *out);
void nst_report_csv(nst_report *report, nestor_buffer *out);
void nst_report_html(nst_report *report, nestor_buffer *out);
#endif
