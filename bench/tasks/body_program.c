/* Tasks that are answered with a workload, a machine or a mapping, from scratch or by mending one. */
#include "bench/tasks/body.h"

#include "bench/record/memory.h"
#include "bench/tasks/idle.h"
#include "bench/tasks/mutate.h"
#include "bench/tasks/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 8, MOST_OPERATIONS = 24000 };

/* The signature up to its closing bracket, on one line: "hardware acc(PES = 4)". */
static void write_signature(const char *answer, nestor_buffer *out) {
  const char *end = strchr(answer, '{');
  while (end > answer && isspace((unsigned char)end[-1])) end--;
  for (const char *at = answer; at < end; at++) /* a long one is broken over lines */
    if (!isspace((unsigned char)*at))
      nestor_buffer_append(out, at, 1);
    else if (!isspace((unsigned char)at[-1]))
      nestor_buffer_append(out, " ", 1);
}

static void add_first_line(const nst_body_maker *b, const char *intro) {
  nestor_buffer *signature = nestor_buffer_new();
  write_signature(nestor_buffer_data(b->answer), signature);
  nst_text_add(b->prompt, "\n%s\n\n    %s {\n", intro, nestor_buffer_data(signature));
  nestor_buffer_free(signature);
}

static const char *kind_word(nst_kind target) {
  return target == NST_KIND_GEN_WORKLOAD ? "workload" : target == NST_KIND_GEN_HARDWARE ? "hardware" : "mapping";
}

static void put_declares(nst_body_maker *b) {
  const nst_draft *d = b->d;
  json_t *params = json_array();
  const char *name = d->mappings[0].name;
  if (d->target == NST_KIND_GEN_WORKLOAD) {
    name = d->workload;
    for (int i = 0; i < d->ndims; i++) json_array_append_new(params, json_string(d->dims[i].size));
  } else if (d->target == NST_KIND_GEN_HARDWARE) {
    name = d->hardware;
    for (int l = 0; l < d->nlevels; l++) {
      if (*d->levels[l].capacity_param) json_array_append_new(params, json_string(d->levels[l].capacity_param));
      for (int a = 0; a < d->levels[l].naxes; a++)
        if (*d->levels[l].places_param[a]) json_array_append_new(params, json_string(d->levels[l].places_param[a]));
    }
  } else
    for (int p = 0; p < d->mappings[0].nparams; p++)
      json_array_append_new(params, json_string(d->mappings[0].params[p].name));
  json_object_set_new(b->spec, "answer", json_string("program"));
  nestor_buffer *given = nestor_buffer_new();
  nst_body_given(d, given);
  json_object_set_new(b->spec, "given", json_string(nestor_buffer_data(given)));
  nestor_buffer_free(given);
  json_object_set_new(b->spec, "declares",
                      json_pack("{s:s,s:s,s:o}", "kind", kind_word(d->target), "name", name, "params", params));
  json_object_set_new(b->spec, "goal", json_string("equal"));
}

/* The i-th change of an attribute of the machine that an answer may get wrong; false: there are fewer. */
static bool vary_machine(nst_draft *d, int i) {
#define VARY(given, change)                                                                                            \
  if ((given) && i-- == 0) return (change), true
  for (int l = 0; l < d->nlevels; l++) {
    nst_draft_level *level = &d->levels[l];
    VARY(level->kind == NST_DRAFT_ARRAY, level->no_multicast = !level->no_multicast);
    VARY(level->kind == NST_DRAFT_ARRAY, level->no_reduce = !level->no_reduce);
    VARY(level->double_buffered, level->double_buffered = false);
    VARY(level->no_overlap, level->no_overlap = false);
    VARY(level->bandwidth, level->bandwidth *= 2);
    VARY(level->read_bandwidth, level->read_bandwidth *= 2);
    VARY(level->write_bandwidth, level->write_bandwidth *= 2);
    VARY(level->energy, level->energy *= 2);
    VARY(level->read_energy, level->read_energy *= 2);
    VARY(level->write_energy, level->write_energy *= 2);
    VARY(level->rate > 1, level->rate = 1);
  }
#undef VARY
  return false;
}

/* Whether the probes find out every machine that differs in an attribute. */
static bool machine_shows(const nst_body_maker *b) {
  nst_draft *other = nst_memory_new(1, sizeof *other);
  bool shows = true;
  for (int i = 0; *other = *b->d, shows && vary_machine(other, i); i++) {
    nestor_buffer *text = nestor_buffer_new();
    nst_draft_write_workload(other, text);
    nst_draft_write_hardware(other, text);
    nst_body_probe(other, text);
    nst_solver s;
    shows = !nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true) ||
            nst_solver_differs(&s, json_object_get(b->key, "points"), json_object_get(b->key, "figures"));
    nst_solver_fini(&s);
    nestor_buffer_free(text);
  }
  free(other);
  return shows;
}

bool nst_body_equal_points(nst_body_maker *b) {
  const nst_draft *d = b->d;
  put_declares(b);
  nestor_buffer *text = nestor_buffer_new(), *probe = nestor_buffer_new();
  nst_body_given(d, text);
  nst_text_add(text, "%s", nestor_buffer_data(b->answer));
  nst_body_probe(d, probe);
  nst_text_add(text, "%s", nestor_buffer_data(probe));
  json_t *points = json_array(), *figures = json_object();
  nst_solver s;
  bool good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), b->quick);
  for (int m = 0; m < d->nmappings && good; m++) {
    nst_point at[POINTS];
    const size_t n = d->mappings[m].nparams ? POINTS : 1; /* without parameters there are the defaults alone */
    good = n == 1 || nst_points_draw(at, n, d, &d->mappings[m], MOST_OPERATIONS, &b->random);
    if (!good)
      snprintf(s.why, sizeof s.why, "no hidden points with imperfect tiles and larger values");
    else
      good = nst_solver_points(&s, points, figures, d->mappings[m].name, &d->mappings[m], at, n);
  }
  if (!good) snprintf(b->why, NST_SOLVE_ERROR, "%s", s.why);
  nst_body_solved(b, &s);
  json_object_set_new(b->key, "probe", json_string(nestor_buffer_data(probe)));
  json_object_set_new(b->key, "points", points);
  json_object_set_new(b->key, "figures", figures);
  nestor_buffer_free(text);
  nestor_buffer_free(probe);
  if (good && d->target == NST_KIND_GEN_HARDWARE && !machine_shows(b)) {
    snprintf(b->why, NST_SOLVE_ERROR, "the probes do not show every attribute of the machine");
    good = false;
  }
  return good;
}

void nst_body_describe(const nst_body_maker *b) {
  const nst_draft *d = b->d;
  switch (d->target) {
  case NST_KIND_GEN_WORKLOAD: nst_draft_tell_workload(d, d->style, b->prompt); return;
  case NST_KIND_GEN_HARDWARE: nst_draft_tell_hardware(d, d->style, b->prompt); return;
  default: nst_draft_tell_mapping(d, 0, d->style, b->prompt); return;
  }
}

/* What mappings will be tried on it, so that names are not guessed. */
static void add_names(const nst_body_maker *b) {
  const nst_draft *d = b->d;
  if (d->target == NST_KIND_GEN_WORKLOAD)
    nst_text_add(b->prompt, "\nName dimensions, sizes and tensors as above, and %s in the order in which they are "
                            "listed there.\n",
                 d->nstatements > 1 ? "declare the dimensions and write the statements" : "declare the dimensions");
  if (d->target == NST_KIND_GEN_HARDWARE) nst_text_add(b->prompt, "\nName levels, axes and parameters as above.\n");
}

static void add_given(const nst_body_maker *b, const char *intro) {
  nestor_buffer *given = nestor_buffer_new();
  nst_body_given(b->d, given);
  nst_text_add(b->prompt, "%s\n", intro);
  nst_body_code(b->prompt, nestor_buffer_data(given));
  nestor_buffer_free(given);
}

/* The share of the key's figures that an answer has right; 0 where it does not compile. */
static double share_of(const nst_body_maker *b, const char *answer) {
  nestor_buffer *text = nestor_buffer_new();
  nst_body_given(b->d, text);
  nst_text_add(text, "%s%s", answer, json_string_value(json_object_get(b->key, "probe")));
  nst_solver s;
  double share = 0;
  if (nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true))
    share = nst_solver_share(&s, json_object_get(b->key, "points"), json_object_get(b->key, "figures"));
  nst_solver_fini(&s);
  nestor_buffer_free(text);
  return share;
}

bool nst_body_program(nst_body_maker *b) {
  const nst_draft *d = b->d;
  nst_body_answer(d, b->answer);
  if (!nst_body_equal_points(b)) return false;
  nestor_buffer *idle = nestor_buffer_new();
  double floor = 0;
  for (int i = 0; i < nst_idle_programs(d); i++) {
    nestor_buffer_clear(idle);
    nst_idle_program(d, i, idle);
    const double share = share_of(b, nestor_buffer_data(idle));
    if (share > floor) floor = share;
  }
  nestor_buffer_free(idle);
  if (!nst_body_floor(b, floor)) return false;
  switch (d->target) {
  case NST_KIND_GEN_WORKLOAD: nst_text_add(b->prompt, "Write the workload that is described here.\n\n"); break;
  case NST_KIND_GEN_HARDWARE: nst_text_add(b->prompt, "Write the hardware that is described here.\n\n"); break;
  default:
    add_given(b, "Given this workload and this hardware:\n");
    nst_text_add(b->prompt, "\nwrite the mapping that is described here.\n\n");
    break;
  }
  nst_body_describe(b);
  add_names(b);
  add_first_line(b, "Its first line is:");
  nst_text_add(b->prompt, "\nAnswer with the %s alone, in a ```nest block.%s\n", kind_word(d->target),
               d->target == NST_KIND_GEN_MAPPING ? " It is compared at other values of its parameters too."
                                                 : " It is tried with mappings that are not shown.");
  return true;
}

/* ---- repair --------------------------------------------------------------- */

/* The answer with a fault planted, laid out anew where it can be, so that the layout tells nothing of the place. */
static bool make_faulty(nst_body_maker *b, nst_fault fault, nst_random *r, nestor_buffer *faulty) {
  nestor_buffer *mutant = nestor_buffer_new();
  const bool planted = nst_mutate(mutant, nestor_buffer_data(b->answer), nestor_buffer_size(b->answer), fault, r);
  nestor_buffer_clear(faulty);
  if (planted) nst_text_lay_out(faulty, nestor_buffer_data(mutant), nestor_buffer_size(mutant));
  nestor_buffer_free(mutant);
  return planted;
}

/* A fault that makes a difference: the draft's, or the next one that can be planted. Appends what the compiler says of
 * it. */
static bool plant(nst_body_maker *b, nestor_buffer *faulty, nestor_buffer *message) {
  const nst_draft *d = b->d;
  nestor_buffer *given = nestor_buffer_new();
  nst_body_given(d, given);
  const json_t *points = json_object_get(b->key, "points"), *figures = json_object_get(b->key, "figures");
  const char *probe = json_string_value(json_object_get(b->key, "probe"));
  bool found = false;
  for (int i = 0; i < 3 * NST_FAULT_COUNT && !found; i++) {
    char stream[32];
    snprintf(stream, sizeof stream, "fault/%d", i);
    nst_random r = nst_random_make(d->fault_seed, stream);
    nestor_buffer_clear(message);
    const nst_fault fault = (nst_fault)((d->fault + i) % NST_FAULT_COUNT);
    if (!make_faulty(b, fault, &r, faulty)) continue;
    nestor_buffer *text = nestor_buffer_new();
    nst_text_add(text, "%s%s%s", nestor_buffer_data(given), nestor_buffer_data(faulty), probe);
    nst_solver s;
    const bool compiles = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true);
    found = !compiles || nst_solver_differs(&s, points, figures);
    if (found) json_object_set_new(b->key, "fault", json_string(nst_fault_name(fault)));
    nst_solver_fini(&s);
    nestor_buffer_free(text);
    if (!found || compiles) continue;
    nestor_buffer *shown = nestor_buffer_new(); /* with places in the program that is shown */
    nst_text_add(shown, "%s%s", nestor_buffer_data(faulty), nestor_buffer_data(given));
    nestor_session *session = nestor_session_new();
    nestor_program *program =
      nestor_program_new(session, "program", nestor_buffer_data(shown), nestor_buffer_size(shown), NESTOR_STAGE_CHECK);
    nestor_diagnostics_text(nestor_program_diagnostics(program), false, message);
    nestor_program_free(program);
    nestor_session_free(session);
    nestor_buffer_free(shown);
  }
  nestor_buffer_free(given);
  return found;
}

bool nst_body_repair(nst_body_maker *b) {
  const nst_draft *d = b->d;
  nst_body_answer(d, b->answer);
  if (!nst_body_equal_points(b)) return false;
  nestor_buffer *faulty = nestor_buffer_new(), *message = nestor_buffer_new();
  bool planted = plant(b, faulty, message);
  if (!planted)
    snprintf(b->why, NST_SOLVE_ERROR, "no fault makes a difference");
  else
    planted = nst_body_floor(b, share_of(b, nestor_buffer_data(faulty)));
  if (planted) {
    const char *word = kind_word(d->target);
    if (d->target == NST_KIND_GEN_MAPPING) add_given(b, "Given this workload and this hardware:\n");
    nst_text_add(b->prompt, "%s %s should be as described here:\n\n", d->target == NST_KIND_GEN_MAPPING ? "\na" : "A",
                 word);
    nst_body_describe(b);
    add_first_line(b, "Its first line should be:");
    nst_text_add(b->prompt, "\nThis %s has one fault.\n\n", word);
    nst_body_code(b->prompt, nestor_buffer_data(faulty));
    if (d->fault_message && nestor_buffer_size(message))
      nst_text_add(b->prompt, "\nThe compiler says:\n\n```\n%s```\n", nestor_buffer_data(message));
    else if (d->fault_message)
      nst_text_add(b->prompt, "\nThe compiler accepts it, but its figures are not those of the description.\n");
    nst_text_add(b->prompt, "\nAnswer with the whole mended %s, in a ```nest block.\n", word);
  }
  nestor_buffer_free(faulty);
  nestor_buffer_free(message);
  return planted;
}
