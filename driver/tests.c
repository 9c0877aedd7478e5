/* Tests and verifies, run in source order; each becomes a line and details.
 *
 * A test evaluates its mapping once, at its arguments, and judges every
 * expectation: a failing one does not keep the next from being judged. What a
 * verify does is in verify.c. */
#include "driver/tests.h"
#include "driver/expectation.h"
#include "driver/pipeline.h"
#include "driver/table.h"

#include <stdlib.h>
#include <string.h>

/* Numbers in details are grouped by a mark: a comma for people, nothing for programs. */
static void keep_details(nestor_tests *t, nestor_test *out, nst_buffer *details) {
  char *grouped = nst_arena_strndup(t->arena, details->len ? details->text : "", details->len);
  char *plain = nst_arena_strndup(t->arena, grouped, details->len);
  size_t n = 0;
  for (size_t i = 0; i < details->len; i++) {
    if (grouped[i] != NST_VALUE_SEPARATOR) plain[n++] = grouped[i];
    else grouped[i] = ',';
  }
  plain[n] = '\0';
  out->details = grouped;
  *nst_vec_push(t->arena, &t->plain) = plain;
  nst_buffer_fini(details);
}

void nst_tests_first_message(nst_buffer *out, nestor_eval *e) {
  nestor_diagnostic d = {.code = "", .message = "it cannot be evaluated"};
  nestor_diagnostics_get(nestor_eval_diagnostics(e), 0, &d);
  nst_buffer_printf(out, "[%s] %s\n", d.code, d.message);
  if (d.help) nst_buffer_printf(out, "    %s\n", d.help);
}

/* Sets the arguments and evaluates; false: details say why not. */
static bool evaluate(nestor_eval *e, const nst_ir_test *test, nst_buffer *details) {
  for (int i = 0; i < e->ir->scope.nparams; i++) {
    if (!test->args || !test->args[i]) continue;
    nst_span where;
    const nst_eval_status status = nst_eval_expr(e, test->args[i], &e->set[i], &where);
    e->is_set[i] = status == NST_EVAL_OK;
    if (status == NST_EVAL_OK) continue;
    nst_buffer_printf(details, "  argument %s: %s\n", e->ir->scope.params[i].name, nst_eval_status_text(status));
    return false;
  }
  if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK) return true;
  nst_buffer_puts(details, "  the mapping cannot be evaluated: ");
  nst_tests_first_message(details, e);
  return false;
}

static void judge(const nestor_program *p, const nst_ir_expect *expect, const nst_eval_env *env, nestor_test *out,
                  nst_buffer *details) {
  nst_value v;
  nst_span where;
  const nst_eval_status status = nst_expr_eval(&v, expect->value, env, &where);
  if (status == NST_EVAL_OK && v.kind == NST_VALUE_BOOL && v.truth) return;
  out->failed++;
  nst_buffer_printf(details, "  line %u: expect ", nst_quote_line(p->sources, expect->span));
  nst_source_quote(details, p->sources, expect->value->span);
  nst_buffer_putc(details, '\n');
  if (status != NST_EVAL_OK) nst_buffer_printf(details, "    it has no value: %s\n", nst_eval_status_text(status));
  nst_expectation_describe(details, expect->value, env, p->sources);
}

/* The test's own names continue the mapping's. false: one has no value. */
static bool run_lets(const nst_ir_test *test, nst_value *values, const nst_eval_env *env, nst_buffer *details) {
  for (int i = 0; i < test->nlets; i++) {
    nst_span where;
    const nst_eval_status status = nst_expr_eval(&values[i], test->lets[i].value, env, &where);
    if (status == NST_EVAL_OK) continue;
    nst_buffer_printf(details, "  let %s: %s\n", test->lets[i].name, nst_eval_status_text(status));
    return false;
  }
  return true;
}

static void say_fit(const nestor_eval *e, nst_buffer *details) {
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY || e->metrics.levels[l].fits) continue;
    nst_buffer_printf(details, "  it does not fit: %s holds ", e->ir->hardware.levels[l].name);
    nst_value_grouped(details, nst_round_up(e->metrics.levels[l].usage));
    nst_buffer_puts(details, " bytes and has ");
    const nst_value capacity = {.kind = NST_VALUE_RAT, .rat = e->nest->levels[l].capacity};
    nst_value_print(details, &capacity);
    nst_buffer_putc(details, '\n');
  }
}

static void run_test(nestor_tests *t, const nestor_program *p, const nst_ir_test *test, nestor_test *out) {
  nst_buffer details = {0};
  nestor_eval *e = nestor_eval_new(p, (size_t)test->mapping);
  out->checks = (uint64_t)test->nexpects;
  bool judged = false;
  if (evaluate(e, test, &details)) {
    const int own = e->ir->scope.nvalues;
    nst_value *values = NST_NEW_ARRAY(t->arena, own + test->nlets, nst_value);
    if (own) memcpy(values, e->nest->values, (size_t)own * sizeof *values);
    nst_metrics_view view = {e->nest, e->counts, &e->metrics};
    const nst_eval_env env = {.params = e->params, .values = values, .metric = nst_metrics_lookup, .metric_ctx = &view};
    judged = run_lets(test, values + own, &env, &details);
    for (int i = 0; judged && i < test->nexpects; i++) judge(p, &test->expects[i], &env, out, &details);
    if (out->failed) say_fit(e, &details);
  }
  if (!judged) out->failed = out->checks ? out->checks : 1;
  nestor_eval_free(e);
  out->passed = !out->failed;
  keep_details(t, out, &details);
}

static void place(const nestor_program *p, nst_span span, nestor_test *out) {
  const nst_source *source = nst_sources_get(p->sources, span.source);
  out->file = source ? source->name : "";
  out->line = nst_quote_line(p->sources, span);
}

static void add_test(nestor_tests *t, const nestor_program *p, const nst_ir_test *test) {
  nestor_test *out = nst_vec_push(t->arena, &t->list);
  *out = (nestor_test){.details = ""};
  const char *mapping = p->ir->mappings[test->mapping]->name;
  out->name = test->text ? nst_arena_printf(t->arena, "test \"%s\" of %s", test->text, mapping)
                         : nst_arena_printf(t->arena, "test of %s", mapping);
  place(p, test->span, out);
  *nst_vec_push(t->arena, &t->heads) = NULL;
  run_test(t, p, test, out);
}

static void add_verify(nestor_tests *t, const nestor_program *p, const nst_ir_verify *verify) {
  nestor_test *out = nst_vec_push(t->arena, &t->list);
  *out = (nestor_test){.verify = true, .details = ""};
  out->name = nst_arena_printf(t->arena, "verify %s against %s", p->ir->models[verify->model].name,
                               p->ir->mappings[verify->mapping]->name);
  place(p, verify->span, out);
  nst_buffer details = {0}, head = {0};
  nst_verify_run(out, p, verify, &details, &head);
  *nst_vec_push(t->arena, &t->heads) = head.len ? nst_arena_strndup(t->arena, head.text, head.len) : NULL;
  nst_buffer_fini(&head);
  keep_details(t, out, &details);
}

static bool before(nst_span a, nst_span b) { return a.source != b.source ? a.source < b.source : a.begin < b.begin; }

nestor_tests *nestor_tests_new(const nestor_program *program) {
  nestor_tests *t = calloc(1, sizeof *t);
  if (!t) nst_out_of_memory();
  t->arena = nst_arena_new();
  const int ntests = (int)nestor_program_tests(program), nverifies = (int)nestor_program_verifies(program);
  int i = 0, k = 0;
  while (i < ntests || k < nverifies) {
    const bool test =
      k == nverifies || (i < ntests && before(program->ir->tests[i].span, program->ir->verifies[k].span));
    if (test) add_test(t, program, &program->ir->tests[i++]);
    else add_verify(t, program, &program->ir->verifies[k++]);
  }
  for (size_t n = 0; n < t->list.len; n++) t->failed += !t->list.items[n].passed;
  return t;
}

void nestor_tests_free(nestor_tests *tests) {
  if (!tests) return;
  nst_arena_free(tests->arena);
  free(tests);
}

size_t nestor_tests_count(const nestor_tests *tests) { return tests->list.len; }
size_t nestor_tests_failed(const nestor_tests *tests) { return tests->failed; }

bool nestor_tests_get(const nestor_tests *tests, size_t i, nestor_test *out) {
  if (i >= tests->list.len) return false;
  *out = tests->list.items[i];
  return true;
}

void nestor_tests_text(const nestor_tests *tests, bool color, nestor_buffer *buffer) {
  nst_buffer *out = &buffer->text;
  for (size_t i = 0; i < tests->list.len; i++) {
    const nestor_test *t = &tests->list.items[i];
    if (t->passed) nst_buffer_puts(out, color ? NST_GREEN "pass" NST_PLAIN : "pass");
    else nst_buffer_puts(out, color ? NST_RED "FAIL" NST_PLAIN : "FAIL");
    nst_buffer_printf(out, "  %s (%s:%u): ", t->name, t->file, t->line);
    if (tests->heads.items[i]) {
      nst_buffer_printf(out, "%s\n%s", tests->heads.items[i], t->details);
      continue;
    }
    if (!t->passed && !t->verify) nst_buffer_printf(out, "%llu of ", (unsigned long long)t->failed);
    nst_number_grouped(out, (int64_t)t->checks);
    nst_buffer_puts(out, t->verify ? t->checks == 1 ? " point" : " points"
                                   : t->checks == 1 ? " expectation" : " expectations");
    nst_buffer_puts(out, t->passed || t->verify ? "\n" : t->checks == 1 ? " fails\n" : " fail\n");
    nst_buffer_puts(out, t->details);
  }
  nst_buffer_printf(out, "%zu passed, %zu failed\n", tests->list.len - tests->failed, tests->failed);
}

static void json_string(nst_buffer *out, const char *key, const char *text) {
  nst_buffer_printf(out, ",\"%s\":", key);
  nst_buffer_json_string(out, text, strlen(text));
}

void nestor_tests_json(const nestor_tests *tests, nestor_buffer *buffer) {
  nst_buffer *out = &buffer->text;
  nst_buffer_printf(out, "{\"schema\":\"nestor.tests/1\",\"passed\":%zu,\"failed\":%zu,\"tests\":[",
                    tests->list.len - tests->failed, tests->failed);
  for (size_t i = 0; i < tests->list.len; i++) {
    const nestor_test *t = &tests->list.items[i];
    nst_buffer_printf(out, "%s{\"kind\":\"%s\"", i ? "," : "", t->verify ? "verify" : "test");
    json_string(out, "name", t->name);
    json_string(out, "file", t->file);
    nst_buffer_printf(out, ",\"line\":%u,\"passed\":%s,\"checks\":%llu,\"failed\":%llu", t->line,
                      t->passed ? "true" : "false", (unsigned long long)t->checks, (unsigned long long)t->failed);
    json_string(out, "details", tests->plain.items[i]);
    nst_buffer_putc(out, '}');
  }
  nst_buffer_puts(out, "]}\n");
}
