/* Bodies of tasks: what all kinds share. */
#include "bench/tasks/body.h"

#include "bench/record/memory.h"
#include "bench/tasks/text.h"
#include "bench/tasks/traits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nst_body_code(nestor_buffer *out, const char *text) { nst_text_add(out, "```nest\n%s```\n", text); }

void nst_body_given(const nst_draft *d, nestor_buffer *out) {
  if (d->target != NST_KIND_GEN_WORKLOAD) nst_draft_write_workload(d, out);
  if (d->target != NST_KIND_GEN_HARDWARE) nst_draft_write_hardware(d, out);
}

void nst_body_answer(const nst_draft *d, nestor_buffer *out) {
  if (d->target == NST_KIND_GEN_WORKLOAD)
    nst_draft_write_workload(d, out);
  else if (d->target == NST_KIND_GEN_HARDWARE)
    nst_draft_write_hardware(d, out);
  else
    nst_draft_write_mapping(d, 0, NULL, out);
}

void nst_body_probe(const nst_draft *d, nestor_buffer *out) {
  if (d->target != NST_KIND_GEN_WORKLOAD && d->target != NST_KIND_GEN_HARDWARE) return;
  for (int m = 0; m < d->nmappings; m++) nst_draft_write_mapping(d, m, NULL, out);
}

void nst_body_solved(nst_body_maker *b, nst_solver *s) {
  b->unproven |= s->unproven;
  nst_solver_fini(s);
}

bool nst_body_floor(nst_body_maker *b, double share) {
  json_object_set_new(b->key, "floor", json_real(share));
  if (share < 1) return true;
  snprintf(b->why, NST_SOLVE_ERROR, "an answer that does nothing is right");
  return false;
}

bool nst_body_make(nst_body *out, const nst_draft *d, bool quick, char why[NST_SOLVE_ERROR]) {
  nst_body_maker b = {.d = d,
                      .quick = quick,
                      .random = nst_random_make(d->seed, "points"),
                      .prompt = nestor_buffer_new(),
                      .answer = nestor_buffer_new(),
                      .spec = json_object(),
                      .key = json_object(),
                      .why = why};
  *why = '\0';
  bool good = false, program = true;
  if (d->raises >= 0) json_object_set_new(b.spec, "raises", json_string(nst_trait_name((nst_trait)d->raises)));
  switch (d->kind) {
  case NST_KIND_GEN_WORKLOAD:
  case NST_KIND_GEN_HARDWARE:
  case NST_KIND_GEN_MAPPING: good = nst_body_program(&b); break;
  case NST_KIND_REPAIR: good = nst_body_repair(&b); break;
  case NST_KIND_GEN_MODEL: good = nst_body_model(&b); break;
  case NST_KIND_GEN_OPTIMIZE: good = nst_body_optimum(&b); break;
  case NST_KIND_QA_COMPARE: good = nst_body_compare(&b), program = false; break;
  case NST_KIND_QA_PREDICT: good = nst_body_predict(&b), program = false; break;
  case NST_KIND_COUNT: break;
  }
  nestor_buffer *reply = nestor_buffer_new();
  if (program)
    nst_body_code(reply, nestor_buffer_data(b.answer));
  else
    nst_text_add(reply, "%s", nestor_buffer_data(b.answer));
  *out = (nst_body){.unproven = b.unproven};
  if (good && !nst_traits_fit(d)) snprintf(why, NST_SOLVE_ERROR, "it has not the traits of its level"), good = false;
  if (good) {
    out->prompt = nst_memory_text(nestor_buffer_data(b.prompt), nestor_buffer_size(b.prompt));
    out->answer = nst_memory_text(nestor_buffer_data(b.answer), nestor_buffer_size(b.answer));
    out->reply = nst_memory_text(nestor_buffer_data(reply), nestor_buffer_size(reply));
    out->spec = json_incref(b.spec);
    out->key = json_incref(b.key);
  }
  json_decref(b.spec);
  json_decref(b.key);
  nestor_buffer_free(b.prompt);
  nestor_buffer_free(b.answer);
  nestor_buffer_free(reply);
  return good;
}

void nst_body_fini(nst_body *body) {
  free(body->prompt);
  free(body->answer);
  free(body->reply);
  json_decref(body->spec);
  json_decref(body->key);
  *body = (nst_body){0};
}
