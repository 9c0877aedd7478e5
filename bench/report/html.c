/* The report as one page of HTML that needs nothing else: styles and pictures are in it, a policy in its head forbids
 * every request, and no text of a model or a server stands in it but escaped. */
#include "bench/report/charts.h"
#include "bench/report/examples.h"
#include "bench/report/out.h"
#include "bench/report/parts.h"
#include "bench/report/tables.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
  ":root{color-scheme:light "
  "dark;--ground:#ffffff;--ink:#1b2430;--faint:#566273;--line:#d6dce4;--soft:#f3f5f8;--mark:#1f6fb2;--good:#1f7a4c;--"
  "warn:#c0392b}\n"
  "@media "
  "(prefers-color-scheme:dark){:root{--ground:#14181e;--ink:#e6eaf0;--faint:#a7b2c0;--line:#343d49;--soft:#1d232b;--"
  "mark:#6cb2ee;--good:#4cbf86;--warn:#f0806f}}\n"
  "body{margin:0 auto;max-width:70rem;padding:1.5rem;background:var(--ground);color:var(--ink);font:15px/1.5 "
  "system-ui,sans-serif}\n"
  "h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2rem 0 .4rem}a{color:var(--mark)}\n"
  ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.87rem;font-variant-numeric:tabular-nums}\n"
  "th,td{padding:.22rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
  "th:first-child,td:first-child{text-align:left;padding-left:0}thead th{color:var(--faint);font-weight:600}tbody "
  "th{font-weight:500}\n"
  "p.note{margin:.35rem 0;color:var(--faint);font-size:.87rem}p.warning{margin:.35rem "
  "0;color:var(--warn);font-weight:600}\n"
  "details{margin:.5rem 0;border:1px solid var(--line);border-radius:6px;padding:.4rem .8rem}summary{cursor:pointer}\n"
  "pre{background:var(--soft);padding:.7rem;border-radius:4px;overflow-x:auto;font-size:.82rem;white-space:pre-wrap;"
  "overflow-wrap:anywhere;unicode-bidi:isolate;direction:ltr}\n"
  "th.text,td.text{text-align:left}table.facts{margin:.6rem 0 1rem}\n"
  "table.facts th,table.facts td{text-align:left;vertical-align:top;white-space:normal}table.facts "
  "td{overflow-wrap:anywhere}table.facts tbody th{white-space:nowrap}\n"
  "td.bad{color:var(--warn)}td.right{color:var(--good)}\n";

static void notes(nestor_buffer *out, const nst_report_table *t) {
  for (size_t i = 0; i < t->nnotes; i++) {
    nst_text_add(out, "<p class=\"%s\">",
                 strstr(t->notes[i], "to redo") || strstr(t->notes[i], "NO SCORE") || strstr(t->notes[i], "cached") || strstr(t->notes[i], "no score")
                   ? "warning"
                   : "note");
    nst_out_html(out, t->notes[i]);
    nst_out_text(out, "</p>\n");
  }
}

static void table(nestor_buffer *out, const nst_report_table *t) {
  nst_out_text(out, "<div class=\"wide\"><table>\n<thead><tr>");
  for (size_t c = 0; c < t->columns; c++) {
    nst_out_text(out, nst_report_table_is_text(t, c) ? "<th scope=\"col\" class=\"text\">" : "<th scope=\"col\">");
    nst_out_html(out, t->cells[c]);
    nst_out_text(out, "</th>");
  }
  nst_out_text(out, "</tr></thead>\n<tbody>\n");
  for (size_t row = t->columns; row < t->ncells; row += t->columns) {
    nst_out_text(out, "<tr>");
    for (size_t c = 0; c < t->columns; c++) {
      nst_out_text(out, !c ? "<th scope=\"row\">" : nst_report_table_is_text(t, c) ? "<td class=\"text\">" : "<td>");
      nst_out_html(out, t->cells[row + c]);
      nst_out_text(out, c ? "</td>" : "</th>");
    }
    nst_out_text(out, "</tr>\n");
  }
  nst_out_text(out, "</tbody></table></div>\n");
  notes(out, t);
}

/* A table for each row, from top to bottom: for what has long texts. */
static void upright(nestor_buffer *out, const nst_report_table *t) {
  for (size_t row = t->columns; row < t->ncells; row += t->columns) {
    nst_out_text(out, "<table class=\"facts\"><thead><tr><th scope=\"col\" colspan=\"2\">");
    nst_out_html(out, t->cells[row]);
    nst_out_text(out, "</th></tr></thead><tbody>\n");
    for (size_t c = 1; c < t->columns; c++) {
      nst_out_text(out, "<tr><th scope=\"row\">");
      nst_out_html(out, t->cells[c]);
      nst_out_text(out, "</th><td>");
      nst_out_html(out, t->cells[row + c]);
      nst_out_text(out, "</td></tr>\n");
    }
    nst_out_text(out, "</tbody></table>\n");
  }
  notes(out, t);
}

static bool is(const nst_report_table *t, const char *id) { return !strcmp(t->id, id); }

static void section(nestor_buffer *out, const nst_report *r, const nst_report_table *t) {
  nst_text_add(out, "<section id=\"%s\">\n<h2>", t->id);
  nst_out_html(out, t->title);
  nst_out_text(out, "</h2>\n");
  if (is(t, "scores")) nst_chart_scores(out, r);
  if (is(t, "outcomes")) nst_chart_outcomes(out, r);
  if (is(t, "runs")) {
    nst_chart_runs(out, r);
    nst_out_text(out, "<p class=\"note\">a dot: one run; the red line: the mean of the runs; \xC2\xB1: their standard "
                      "deviation</p>\n");
  }
  if (is(t, "pairs")) nst_chart_pairs(out, r);
  if (!strncmp(t->id, "kinds-", 6)) {
    nst_chart_heat(out, r, &r->systems[strtoul(t->id + 6, NULL, 10)]);
    nst_out_text(out, "<details><summary>as a table, with intervals</summary>\n");
    table(out, t);
    nst_out_text(out, "</details>\n");
  } else if (!strncmp(t->id, "parts-", 6)) {
    nst_chart_parts(out, &r->systems[strtoul(t->id + 6, NULL, 10)]);
    nst_out_text(out, "<details><summary>as a table</summary>\n");
    table(out, t);
    nst_out_text(out, "</details>\n");
  } else if (is(t, "files"))
    upright(out, t);
  else
    table(out, t);
  nst_out_text(out, "</section>\n");
}

/* ---- examples ------------------------------------------------------------- */

static void difference(nestor_buffer *out, const nst_report_example *e) {
  nst_report_difference d = nst_report_difference_make(e);
  if (*d.where) {
    nst_out_text(out, "<p class=\"note\">at ");
    nst_out_html(out, d.where);
    nst_out_text(out, "</p>\n");
  }
  if (d.n) {
    nst_out_text(out, "<div class=\"wide\"><table class=\"diff\"><thead><tr><th scope=\"col\">figure</th><th "
                      "scope=\"col\">expected</th>"
                      "<th scope=\"col\">got</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < d.n; i++) {
      nst_out_text(out, "<tr><th scope=\"row\">");
      nst_out_html(out, d.items[i].name);
      nst_out_text(out, "</th><td class=\"right\">");
      nst_out_html(out, d.items[i].expected);
      nst_out_text(out, "</td><td class=\"bad\">");
      nst_out_html(out, d.items[i].got);
      nst_out_text(out, "</td></tr>\n");
    }
    nst_out_text(out, "</tbody></table></div>\n");
  }
  if (*d.message) {
    nst_out_text(out, "<pre class=\"messages\">");
    nst_out_html(out, d.message);
    nst_out_text(out, "</pre>\n");
  }
  nst_report_difference_free(&d);
}

static bool has_examples(const nst_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->nsystems; i++) any = any || nst_report_examples_shown(r, &r->systems[i]);
  return any;
}

static void examples(nestor_buffer *out, const nst_report *r) {
  if (!has_examples(r)) return;
  nst_out_text(out, "<section id=\"failures\">\n<h2>Examples of failures</h2>\n");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    for (size_t k = 0; k < nst_report_examples_shown(r, s); k++) {
      const nst_report_example *e = nst_report_example_at(s, k);
      nst_out_text(out, "<details><summary>");
      nst_out_html(out, s->name);
      nst_out_text(out, ": ");
      nst_out_html(out, r->tasks[e->task].id);
      nst_out_text(out, ", sample ");
      nst_out_html(out, e->sample_id);
      nst_text_add(out, ": <b>%s</b></summary>\n", nst_outcome_name(e->outcome));
      difference(out, e);
      if (e->completion) {
        nst_out_text(out, "<pre class=\"answer\">");
        nst_out_html(out, e->completion);
        nst_out_text(out, "</pre>\n");
      }
      nst_out_text(out, "</details>\n");
    }
  }
  nst_out_text(out, "</section>\n");
}

/* ---- the page ------------------------------------------------------------- */

void nst_report_html(nst_report *r, nestor_buffer *out) {
  nst_report_tables all = nst_report_tables_make(r);
  nst_out_text(
    out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" "
         "content=\"no-referrer\">\n"
         "<title>Nestor benchmark report</title>\n<style>\n");
  nst_out_text(out, style);
  nst_out_text(out, nst_charts_style);
  nst_out_text(out, "</style>\n</head>\n<body>\n<h1>Nestor benchmark report</h1>\n<p class=\"note\">");
  for (size_t i = 0; i < all.n; i++) {
    if (!*all.items[i].brief) continue;
    nst_text_add(out, "%s<a href=\"#%s\">", i ? " \xC2\xB7 " : "", all.items[i].id);
    nst_out_html(out, all.items[i].brief);
    nst_out_text(out, "</a>");
  }
  if (has_examples(r)) nst_out_text(out, " \xC2\xB7 <a href=\"#failures\">Failures</a>");
  nst_out_text(out, "</p>\n");
  for (size_t i = 0; i < all.n; i++) section(out, r, &all.items[i]);
  examples(out, r);
  nst_out_text(out, "</body>\n</html>\n");
  nst_report_tables_free(all);
}
