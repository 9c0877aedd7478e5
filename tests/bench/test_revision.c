/* Revision: what arms say of answers, names of chains, and the tally of rounds. */
#include "tests/unit/test.h"

#include "bench/revise/revise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nst_task task_of(const char *answer) {
  char line[512], why[NST_RECORD_ERROR];
  const int n =
    snprintf(line, sizeof line,
             "{\"schema\":\"nestor.task/"
             "1\",\"task_id\":\"t\",\"suite\":\"s\",\"version\":1,\"split\":\"dev\",\"kind\":\"gen.mapping\","
             "\"level\":1,\"seed\":1,\"cluster\":\"c\",\"messages\":[{\"role\":\"user\",\"content\":\"Q\"}],\"spec\":{"
             "\"answer\":\"%s\"},\"limits\":{},"
             "\"answer_commit\":\"\",\"content_hash\":\"\",\"canary\":\"\"}",
             answer);
  nst_task t;
  assert_true(nst_task_parse(&t, line, (size_t)n, why));
  return t;
}

static nst_sample sample_of(const char *completion) {
  nst_sample s;
  char why[NST_RECORD_ERROR];
  assert_true(
    nst_sample_take(&s, json_pack("{s:s, s:s, s:s}", "task_id", "t", "sample_id", "0", "completion", completion), why));
  return s;
}

static nst_result result_of(const char *outcome, const char *rest) {
  char line[4096], why[NST_RECORD_ERROR];
  const int n = snprintf(line, sizeof line,
                         "{\"schema\":\"nestor.result/"
                         "1\",\"task_id\":\"t\",\"sample_id\":\"0\",\"passed\":%s,\"outcome\":\"%s\",\"score\":0%s}",
                         strcmp(outcome, "passed") ? "false" : "true", outcome, rest);
  nst_result r;
  if (!nst_result_parse(&r, line, (size_t)n, why)) fail_msg("%s", why);
  return r;
}

static const char ending[] =
  "\nGive your whole final answer again, in the form the task asks for, also where nothing changes.";

static void says(nst_arm arm, const char *answer, const char *outcome, const char *rest, const char *expected) {
  nst_task task = task_of(answer);
  nst_sample sample = sample_of("x");
  nst_result result = result_of(outcome, rest);
  char *text = nst_revise_feedback(arm, &task, &sample, &result);
  if (!expected)
    assert_null(text);
  else {
    assert_non_null(text);
    const size_t n = strlen(expected);
    if (strncmp(text, expected, n) || strcmp(text + n, ending)) fail_msg("says \"%s\"", text);
  }
  free(text);
  nst_task_fini(&task), nst_sample_fini(&sample), nst_result_fini(&result);
}

static void arms_say_more_and_more(void **state) {
  (void)state;
  static const char syntax[] = ",\"sub\":{},\"diagnostics\":[{\"code\":\"E0101\",\"line\":3,\"column\":7,\"message\":"
                               "\"expected a name\",\"help\":\"write one\"},"
                               "{\"message\":\"no code\"}]";
  static const char told[] = "Your answer could not be used (syntax: it does not parse). The compiler says:\n\n3:7: "
                             "[E0101] expected a name; help: write one\nno code\n";
  says(NST_ARM_RESAMPLE, "program", "syntax", syntax, NULL);
  says(NST_ARM_SELF, "program", "syntax", syntax,
       "Look at your answer once more. If something in it is wrong, correct it.\n");
  says(NST_ARM_COMPILER, "program", "syntax", syntax, told);
  says(NST_ARM_METRICS, "program", "syntax", syntax, told);
  says(NST_ARM_COUNTEREXAMPLE, "program", "syntax", syntax, told);

  static const char wrong[] =
    ",\"sub\":{\"reads@DRAM\":true,\"fills@Buf\":false},\"diagnostics\":[{\"message\":\"a secret of the comparison\"}],"
    "\"counterexample\":{\"mapping\":\"ans\",\"params\":{\"tm\":8,\"tn\":4},\"figures\":["
    "{\"name\":\"fills@Buf/"
    "A\",\"expected\":4096,\"got\":\"9007199254740993\"},{\"name\":\"energy\",\"expected\":1.5,\"got\":null}]}";
  says(NST_ARM_COMPILER, "program", "wrong", wrong, "The compiler accepts your answer.\n");
  says(NST_ARM_METRICS, "program", "wrong", wrong,
       "Your answer was compared with the reference, and it does not pass.\n\nreads@DRAM: right\nfills@Buf: wrong\n");
  says(NST_ARM_COUNTEREXAMPLE, "program", "wrong", wrong,
       "Your answer is wrong, for mapping ans, at tm = 8, tn = 4.\n\nfills@Buf/A is 4096; your answer gives "
       "9007199254740993\nenergy is 1.5; your answer gives none\n");

  says(NST_ARM_COMPILER, "choice", "passed", ",\"sub\":{}", "Your answer could be read.\n");
  says(NST_ARM_METRICS, "numbers", "passed", ",\"sub\":{}",
       "Your answer was compared with the reference, and it passes.\n");
  says(NST_ARM_COUNTEREXAMPLE, "model", "passed", ",\"sub\":{}", "No counterexample was found: your answer passes.\n");
}

static void conversations_hold_the_last_answer(void **state) {
  (void)state;
  nst_task task = task_of("program");
  nst_result result = result_of("wrong", ",\"sub\":{}");
  static const char *const answers[][2] = {{"my answer", "my answer"}, {" \n", "(no answer)"}, {"", "(no answer)"}};
  for (size_t i = 0; i < 3; i++) {
    nst_sample sample = sample_of(answers[i][0]);
    json_t *messages = nst_revise_messages(NST_ARM_SELF, &task, task.messages, &sample, &result);
    assert_int_equal(json_array_size(messages), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(messages, 1), "content")), answers[i][1]);
    assert_string_equal(json_string_value(json_object_get(json_array_get(messages, 2), "role")), "user");
    json_decref(messages);
    messages = nst_revise_messages(NST_ARM_RESAMPLE, &task, task.messages, &sample, &result);
    assert_true(json_equal(messages, task.messages));
    json_decref(messages);
    nst_sample_fini(&sample);
  }
  assert_int_equal(json_array_size(task.messages), 1);
  nst_task_fini(&task), nst_result_fini(&result);
}

static void put(nst_runfile *run, const char *id, const char *outcome) {
  char error[NST_RUNFILE_ERROR], why[NST_RECORD_ERROR];
  nst_sample s;
  json_t *json = json_pack("{s:s, s:s, s:s, s:{s:i, s:i}}", "task_id", "t", "sample_id", id,
                           outcome ? "completion" : "error", "x", "usage", "input_tokens", 5, "output_tokens", 2);
  if (strchr(id, '.')) json_object_set_new(json, "parent_sample_id", json_string("0"));
  assert_true(nst_sample_take(&s, json, why));
  assert_true(nst_runfile_put_sample(run, &s, "h", error));
  nst_sample_fini(&s);
  if (!outcome) return;
  nst_result r = result_of(outcome, ",\"sub\":{}");
  json_object_set_new(r.json, "sample_id", json_string(id));
  r.sample_id = id;
  assert_true(nst_runfile_put_result(run, &r, error));
  nst_result_fini(&r);
}

static void rounds_are_counted(void **state) {
  (void)state;
  char error[NST_RUNFILE_ERROR];
  nst_runfile *run = nst_runfile_memory(error);
  put(run, "0", "wrong"), put(run, "0.self.1", "passed"), put(run, "0.self.2", "wrong");
  put(run, "1", "passed"), put(run, "1.self.1", "passed"), put(run, "1.self.2", NULL);
  put(run, "2", "syntax"), put(run, "2.self.1", "truncated"), put(run, "2.self.2", "passed");
  put(run, "3", "infra_error"), put(run, "3.self.1", "passed");
  nst_task task = task_of("program");
  nst_revise_round rounds[NST_ARM_COUNT * 2];
  const bool arms[NST_ARM_COUNT] = {[NST_ARM_SELF] = true};
  assert_true(nst_revise_tally(rounds, 2, run, &task, 1, 4, arms, error));
  const nst_revise_round *r = &rounds[NST_ARM_SELF * 2];
  assert_int_equal(r->chains, 3);
  assert_int_equal(r->missing, 1);
  assert_int_equal(r->wrong, 2), assert_int_equal(r->fixed, 1);
  assert_int_equal(r->right, 1), assert_int_equal(r->broken, 0);
  assert_int_equal(nst_revise_passed(r), 2);
  assert_true(r->tokens_in == 20 && r->tokens_out == 8);
  r++;
  assert_int_equal(r->chains, 2);
  assert_int_equal(r->missing, 2);
  assert_int_equal(r->wrong, 1), assert_int_equal(r->fixed, 1);
  assert_int_equal(r->right, 1), assert_int_equal(r->broken, 1);
  assert_true(nst_revise_gain(r) == 0);
  assert_int_equal(rounds[NST_ARM_METRICS * 2].chains, 0);
  nst_task_fini(&task);
  nst_runfile_free(run);
}

static void chains_have_names_and_numbers_of_their_own(void **state) {
  (void)state;
  char id[NST_REVISE_ID];
  nst_revise_id(id, 7, NST_ARM_COUNTEREXAMPLE, 0);
  assert_string_equal(id, "7");
  nst_revise_id(id, 7, NST_ARM_COUNTEREXAMPLE, 2);
  assert_string_equal(id, "7.counterexample.2");
  assert_true(nst_revise_number(999999, 1) < nst_revise_number(0, 2));
  assert_true(nst_revise_number(999999, 0) < nst_revise_number(0, 1));
  for (int i = 0; i < NST_ARM_COUNT; i++) {
    nst_arm arm;
    const char *name = nst_arm_name((nst_arm)i);
    assert_true(nst_arm_parse(&arm, name, strlen(name)));
    assert_int_equal(arm, i);
    assert_false(nst_arm_parse(&arm, name, strlen(name) - 1));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arms_say_more_and_more), cmocka_unit_test(conversations_hold_the_last_answer),
    cmocka_unit_test(rounds_are_counted), cmocka_unit_test(chains_have_names_and_numbers_of_their_own)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
