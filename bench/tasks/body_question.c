/* Tasks that are answered with a choice or with numbers. */
#include "bench/tasks/body.h"

#include "bench/tasks/naive.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {
#define NST_MEASURE(id, metric, args, unit, words) words,
#include "bench/tasks/measures.def"
#undef NST_MEASURE
};

/* "elements of A read from DRAM" */
static void say_quantity(const nst_draft *d, const nst_draft_quantity *q, nestor_buffer *out) {
  for (const char *at = words[q->measure]; *at; at++) {
    if (*at != '$')
      nestor_buffer_append(out, at, 1);
    else if (*++at == 'L')
      nst_text_add(out, "%s", d->levels[q->level].name);
    else
      nst_text_add(out, "%s", d->tensors[q->tensor].name);
  }
}

static void write_program(const nst_draft *d, nestor_buffer *out) {
  nst_draft_write_workload(d, out);
  nst_draft_write_hardware(d, out);
  for (int m = 0; m < d->nmappings; m++) nst_draft_write_mapping(d, m, NULL, out);
}

/* ---- qa.compare ----------------------------------------------------------- */

/* The index of the least value, when the next is at least 1 % larger; -1: there is no such winner. */
static int winner(const int64_t *values, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (values[i] < values[best]) best = i;
  for (int i = 0; i < n; i++)
    if (i != best && (__int128)values[i] * 100 < (__int128)values[best] * 101) return -1;
  return best;
}

/* Whether every belief that has to be wrong chooses another than the winner. Where it has no value, it looks at the
 * off-chip traffic. */
static bool is_trapped(const nst_draft *d, int best) {
  for (int belief = 0; belief < 2; belief++) {
    if (!d->traps[belief]) continue;
    int chosen = -1;
    int64_t least = 0;
    for (int i = 0, m = nst_draft_first_look(d); i < d->nmappings; i++, m = (m + 1) % d->nmappings) {
      int64_t value = nst_naive_value(d, &d->mappings[m], &d->quantities[0], (nst_belief)belief, NULL);
      if (value < 0)
        value = nst_naive_value(d, &d->mappings[m],
                                &(nst_draft_quantity){.measure = NST_MEASURE_OFFCHIP, .level = -1, .tensor = -1},
                                (nst_belief)belief, NULL);
      if (value >= 0 && (chosen < 0 || value < least)) chosen = m, least = value;
    }
    if (chosen == best) return false;
  }
  return true;
}

/* Whether two mappings are the same but for their names: then neither can be the answer, which a reader sees. */
static bool has_twins(const nst_draft *d) {
  bool twins = false;
  for (int m = 1; m < d->nmappings; m++)
    for (int k = 0; k < m && !twins; k++) {
      nestor_buffer *a = nestor_buffer_new(), *b = nestor_buffer_new();
      nst_draft_write_mapping(d, m, "same", a);
      nst_draft_write_mapping(d, k, "same", b);
      twins = !strcmp(nestor_buffer_data(a), nestor_buffer_data(b));
      nestor_buffer_free(a);
      nestor_buffer_free(b);
    }
  return twins;
}

/* The winner among the mappings, -1 if there is none. */
static int evaluate(nst_solver *s, const nst_draft *d) {
  int64_t values[NST_DRAFT_MAPPINGS] = {0};
  bool good = true;
  for (int m = 0; m < d->nmappings && good; m++) {
    nestor_eval *eval = nst_solver_eval(s, d->mappings[m].name);
    good = eval && nst_solver_run(s, eval, NULL);
    if (good) values[m] = nst_quantity_value(&d->quantities[0], eval);
    nestor_eval_free(eval);
  }
  const int best = good ? winner(values, d->nmappings) : -1;
  if (good && best < 0) snprintf(s->why, sizeof s->why, "no mapping is best by one percent");
  return best;
}

bool nst_body_compare(nst_body_maker *b) {
  const nst_draft *d = b->d;
  const nst_draft_quantity *q = &d->quantities[0];
  nestor_buffer *text = nestor_buffer_new();
  write_program(d, text);
  nst_solver s;
  bool good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true);
  /* Many drafts have no winner: the analysis tells them, and the other engines see the rest alone. */
  int best = good ? evaluate(&s, d) : -1;
  if (best >= 0 && has_twins(d)) {
    snprintf(s.why, sizeof s.why, "two mappings are the same");
    best = -1;
  }
  s.quick = b->quick;
  if (best >= 0 && !is_trapped(d, best)) {
    snprintf(s.why, sizeof s.why, "it is answered rightly by a wrong belief");
    best = -1;
  }
  if (best >= 0 && !b->quick) best = evaluate(&s, d);
  if (best < 0) snprintf(b->why, NST_SOLVE_ERROR, "%s", s.why);
  nst_body_solved(b, &s);
  if (best >= 0) {
    nst_text_add(b->prompt, "Given this workload, this hardware and these mappings:\n\n");
    nst_body_code(b->prompt, nestor_buffer_data(text));
    const char *end = q->measure == NST_MEASURE_OFFCHIP
                        ? "causes the least off-chip traffic (bytes of the outermost memory)"
                      : q->measure == NST_MEASURE_CYCLES ? "takes the fewest cycles"
                                                         : NULL;
    if (end)
      nst_text_add(b->prompt, "\nwhich mapping %s, with the parameters as their defaults are?", end);
    else
      nst_text_add(b->prompt,
                   "\nwhich mapping needs the smallest buffer in %s (bytes that one instance must hold), with the "
                   "parameters as their defaults are?",
                   d->levels[q->level].name);
    nst_text_add(b->prompt, " You may reason first. End with a line of this form:\n\nanswer: X\n\nwhere X is one of");
    json_t *choices = json_array();
    for (int m = 0; m < d->nmappings; m++) {
      nst_text_add(b->prompt, "%s %s", m ? "," : "", d->mappings[m].name);
      json_array_append_new(choices, json_string(d->mappings[m].name));
    }
    nst_text_add(b->prompt, ".\n");
    nst_text_add(b->answer, "answer: %s", d->mappings[best].name);
    json_object_set_new(b->spec, "answer", json_string("choice"));
    json_object_set_new(b->spec, "choices", choices);
    json_object_set_new(b->key, "choice", json_string(d->mappings[best].name));
  }
  nestor_buffer_free(text);
  return best >= 0;
}

/* ---- qa.predict ----------------------------------------------------------- */

/* Whether every belief that has to be wrong is wrong about some quantity. */
static bool is_mispredicted(const nst_draft *d, const nestor_eval *eval) {
  for (int belief = 0; belief < 2; belief++) {
    bool wrong = !d->traps[belief];
    for (int i = 0; i < d->nquantities && !wrong; i++) {
      const int64_t value = nst_naive_value(d, &d->mappings[0], &d->quantities[i], (nst_belief)belief, NULL);
      wrong = value >= 0 && value != nst_quantity_value(&d->quantities[i], eval);
    }
    if (!wrong) return false;
  }
  return true;
}

bool nst_body_predict(nst_body_maker *b) {
  const nst_draft *d = b->d;
  nestor_buffer *text = nestor_buffer_new();
  write_program(d, text);
  nst_solver s;
  bool good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true);
  nestor_eval *eval = good ? nst_solver_eval(&s, d->mappings[0].name) : NULL;
  good = eval && nst_solver_run(&s, eval, NULL);
  if (good && !is_mispredicted(d, eval)) {
    snprintf(s.why, sizeof s.why, "it is answered rightly by a wrong belief");
    good = false;
  }
  int zeros = 0;
  for (int i = 0; i < d->nquantities && good; i++) zeros += !nst_quantity_value(&d->quantities[i], eval);
  if (good && !nst_body_floor(b, (double)zeros / d->nquantities)) {
    snprintf(s.why, sizeof s.why, "all of it is 0");
    good = false;
  }
  s.quick = b->quick;
  good = good && (b->quick || nst_solver_run(&s, eval, NULL));
  if (good) {
    nst_text_add(b->prompt, "Given this workload, this hardware and this mapping:\n\n");
    nst_body_code(b->prompt, nestor_buffer_data(text));
    nst_text_add(b->prompt, "\npredict, with the parameters as their defaults are:\n\n");
    json_t *quantities = json_array(), *values = json_object();
    for (int i = 0; i < d->nquantities; i++) {
      const nst_draft_quantity *q = &d->quantities[i];
      char expression[128];
      nst_quantity_expression(d, q, expression, sizeof expression);
      nst_text_add(b->prompt, "- \"%s\": %s, the ", q->name, expression);
      say_quantity(d, q, b->prompt);
      nst_text_add(b->prompt, "\n");
      json_array_append_new(quantities, json_pack("{s:s,s:s}", "name", q->name, "unit", nst_quantity_unit(q)));
      json_object_set_new(values, q->name, nst_record_from_int(nst_quantity_value(q, eval)));
    }
    nst_text_add(b->prompt, "\nYou may reason first. End with a JSON object of whole numbers on one line: {");
    for (int i = 0; i < d->nquantities; i++)
      nst_text_add(b->prompt, "%s\"%s\": N", i ? ", " : "", d->quantities[i].name);
    nst_text_add(b->prompt, "}\n");
    char *answer = json_dumps(values, 0);
    nst_text_add(b->answer, "%s", answer ? answer : "");
    json_object_set_new(b->spec, "answer", json_string("numbers"));
    json_object_set_new(b->spec, "quantities", quantities);
    json_object_set_new(b->key, "values", values);
    void *(*allocate)(size_t);
    void (*release)(void *);
    json_get_alloc_funcs(&allocate, &release);
    release(answer);
  } else
    snprintf(b->why, NST_SOLVE_ERROR, "%s", s.why);
  nestor_eval_free(eval);
  nst_body_solved(b, &s);
  nestor_buffer_free(text);
  return good;
}
