/* Pictures in SVG: scores with intervals, the heat map, bars of outcomes, dots of runs, differences of pairs.
 *
 * Numbers have two decimals whatever the locale. Every mark has a title with its figures, and what a picture shows
 * stands in a table beside it. */
#include "bench/report/charts.h"

#include "bench/report/out.h"
#include "bench/report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 24 }; /* characters of a name beside a row */
static const int WIDTH = 760, LEFT = 210, RIGHT = 60, ROW = 30, TOP = 8, AXIS = 34,
                 PLOT = 490; /* LEFT + PLOT + RIGHT = WIDTH */

const char nst_charts_style[] =
  "svg{display:block;width:760px;height:auto;margin:.5rem 0}\n" /* narrow screens scroll: letters keep their size */
  "svg text{font:13px system-ui,sans-serif;fill:var(--ink)}svg .small{font-size:11px;fill:var(--faint)}\n"
  "svg .grid{stroke:var(--line);stroke-width:1}svg .axis{stroke:var(--faint);stroke-width:1}\n"
  "svg .bar{stroke:var(--mark);stroke-width:3;stroke-linecap:round}svg "
  ".dot{fill:var(--mark);stroke:var(--ground);stroke-width:1.5}\n"
  "svg .open{stroke:var(--mark);stroke-width:3;stroke-dasharray:2 5}svg .run{fill:var(--mark);fill-opacity:.45}svg "
  ".mean{stroke:var(--warn);stroke-width:2}\n"
  "svg .empty{fill:none;stroke:var(--line);stroke-dasharray:3 3}svg .dark{fill:#ffffff}svg .light{fill:#000000}\n"
  ".o-passed{fill:var(--good)}.o-wrong{fill:#d1495b}.o-illegal{fill:#e07b39}.o-type{fill:#e6a532}.o-syntax{fill:#"
  "c9b23a}\n"
  ".o-no_answer{fill:#9a6fb0}.o-refused{fill:#b0579b}.o-limit{fill:#6f5fa8}.o-crashed{fill:#7c4a3a}\n"
  ".o-truncated{fill:#5f9ea8}.o-infra_error{fill:#8b95a3}.o-ungraded{fill:#b3bac4}.o-missing{fill:var(--line)}\n"
  "svg .edge{stroke:var(--ground);stroke-width:1}\n";

static void open_svg(nestor_buffer *out, double height, const char *what) {
  nst_text_add(out, "<div class=\"wide\"><svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"%s\">\n", WIDTH, height,
               what);
}

static void text_at(nestor_buffer *out, double x, double y, const char *anchor, const char *class, const char *text) {
  nst_text_add(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
  nst_out_html(out, text);
  nst_out_text(out, "</text>\n");
}

/* With a sign, or without. */
static void figure(nestor_buffer *out, double value, int digits, bool sign) {
  nst_text_add(out, sign ? "%+.*f" : "%.*f", digits, value);
}

static void number_at(nestor_buffer *out, double x, double y, const char *anchor, const char *class, double value,
                      int digits, bool sign) {
  nst_text_add(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
  figure(out, value, digits, sign);
  nst_out_text(out, "</text>\n");
}

static void name_at(nestor_buffer *out, double y, const char *name) {
  char *clean = nst_out_clean(name, true, NAME);
  text_at(out, LEFT - 12, y, "end", "name", clean);
  free(clean);
}

static double place(double value, double low, double high) { return LEFT + PLOT * (value - low) / (high - low); }

/* Grid and numbers of a horizontal axis below rows. */
static void axis(nestor_buffer *out, double low, double high, double step, double bottom, bool sign) {
  const int n = (int)lround((high - low) / step);
  for (int i = 0; i <= n; i++) {
    const double value = low + step * i, x = place(value, low, high);
    nst_text_add(out, "<path d=\"M%.2f %d V%.2f\" class=\"grid\"/>\n", x, TOP, bottom);
    number_at(out, x, bottom + 16, "middle", "small", fabs(value) < 1e-9 ? 0.0 : value, 1, sign);
  }
}

/* ---- scores and pairs ----------------------------------------------------- */

static void whisker(nestor_buffer *out, double y, double low, double value, double high, double from, double to,
                    bool sign) {
  nst_out_text(out, "<g>");
  if (!isnan(low))
    nst_text_add(out, "<path d=\"M%.2f %.2f H%.2f\" class=\"bar\"/>", place(fmax(low, from), from, to), y,
                 place(fmin(high, to), from, to));
  nst_text_add(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"5.5\" class=\"dot\"/><title>", place(value, from, to), y);
  figure(out, value, 3, sign);
  if (!isnan(low)) {
    nst_out_text(out, " (");
    figure(out, low, 3, sign);
    nst_out_text(out, " .. ");
    figure(out, high, 3, sign);
    nst_out_text(out, ")");
  }
  nst_out_text(out, "</title></g>\n");
  number_at(out, WIDTH - RIGHT + 10, y + 4.5, "start", "value", value, 3, sign);
}

void nst_chart_scores(nestor_buffer *out, const nst_report *r) {
  const double bottom = TOP + ROW * (double)r->nsystems;
  open_svg(out, bottom + AXIS, "pass@1 of each model with its interval");
  axis(out, 0, 1, 0.2, bottom, false);
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    const double y = TOP + ROW * ((double)i + 0.5);
    const nst_interval interval = s->interval[NST_KIND_COUNT][NST_LEVELS];
    name_at(out, y + 4.5, s->name);
    const nst_interval *bounds = &s->bounds[NST_KIND_COUNT][NST_LEVELS];
    if (nst_report_incomplete(s, NST_KIND_COUNT, NST_LEVELS)) {
      nst_text_add(out,
                   "<path d=\"M%.2f %.2f H%.2f\" class=\"open\"><title>incomplete: from %.3f to %.3f</title></path>\n",
                   place(bounds->low, 0, 1), y, place(bounds->high, 0, 1), bounds->low, bounds->high);
      nst_text_add(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"start\" class=\"value\">&gt;= %.2f</text>\n",
                   WIDTH - RIGHT + 6, y + 4.5, bounds->low);
      continue;
    }
    whisker(out, y, interval.low, s->pass[NST_KIND_COUNT][NST_LEVELS].mean, interval.high, 0, 1, false);
  }
  nst_out_text(out, "</svg></div>\n");
}

void nst_chart_pairs(nestor_buffer *out, const nst_report *r) {
  if (!r->npairs) return;
  const double bottom = TOP + 1.4 * ROW * (double)r->npairs;
  open_svg(out, bottom + AXIS, "differences of models, task by task, with intervals");
  axis(out, -1, 1, 0.5, bottom, true);
  nst_text_add(out, "<path d=\"M%.2f %d V%.2f\" class=\"axis\"/>\n", place(0, -1, 1), TOP, bottom);
  for (size_t i = 0; i < r->npairs; i++) {
    const nst_report_pair *p = &r->pairs[i];
    const double y = TOP + 1.4 * ROW * ((double)i + 0.5);
    name_at(out, y - 3, r->systems[p->a].name);
    char *clean = nst_out_clean(r->systems[p->b].name, true, NAME - 6);
    nst_text_add(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\" class=\"name\">minus ", LEFT - 12, y + 12);
    nst_out_html(out, clean);
    nst_out_text(out, "</text>\n");
    free(clean);
    const double d = p->paired.difference.mean;
    whisker(out, y, p->interval.low, fabs(d) < 0.0005 ? 0 : d, p->interval.high, -1, 1, true);
  }
  nst_out_text(out, "</svg></div>\n");
}

/* ---- heat map ------------------------------------------------------------- */

/* From sand to deep blue. What is written on it is white or black, whichever has the better contrast (that is 4.5 and
 * more on any ground); contrast by the luminance of WCAG 2. true: white. */
static bool shade(nestor_buffer *out, double share) {
  static const int low[] = {0xf2, 0xe6, 0xcf}, high[] = {0x16, 0x4e, 0x7a};
  static const double weight[] = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  nst_out_text(out, "#");
  for (int c = 0; c < 3; c++) {
    const long value = lround(low[c] + (high[c] - low[c]) * share);
    const double x = (double)value / 255;
    luminance += weight[c] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    nst_text_add(out, "%02x", (unsigned)value);
  }
  return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05;
}

static void heat_cell(nestor_buffer *out, double x, double y, double width, const nst_mean *m, nst_interval interval,
                      const char *kind, int level, bool incomplete) {
  const int gap = 2;
  if (!m->n) {
    nst_text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" class=\"empty\"/>\n", x + gap, y + gap,
                 width - 2 * gap, ROW - 2 * gap);
    return;
  }
  nst_text_add(out, "<g><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" rx=\"3\" fill=\"", x + 1, y + 1,
               width - 2, ROW - 2);
  const bool white = shade(out, fmin(1, fmax(0, m->mean)));
  nst_text_add(out, "\"/><title>%s, ", kind);
  if (level < NST_LEVELS)
    nst_text_add(out, "level %d: ", level + 1);
  else
    nst_out_text(out, "all levels: ");
  if (incomplete)
    nst_text_add(out, "%.3f or more, incomplete, %zu tasks</title>", m->mean, m->n);
  else
    nst_text_add(out, "%.3f (%.3f .. %.3f), %zu tasks</title>", m->mean, interval.low, interval.high, m->n);
  nst_text_add(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" class=\"%s\">%s%.2f</text></g>\n",
               x + width / 2, y + ROW / 2 + 4.5, white ? "dark" : "light", incomplete ? "&gt;= " : "", m->mean);
}

void nst_chart_heat(nestor_buffer *out, const nst_report *r, const nst_report_system *s) {
  (void)r;
  int rows = 0;
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++) rows += s->pass[kind][NST_LEVELS].n > 0;
  const double width = (double)PLOT / (int)NST_REPORT_LEVELS;
  open_svg(out, TOP + ROW * (rows + 1), "pass@1 by kind and level");
  for (int level = 0; level < NST_REPORT_LEVELS; level++) {
    const double x = LEFT + width * (level + 0.5);
    if (level < NST_LEVELS)
      nst_text_add(out, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\" class=\"small\">level %d</text>\n", x,
                   TOP + 16, level + 1);
    else
      text_at(out, x, TOP + 16, "middle", "small", "all");
  }
  int row = 0;
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++) {
    if (!s->pass[kind][NST_LEVELS].n) continue;
    const double y = TOP + ROW * ++row;
    const char *name = kind < NST_KIND_COUNT ? nst_kind_name((nst_kind)kind) : "all";
    text_at(out, LEFT - 12, y + ROW / 2 + 4.5, "end", "name", name);
    for (int level = 0; level < NST_REPORT_LEVELS; level++)
      heat_cell(out, LEFT + width * level, y, width, &s->pass[kind][level], s->interval[kind][level], name, level,
                nst_report_incomplete(s, kind, level));
  }
  nst_out_text(out, "</svg></div>\n");
}

/* ---- kinds and metrics ---------------------------------------------------- */

static const int PARTS_LEFT = 128, PARTS_KIND = 79, PARTS_FIELD = 14; /* eight kinds, five fields each */

static void part_field(nestor_buffer *out, double x, double y, const nst_report_metric *m, const char *metric,
                       const char *kind, int level) {
  if (!m->total) {
    nst_text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%d\" class=\"empty\"/>\n", x + 1, y + 4,
                 PARTS_FIELD - 2, ROW - 8);
    return;
  }
  const double share = (double)m->right / (double)m->total;
  nst_text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%d\" fill=\"", x, y + 2, PARTS_FIELD, ROW - 4);
  shade(out, share);
  nst_out_text(out, "\"><title>");
  nst_out_html(out, metric);
  nst_text_add(out, " in %s, level %d: %" PRIu64 " of %" PRIu64 " (%.3f)</title></rect>\n", kind, level, m->right,
               m->total, share);
}

/* Rows are metrics, columns kinds; a field of a cell is a level, the first on the left. */
void nst_chart_parts(nestor_buffer *out, const nst_report_system *s) {
  const int head = 2;
  open_svg(out, TOP + ROW * ((double)s->nmetrics + head), "right figures by kind, level and metric");
  for (size_t i = 0; i < s->nmetrics; i++) {
    char *clean = nst_out_clean(s->metrics[i].name, true, (size_t)PARTS_LEFT / 8);
    text_at(out, PARTS_LEFT - 12, TOP + ROW * ((double)i + head + 0.5) + 4.5, "end", "name", clean);
    free(clean);
  }
  int column = 0;
  for (int kind = 0; kind < NST_KIND_COUNT; kind++) {
    if (!nst_parts_has_kind(s, (nst_kind)kind)) continue;
    const char *name = nst_kind_name((nst_kind)kind);
    const double x = PARTS_LEFT + PARTS_KIND * column++;
    text_at(out, x + PARTS_FIELD * NST_LEVELS / 2.0, TOP + 16, "middle", "small", name);
    for (int level = 1; level <= NST_LEVELS; level++) {
      const double left = x + PARTS_FIELD * (level - 1);
      nst_text_add(out, "<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\" class=\"small\">%d</text>\n",
                   left + PARTS_FIELD / 2.0, TOP + ROW + 18, level);
      for (size_t i = 0; i < s->nmetrics; i++) {
        const nst_report_metric m = nst_parts_sum(s, (nst_kind)kind, level, s->metrics[i].name);
        part_field(out, left, TOP + ROW * ((double)i + head), &m, s->metrics[i].name, name, level);
      }
    }
  }
  nst_out_text(out, "</svg></div>\n");
}

/* ---- outcomes ------------------------------------------------------------- */

enum { BARS = NST_OUTCOME_COUNT + 2 };

static uint64_t bar(const nst_report_system *s, int i, const char **class, const char **title) {
  if (i < NST_OUTCOME_COUNT) {
    *class = *title = nst_outcome_name((nst_outcome)i);
    return s->outcomes[i];
  }
  *class = i == NST_OUTCOME_COUNT ? "ungraded" : "missing";
  *title = i == NST_OUTCOME_COUNT ? "not graded" : "missing";
  return i == NST_OUTCOME_COUNT ? s->ungraded : s->missing;
}

void nst_chart_outcomes(nestor_buffer *out, const nst_report *r) {
  const int legend = 22, across = 5;
  const char *class, *title;
  bool shown[BARS] = {false};
  int nshown = 0;
  for (int b = 0; b < BARS; b++) {
    for (size_t i = 0; i < r->nsystems; i++) shown[b] = shown[b] || bar(&r->systems[i], b, &class, &title);
    nshown += shown[b];
  }
  const double bottom = TOP + ROW * (double)r->nsystems;
  open_svg(out, bottom + 10 + legend * ((nshown + across - 1) / across), "outcomes of the samples of each model");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    const double y = TOP + ROW * (double)i;
    double x = LEFT;
    name_at(out, y + ROW / 2 + 4.5, s->name);
    for (int b = 0; b < BARS; b++) {
      const uint64_t n = bar(s, b, &class, &title);
      if (!n) continue;
      const double width = (double)PLOT * (double)n / (double)s->samples;
      nst_text_add(out,
                   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" class=\"edge o-%s\"><title>%s: %" PRIu64
                   " of %" PRIu64 " (%.1f %%)</title></rect>\n",
                   x, y + 4, width, ROW - 8, class, title, n, s->samples, 100 * (double)n / (double)s->samples);
      x += width;
    }
  }
  for (int b = 0, at = 0; b < BARS; b++) {
    if (!shown[b]) continue;
    bar(&r->systems[0], b, &class, &title);
    const double x = 20 + at % across * (WIDTH - 20.0) / across, y = bottom + 10 + legend * (at / across);
    nst_text_add(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"12\" height=\"12\" class=\"o-%s\"/>\n", x, y, class);
    text_at(out, x + 18, y + 11, "start", "name", title);
    at++;
  }
  nst_out_text(out, "</svg></div>\n");
}

/* ---- runs ----------------------------------------------------------------- */

void nst_chart_runs(nestor_buffer *out, const nst_report *r) {
  size_t rows = 0;
  for (size_t i = 0; i < r->nsystems; i++) rows += r->systems[i].spread.n > 1;
  if (!rows) return;
  const double bottom = TOP + ROW * (double)rows;
  open_svg(out, bottom + AXIS, "pass@1 of each run");
  axis(out, 0, 1, 0.2, bottom, false);
  size_t row = 0;
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    if (s->spread.n < 2) continue;
    const double y = TOP + ROW * ((double)row++ + 0.5);
    name_at(out, y + 4.5, s->name);
    for (size_t k = 0; k < s->nruns; k++) {
      if (!s->runs[k].answered) continue;
      const double share = (double)s->runs[k].passed / (double)s->runs[k].answered;
      nst_text_add(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"5\" class=\"run\"><title>run %zu: %.3f</title></circle>\n",
                   place(share, 0, 1), y, k + 1, share);
    }
    const double x = place(s->spread.mean, 0, 1);
    nst_text_add(
      out, "<path d=\"M%.2f %.2f V%.2f\" class=\"mean\"><title>mean %.3f, standard deviation %.3f</title></path>\n", x,
      y - 10, y + 10, s->spread.mean, s->spread.sd);
    nst_text_add(out, "<text x=\"%d\" y=\"%.2f\" text-anchor=\"start\" class=\"value\">\xC2\xB1%.3f</text>\n",
                 WIDTH - RIGHT + 10, y + 4.5, s->spread.sd);
  }
  nst_out_text(out, "</svg></div>\n");
}
