/* Pareto fronts as SVG: one staircase a sweep, on logarithmic axes.
 *
 * A point of a front is the least of one metric for the least of the other, so
 * the line between two points is a step: right of it and above, everything can be
 * had. Colours are classes of a style sheet that follows the reader's light or
 * dark setting; numbers are printed with two decimals whatever the locale. Below
 * a metric that is zero somewhere, its axis is linear.
 *
 * The compulsory traffic is what any mapping must move: each element of each
 * input and output once. It is drawn where an axis is off-chip traffic. */
#include "backend/interpreter.h"
#include "base/vec.h"
#include "driver/expectation.h"
#include "driver/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 480, LEFT = 92, RIGHT = 24, TOP = 44, BOTTOM = 62, SERIES = 6 };

typedef struct {
  double x, y;
  const char *title;
} dot;
typedef struct {
  const char *name, *of; /* the sweep and its mapping */
  dot *dots;
  size_t n;
  bool has_best;
  dot best;
} series;

struct nestor_plot {
  nst_arena *arena;
  const char *axes[2]; /* the metrics as written */
  const char *labels[2]; /* and in words, with their unit */
  bool bytes[2];
  bool has_floor[2]; /* compulsory traffic on this axis */
  double floor[2];
  NST_VEC(series) series;
};

nestor_plot *nestor_plot_new(void) {
  nst_arena *arena = nst_arena_new();
  nestor_plot *p = NST_NEW(arena, nestor_plot);
  p->arena = arena;
  return p;
}

void nestor_plot_free(nestor_plot *plot) {
  if (plot) nst_arena_free(plot->arena);
}

/* ---- collecting ---- */

static const char *keep_text(nestor_plot *p, nst_buffer *text) {
  const char *out = nst_arena_strndup(p->arena, text->len ? text->text : "", text->len);
  nst_buffer_fini(text);
  return out;
}

static const char *title_of(nestor_plot *p, nestor_sweep *s, const nst_sweep_point *point) {
  nst_buffer text = {0};
  const nst_value *params = nst_sweep_params(s, point);
  for (int k = 0; k < s->ir->npoints; k++) {
    nst_buffer_printf(&text, "%s%s = ", k ? ", " : "", s->mapping->scope.params[s->ir->points[k].param].name);
    nst_sweep_value(&text, &params[s->ir->points[k].param]);
  }
  for (int b = 0; b < s->variants.npermutes; b++) {
    nst_buffer_puts(&text, text.len ? "; " : "");
    nst_sweep_order(s, point, b, " ", &text);
  }
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    nst_buffer_puts(&text, "\n");
    nst_sweep_metric_name(s, i, &text);
    nst_buffer_puts(&text, " = ");
    nst_number_json(&text, nst_sweep_metric(s, i, point));
  }
  return keep_text(p, &text);
}

static dot dot_of(nestor_plot *p, nestor_sweep *s, const nst_sweep_point *point) {
  const int first = s->ir->nobjectives;
  return (dot){nst_rat_to_double(point->metrics[first]), nst_rat_to_double(point->metrics[first + 1]),
               title_of(p, s, point)};
}

static bool is_offchip(const nestor_sweep *s, const nst_expr *e) {
  return e->kind == NST_X_METRIC &&
         (e->metric == NST_METRIC_OFFCHIP ||
          (e->metric == NST_METRIC_TRAFFIC && e->tensor < 0 && e->level == s->mapping->outermost));
}

/* "off-chip traffic, bytes" */
static const char *label_of(nestor_plot *p, const nestor_sweep *s, const nst_expr *e, const char *written) {
  nst_buffer text = {0};
  const bool metric = e->kind == NST_X_METRIC;
  if (is_offchip(s, e)) nst_buffer_puts(&text, "off-chip traffic");
  else if (metric && e->metric == NST_METRIC_USAGE && e->level >= 0)
    nst_buffer_printf(&text, "buffer %s", s->mapping->hardware.levels[e->level].name);
  else if (metric && e->metric == NST_METRIC_EDP) nst_buffer_puts(&text, "energy-delay product");
  else if (metric && e->metric == NST_METRIC_CYCLES && e->level < 0) nst_buffer_puts(&text, "time");
  else nst_buffer_puts(&text, written);
  if (metric && *nst_metric_unit(e->metric)) nst_buffer_printf(&text, ", %s", nst_metric_unit(e->metric));
  return keep_text(p, &text);
}

/* Bytes of all inputs and outputs, each element once: the tiles of the mapping without its loops. */
static bool compulsory(nestor_sweep *s, const nst_sweep_point *point, double *out) {
  nst_arena *work = nst_arena_new();
  const nst_ir_mapping *m =
    nst_variant_splits(work, &s->variants, NST_NEW_ARRAY(work, s->mapping->workload.ndims, bool));
  nst_interpreter *i = nst_interpreter_new(m);
  const nst_value *params = nst_sweep_params(s, point);
  const nst_counts *counts = params ? nst_interpreter_eval(i, params, NULL) : NULL;
  *out = 0;
  for (int t = 0; counts && t < m->workload.ntensors; t++) {
    int64_t elements = 0;
    if (m->workload.tensors[t].role == NST_ROLE_INTERMEDIATE) continue;
    nst_metrics_counter(&elements, nst_interpreter_nest(i), counts, NST_METRIC_TILE, m->outermost, t);
    *out += (double)elements * (double)nst_interpreter_nest(i)->bits[t] / 8;
  }
  nst_interpreter_free(i);
  nst_arena_free(work);
  return counts && *out > 0;
}

nestor_status nestor_plot_add(nestor_plot *p, nestor_sweep *s) {
  const size_t n = s->found ? nst_sweep_result_nfront(s->found) : 0;
  if (!n || s->ir->npareto != 2) return NESTOR_USAGE;
  for (int a = 0; a < 2; a++) {
    nst_buffer text = {0};
    const nst_expr *e = s->ir->pareto[a];
    nst_source_quote(&text, s->program->sources, e->span);
    const char *name = keep_text(p, &text);
    if (p->series.len && strcmp(name, p->axes[a])) return NESTOR_USAGE;
    p->axes[a] = name;
    p->labels[a] = label_of(p, s, e, name);
    p->bytes[a] = e->kind == NST_X_METRIC && !strcmp(nst_metric_unit(e->metric), "bytes");
    double least;
    if (is_offchip(s, e) && compulsory(s, nst_sweep_result_front(s->found, 0), &least)) {
      if (!p->has_floor[a] || least < p->floor[a]) p->floor[a] = least;
      p->has_floor[a] = true;
    }
  }
  series *x = nst_vec_push(p->arena, &p->series);
  *x = (series){.name = nst_arena_strndup(p->arena, s->ir->name, strlen(s->ir->name)),
                .of = nst_arena_strndup(p->arena, s->mapping->name, strlen(s->mapping->name)),
                .dots = NST_NEW_ARRAY(p->arena, n, dot),
                .n = n};
  for (size_t i = 0; i < n; i++) x->dots[i] = dot_of(p, s, nst_sweep_result_front(s->found, i));
  x->has_best = nst_sweep_result_nbest(s->found) > 0;
  if (x->has_best) x->best = dot_of(p, s, nst_sweep_result_best(s->found, 0));
  return NESTOR_OK;
}

/* ---- axes ---- */

typedef struct {
  double least, most;
  bool log;
  double from, to; /* pixels */
} axis;

static double place(const axis *a, double v) {
  const double at =
    a->log ? (log(v) - log(a->least)) / (log(a->most) - log(a->least)) : (v - a->least) / (a->most - a->least);
  return a->from + at * (a->to - a->from);
}

static axis axis_of(const nestor_plot *p, int which) {
  axis a = {.least = INFINITY, .most = -INFINITY};
  for (size_t k = 0; k < p->series.len; k++) {
    const series *x = &p->series.items[k];
    for (size_t i = 0; i < x->n + x->has_best; i++) {
      const dot *d = i < x->n ? &x->dots[i] : &x->best;
      a.least = fmin(a.least, which ? d->y : d->x);
      a.most = fmax(a.most, which ? d->y : d->x);
    }
  }
  if (p->has_floor[which]) a.least = fmin(a.least, p->floor[which]);
  a.log = a.least > 0;
  const double room = a.log ? pow(fmax(a.most / a.least, 1.5), 0.04) : 0.04 * fmax(a.most - a.least, 1);
  a.least = a.log ? a.least / room : a.least - room;
  a.most = a.log ? a.most * room : a.most + room;
  a.from = which ? HEIGHT - BOTTOM : LEFT;
  a.to = which ? TOP : WIDTH - RIGHT;
  return a;
}

/* Two decimals, a point between them. */
static void number(nst_buffer *out, double v) {
  const long long hundredths = llround(v * 100);
  const long long size = hundredths < 0 ? -hundredths : hundredths;
  nst_buffer_printf(out, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100, size % 100);
}

static void escaped(nst_buffer *out, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      nst_buffer_puts(out, "&lt;");
    else if (*text == '>')
      nst_buffer_puts(out, "&gt;");
    else if (*text == '&')
      nst_buffer_puts(out, "&amp;");
    else
      nst_buffer_putc(out, *text);
  }
}

static void tick_label(nst_buffer *out, double v, bool bytes) {
  static const char *const decimal[] = {"", " k", " M", " G", " T", " P", " E"};
  static const char *const binary[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  int unit = 0;
  for (const double base = bytes ? 1024 : 1000; fabs(v) >= base && unit < 6; unit++) v /= base;
  nst_number_decimal(out, v, 2);
  nst_buffer_puts(out, bytes ? binary[unit] : decimal[unit]);
}

static void line(nst_buffer *out, const char *class, double x1, double y1, double x2, double y2) {
  nst_buffer_printf(out, "<line class=\"%s\" x1=\"", class);
  number(out, x1);
  nst_buffer_puts(out, "\" y1=\"");
  number(out, y1);
  nst_buffer_puts(out, "\" x2=\"");
  number(out, x2);
  nst_buffer_puts(out, "\" y2=\"");
  number(out, y2);
  nst_buffer_puts(out, "\"/>\n");
}

static void text_at(nst_buffer *out, const char *class, double x, double y, const char *text) {
  nst_buffer_printf(out, "<text class=\"%s\" x=\"", class);
  number(out, x);
  nst_buffer_puts(out, "\" y=\"");
  number(out, y);
  nst_buffer_puts(out, "\">");
  escaped(out, text);
  nst_buffer_puts(out, "</text>\n");
}

static void tick(nst_buffer *out, const axis *a, bool vertical, double v, bool bytes) {
  if (v < a->least || v > a->most) return;
  const double at = place(a, v);
  nst_buffer label = {0};
  tick_label(&label, v, bytes);
  if (vertical) {
    line(out, "grid", LEFT, at, WIDTH - RIGHT, at);
    text_at(out, "tick end", LEFT - 8, at + 4, label.text);
  } else {
    line(out, "grid", at, TOP, at, HEIGHT - BOTTOM);
    text_at(out, "tick middle", at, HEIGHT - BOTTOM + 18, label.text);
  }
  nst_buffer_fini(&label);
}

/* Powers of the base, or some of them, or numbers between them: four to eight ticks. */
static void ticks(nst_buffer *out, const axis *a, bool vertical, bool bytes) {
  const int most = vertical ? 8 : 7;
  if (!a->log) {
    double step = pow(10, floor(log10((a->most - a->least) / 4)));
    while ((a->most - a->least) / step > most) step *= 2;
    for (double v = ceil(a->least / step) * step; v <= a->most; v += step) tick(out, a, vertical, v, bytes);
    return;
  }
  const double base = bytes ? 2 : 10, span = (log(a->most) - log(a->least)) / log(base);
  if (span < 2.5) { /* less than three powers: one to nine of each */
    for (double power = pow(base, floor(log(a->least) / log(base))); power <= a->most; power *= base)
      for (int i = 0; i < (bytes ? 2 : 3); i++)
        tick(out, a, vertical, power * (bytes ? 1 + 0.5 * i : i == 0 ? 1 : i == 1 ? 2 : 5), bytes);
    return;
  }
  const int step = (int)ceil(span / most);
  for (int k = (int)ceil(log(a->least) / log(base)); k <= (int)floor(log(a->most) / log(base)); k++)
    if (k % step == 0) tick(out, a, vertical, pow(base, k), bytes);
}

/* ---- drawing ---- */

static const char style[] =
  "<style>\n"
  ".ground{fill:#ffffff}.grid{stroke:#d9dde3}.frame{fill:none;stroke:#8a93a0}\n"
  "text{font:13px system-ui,sans-serif;fill:#1d2530}.tick{font-size:12px;fill:#4a5563}\n"
  ".end{text-anchor:end}.middle{text-anchor:middle}.title{font-size:15px;font-weight:600}\n"
  ".floor{stroke:#6b7480;stroke-dasharray:6 4}.step{fill:none;stroke-width:1.6}.best{fill:none;stroke-width:2.4}\n"
  ".s0{stroke:#0b63c5;color:#0b63c5}.s1{stroke:#c2410c;color:#c2410c}.s2{stroke:#15803d;color:#15803d}\n"
  ".s3{stroke:#7e22ce;color:#7e22ce}.s4{stroke:#a16207;color:#a16207}.s5{stroke:#be185d;color:#be185d}\n"
  ".dot{fill:currentColor;stroke:none}\n"
  "@media (prefers-color-scheme:dark){\n"
  ".ground{fill:#14181e}.grid{stroke:#2d3540}.frame{stroke:#6b7686}text{fill:#e6eaf0}.tick{fill:#aeb8c5}\n"
  ".floor{stroke:#97a2b0}.s0{stroke:#6cb2ff;color:#6cb2ff}.s1{stroke:#ff9d66;color:#ff9d66}\n"
  ".s2{stroke:#66d98a;color:#66d98a}.s3{stroke:#c99bff;color:#c99bff}.s4{stroke:#e9c46a;color:#e9c46a}\n"
  ".s5{stroke:#ff8fc0;color:#ff8fc0}}\n"
  "</style>\n";

static void point(nst_buffer *out, double x, double y) {
  number(out, x);
  nst_buffer_putc(out, ',');
  number(out, y);
}

static void circle(nst_buffer *out, const char *class, int color, double x, double y, double r, const char *title) {
  nst_buffer_printf(out, "<circle class=\"%s s%d\" cx=\"", class, color);
  number(out, x);
  nst_buffer_puts(out, "\" cy=\"");
  number(out, y);
  nst_buffer_puts(out, "\" r=\"");
  number(out, r);
  nst_buffer_puts(out, "\"><title>");
  escaped(out, title);
  nst_buffer_puts(out, "</title></circle>\n");
}

static void draw_series(nst_buffer *out, const series *s, int color, const axis *x, const axis *y) {
  nst_buffer_printf(out, "<polyline class=\"step s%d\" points=\"", color);
  for (size_t i = 0; i < s->n; i++) { /* the first metric ascends, the second descends */
    const double px = place(x, s->dots[i].x), py = place(y, s->dots[i].y);
    point(out, px, i ? place(y, s->dots[i - 1].y) : (double)TOP);
    nst_buffer_putc(out, ' ');
    point(out, px, py);
    nst_buffer_putc(out, ' ');
  }
  point(out, WIDTH - RIGHT, place(y, s->dots[s->n - 1].y));
  nst_buffer_puts(out, "\"/>\n");
  for (size_t i = 0; i < s->n; i++)
    circle(out, "dot", color, place(x, s->dots[i].x), place(y, s->dots[i].y), s->n > 60 ? 2 : 3.2, s->dots[i].title);
  if (s->has_best) circle(out, "best", color, place(x, s->best.x), place(y, s->best.y), 7, s->best.title);
}

static void draw_floor(nst_buffer *out, const nestor_plot *p, int which, const axis *a) {
  if (!p->has_floor[which]) return;
  const double at = place(a, p->floor[which]);
  nst_buffer label = {0};
  nst_buffer_puts(&label, "compulsory ");
  nst_number_grouped(&label, (int64_t)ceil(p->floor[which]));
  nst_buffer_puts(&label, " B");
  if (which) {
    line(out, "floor", LEFT, at, WIDTH - RIGHT, at);
    text_at(out, "tick", LEFT + 8, at - 6, label.text);
  } else {
    line(out, "floor", at, TOP, at, HEIGHT - BOTTOM);
    text_at(out, "tick", at + 6, TOP + 14, label.text);
  }
  nst_buffer_fini(&label);
}

/* At the upper right, where a front leaves room. */
static void draw_legend(nst_buffer *out, const nestor_plot *p) {
  double y = TOP + 18;
  bool best = false;
  for (size_t k = 0; k < p->series.len; k++, y += 19) {
    const series *s = &p->series.items[k];
    const int color = (int)(k % SERIES);
    circle(out, "dot", color, WIDTH - RIGHT - 14, y - 4, 4, s->name);
    text_at(out, "end", WIDTH - RIGHT - 26, y, s->name);
    best = best || s->has_best;
  }
  if (!best) return;
  circle(out, "best", 0, WIDTH - RIGHT - 14, y - 4, 6, "the optimum");
  text_at(out, "end", WIDTH - RIGHT - 26, y, "optimum");
}

/* "best of tiled: 53 points of the Pareto front", "Pareto fronts of fused (25 points), apart (31 points)" */
static void say_title(nst_buffer *out, const nestor_plot *p) {
  const series *all = p->series.items;
  const bool one = p->series.len == 1;
  if (!one) nst_buffer_puts(out, "Pareto fronts of ");
  for (size_t k = 0; k < p->series.len; k++) {
    nst_buffer_printf(out, one ? "%s of %s: " : "%s%s (", one ? all[k].name : k ? ", " : "", one ? all[k].of : all[k].name);
    nst_number_grouped(out, (int64_t)all[k].n);
    nst_buffer_puts(out, all[k].n == 1 ? " point" : " points");
    nst_buffer_puts(out, one ? " of the Pareto front" : ")");
  }
}

nestor_status nestor_plot_write(const nestor_plot *p, nestor_buffer *buffer) {
  if (!p->series.len) return NESTOR_USAGE;
  nst_buffer *out = &buffer->text;
  const axis x = axis_of(p, 0), y = axis_of(p, 1);
  nst_buffer_printf(
    out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
    WIDTH, HEIGHT, WIDTH, HEIGHT);
  nst_buffer title = {0};
  say_title(&title, p);
  nst_buffer_puts(out, "<title>");
  escaped(out, title.text);
  nst_buffer_puts(out, "</title>\n");
  nst_buffer_puts(out, style);
  nst_buffer_printf(out, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
  ticks(out, &x, false, p->bytes[0]);
  ticks(out, &y, true, p->bytes[1]);
  nst_buffer_printf(out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP,
                    WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
  draw_floor(out, p, 0, &x);
  draw_floor(out, p, 1, &y);
  for (size_t k = 0; k < p->series.len; k++) draw_series(out, &p->series.items[k], (int)(k % SERIES), &x, &y);
  draw_legend(out, p);
  /* a long list of sweeps would run out of the picture; the legend has their names */
  text_at(out, "title", LEFT, TOP - 16, title.len <= 84 ? title.text : "Pareto fronts");
  nst_buffer_fini(&title);
  text_at(out, "middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16, p->labels[0]);
  nst_buffer_puts(out, "<g transform=\"translate(20,");
  number(out, (TOP + HEIGHT - BOTTOM) / 2.0);
  nst_buffer_puts(out, ") rotate(-90)\">");
  text_at(out, "middle", 0, 0, p->labels[1]);
  nst_buffer_puts(out, "</g>\n</svg>\n");
  return NESTOR_OK;
}
