/* Tasks that are answered with the best mapping of a space. The optimum is proven: the whole space is searched. */
#include "bench/tasks/body.h"

#include "bench/tasks/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The mapping with the loops of its outer block in a permute, and the sweep over its tiles. */
static void write_space(const nst_draft *d, const char *objective, nestor_buffer *out) {
  nestor_buffer *plain = nestor_buffer_new();
  nst_draft_write_mapping(d, 0, "space", plain);
  const nst_draft_mapping *m = &d->mappings[0];
  int nodes[NST_DRAFT_NODES];
  int left = nst_draft_block(m, nodes);
  /* The block's loops are the first lines that begin with `for`. */
  for (const char *at = nestor_buffer_data(plain), *end; *at; at = end) {
    end = strchr(at, '\n') + 1;
    const char *word = at + strspn(at, " ");
    const bool loop = !strncmp(word, "for ", 4) && left;
    if (loop && left == nst_draft_block(m, nodes)) nst_text_add(out, "permute {\n");
    nestor_buffer_append(out, at, (size_t)(end - at));
    if (loop && --left == 0) nst_text_add(out, "}\n");
  }
  nestor_buffer_free(plain);
  nst_text_add(out, "sweep best of space {\n");
  for (int p = 0; p < m->nparams; p++) {
    const char *size = d->dims[m->params[p].dim].size;
    if (d->any_tile)
      nst_text_add(out, "%s in 1 .. %s\n", m->params[p].name, size);
    else
      nst_text_add(out, "%s in divisors(%s)\n", m->params[p].name, size);
  }
  nst_text_add(out, "where fits\nminimize %s\ntop 1\n}\n", objective);
}

static bool name_char(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The found mapping without its parameters: their values stand in their places. */
static void settle(const char *text, const nst_draft_mapping *m, nestor_sweep *sweep, nestor_buffer *out) {
  for (const char *at = text; *at;) {
    if (*at == '(' && at < strchr(text, '{')) { /* the parameters */
      at = strchr(at, ')') + 1;
      continue;
    }
    size_t n = 1;
    while (name_char(*at) && name_char(at[n])) n++;
    int param = -1;
    for (int p = 0; p < m->nparams; p++)
      if (strlen(m->params[p].name) == n && !memcmp(at, m->params[p].name, n)) param = p;
    if (param < 0)
      nestor_buffer_append(out, at, n);
    else
      nst_text_add(out, "%lld", (long long)nestor_sweep_param(sweep, NESTOR_FOUND_BEST, 0, m->params[param].name));
    at += n;
  }
}

/* Whether a lazy answer is as good: all tiles of one value (1, or the whole), in the order of the form. */
static bool lazy_is_good(nst_solver *s, const nst_draft *d, bool whole, int64_t best) {
  const nst_draft_mapping *m = &d->mappings[0];
  nst_point at;
  for (int p = 0; p < m->nparams; p++) at.values[p] = whole ? nst_draft_extent(d, m, m->params[p].dim, NULL) : 1;
  nestor_eval *eval = nst_solver_eval(s, "space");
  const bool good = eval && nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, at.values) == NESTOR_OK &&
                    nestor_eval_metrics(eval).fits &&
                    nst_quantity_value(&d->quantities[0], eval) <= best + best / 50;
  nestor_eval_free(eval);
  return good;
}

/* The value of a mapping of one's own at its defaults; -1: it is none, or does not fit. */
static int64_t value_of(const nst_draft *d, const char *given, const nestor_buffer *mapping) {
  nestor_buffer *text = nestor_buffer_new();
  nst_text_add(text, "%s%s", given, nestor_buffer_data(mapping));
  nst_solver s;
  nestor_eval *eval = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true) ? nst_solver_eval(&s, "m") : NULL;
  const bool good = eval && nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK && nestor_eval_metrics(eval).fits;
  const int64_t value = good ? nst_quantity_value(&d->quantities[0], eval) : -1;
  nestor_eval_free(eval);
  nst_solver_fini(&s);
  nestor_buffer_free(text);
  return value;
}

/* Whether a mapping that looks at no size and no capacity is as good: at most two loops of steps of one, all kept behind them. */
static bool blind_is_good(const nst_draft *d, const char *given, int64_t best) {
  bool good = false;
  for (int l = 1; l < d->nlevels && !good; l++)
    for (int first = -1; d->levels[l].kind == NST_DRAFT_MEMORY && first < d->ndims && !good; first++)
      for (int second = -1; second < (first < 0 ? 0 : d->ndims) && !good; second++) {
        if (second == first && first >= 0) continue;
        nestor_buffer *mapping = nestor_buffer_new();
        nst_text_add(mapping, "mapping m of %s on %s {\n", d->workload, d->hardware);
        if (first >= 0) nst_text_add(mapping, "for %s\n", d->dims[first].name);
        if (second >= 0) nst_text_add(mapping, "for %s\n", d->dims[second].name);
        nst_text_add(mapping, "keep all in %s\ncompute\n}\n", d->levels[l].name);
        const int64_t value = value_of(d, given, mapping);
        good = value >= 0 && value <= best + best / 50;
        nestor_buffer_free(mapping);
      }
  return good;
}

bool nst_body_optimum(nst_body_maker *b) {
  const nst_draft *d = b->d;
  const nst_draft_mapping *m = &d->mappings[0];
  const nst_draft_level *level = &d->levels[nst_draft_next_memory(d, 0)];
  char objective[64];
  nst_quantity_expression(d, &d->quantities[0], objective, sizeof objective);
  nestor_buffer *given = nestor_buffer_new(), *text = nestor_buffer_new(), *best = nestor_buffer_new();
  nst_draft_write_workload(d, given);
  nst_draft_write_hardware(d, given);
  nst_text_add(text, "%s", nestor_buffer_data(given));
  write_space(d, objective, text);
  nst_solver s;
  int64_t optimum = 0;
  bool good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), b->quick);
  if (good) {
    nestor_sweep *sweep = nestor_sweep_new(s.program, 0, &(nestor_sweep_options){.threads = 1, .no_kernel = true});
    good = nestor_sweep_run(sweep) == NESTOR_OK && nestor_sweep_about(sweep).proven &&
           nestor_sweep_found(sweep, NESTOR_FOUND_BEST) > 0 &&
           nestor_sweep_mapping(sweep, NESTOR_FOUND_BEST, 0, "ans", best) == NESTOR_OK;
    if (good) {
      nestor_buffer *settled = nestor_buffer_new();
      settle(nestor_buffer_data(best), m, sweep, settled);
      nst_text_canonical(b->answer, nestor_buffer_data(settled), nestor_buffer_size(settled));
      nestor_buffer_free(settled);
    }
    if (!good)
      snprintf(s.why, sizeof s.why, "no mapping of the space fits");
    else {
      const int64_t least = (int64_t)ceil(nestor_sweep_metric(sweep, NESTOR_FOUND_BEST, 0, 0)); /* rounded up, as figures are */
      good = !lazy_is_good(&s, d, false, least) && !lazy_is_good(&s, d, true, least) &&
             !blind_is_good(d, nestor_buffer_data(given), least);
      if (!good) snprintf(s.why, sizeof s.why, "a lazy answer is as good as the best");
    }
    nestor_sweep_free(sweep);
  }
  if (!good) snprintf(b->why, NST_SOLVE_ERROR, "%s", s.why);
  nst_body_solved(b, &s);
  if (good) { /* the best one by all engines, and what it reaches */
    nestor_buffer_clear(text);
    nst_text_add(text, "%s%s", nestor_buffer_data(given), nestor_buffer_data(b->answer));
    good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), b->quick);
    nestor_eval *eval = good ? nst_solver_eval(&s, "ans") : NULL;
    good = eval && nst_solver_run(&s, eval, NULL) && nestor_eval_metrics(eval).fits;
    if (good)
      optimum = nst_quantity_value(&d->quantities[0], eval);
    else
      snprintf(b->why, NST_SOLVE_ERROR, "%.400s (the best mapping)", s.why);
    nestor_eval_free(eval);
    nst_body_solved(b, &s);
  }
  if (good) {
    nst_text_add(b->prompt, "Given this workload and this hardware:\n\n");
    nst_body_code(b->prompt, nestor_buffer_data(given));
    nst_text_add(b->prompt,
                 "\nfind the mapping with the %s that fits (what %s must hold is at most its capacity, %lld bytes%s). "
                 "It is of this form:\n\n",
                 d->quantities[0].measure == NST_MEASURE_CYCLES ? "fewest cycles" : "least off-chip traffic in bytes",
                 level->name, (long long)level->capacity,
                 nst_draft_is_cascade(d) || level->double_buffered ? "; so for all memories" : "");
    nst_draft_tell_mapping(d, 0, d->style, b->prompt);
    nst_text_add(b->prompt, "\nYou choose");
    for (int p = 0; p < m->nparams; p++)
      nst_text_add(b->prompt, "%s %s (%s%s)", p ? "," : "", m->params[p].name,
                   d->any_tile ? "a tile from 1 to " : "a divisor of ", d->dims[m->params[p].dim].size);
    int nodes[NST_DRAFT_NODES];
    const int n = nst_draft_block(m, nodes);
    if (n > 1) {
      nst_text_add(b->prompt, ", and the order of the loops over");
      for (int i = 0; i < n; i++) nst_text_add(b->prompt, "%s %s", i ? "," : "", d->dims[m->nodes[nodes[i]].dim].name);
      nst_text_add(b->prompt, " that stand outermost");
    }
    nst_text_add(b->prompt,
                 ". A mapping of another form that is as good or better is right too. Workload and hardware are used "
                 "with their defaults. Answer with\n\n    mapping ans of %s on %s {\n\n"
                 "and the rest of the mapping, its tiles as numbers, in a ```nest block.\n",
                 d->workload, d->hardware);
    json_object_set_new(b->spec, "answer", json_string("program"));
    json_object_set_new(b->spec, "given", json_string(nestor_buffer_data(given)));
    json_object_set_new(b->spec, "declares", json_pack("{s:s,s:s,s:[]}", "kind", "mapping", "name", "ans", "params"));
    json_object_set_new(b->spec, "goal", json_string("least"));
    json_object_set_new(b->spec, "objective", json_string(objective));
    json_object_set_new(b->key, "probe", json_string(""));
    json_object_set_new(b->key, "optimum", nst_record_from_int(optimum));
    json_object_set_new(b->key, "points", json_pack("[{s:s,s:{}}]", "mapping", "ans", "params"));
  }
  nestor_buffer_free(given);
  nestor_buffer_free(text);
  nestor_buffer_free(best);
  return good;
}
