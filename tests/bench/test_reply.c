/* Answers of servers: whatever bytes come, what is made of them holds. */
#include "tests/unit/test.h"

#include "bench/record/random.h"
#include "bench/run/reply.h"
#include "bench/run/secret.h"

#include <stdlib.h>
#include <string.h>

static const char *const bodies[] = {
  "{\"id\":\"x\",\"model\":\"m\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":{\"content\":\"<"
  "think>a</think>b\","
  "\"reasoning_content\":\"c\",\"refusal\":null}},{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"d\"}]}}],"
  "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"completion_tokens_details\":{\"reasoning_tokens\":3}}}",
  "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}],\"stop_reason\":\"max_"
  "tokens\","
  "\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"cache_read_input_tokens\":9}}",
  "{\"error\":{\"message\":\"Unsupported parameter: "
  "'max_tokens'\",\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\"}}",
  "{\"error\":\"text\",\"detail\":[{\"msg\":\"m\",\"loc\":[\"body\",1]}],\"message\":{\"a\":1},\"code\":429,\"type\":"
  "\"rate_limit_error\"}",
};
static const long statuses[] = {200, 200, 400, 429, 500, 302, 0, -1, 599};

static void holds(const char *bytes, size_t size, nst_dialect dialect, long status) {
  nst_reply reply;
  nst_reply_read(&reply, dialect, status, bytes, size, NULL);
  if (reply.kind == NST_REPLY_ANSWERED) {
    assert_true(json_array_size(reply.choices) > 0);
    size_t i;
    json_t *choice;
    json_array_foreach(reply.choices, i, choice) {
      assert_true(json_is_string(json_object_get(choice, "completion")));
      assert_null(strstr(json_string_value(json_object_get(choice, "completion")), "</think>"));
    }
  } else
    assert_null(reply.choices);
  for (const char *c = reply.text; *c; c++) assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
  json_t *utf8 = json_string(reply.text);
  assert_non_null(utf8);
  json_decref(utf8);
  nst_reply_fini(&reply);
}

static void any_bytes_are_read(void **state) {
  (void)state;
  nst_random r = nst_random_make(1, "replies");
  for (int round = 0; round < 40000; round++) {
    const char *body = bodies[nst_random_below(&r, sizeof bodies / sizeof *bodies)];
    size_t size = strlen(body);
    char *bytes = malloc(size + 1); /* no room behind: reading further is noticed */
    memcpy(bytes, body, size);
    for (uint64_t n = nst_random_below(&r, 5); n; n--) {
      const size_t at = (size_t)nst_random_below(&r, size);
      switch (nst_random_below(&r, 4)) {
      case 0: bytes[at] = (char)nst_random_next(&r); break;
      case 1: bytes[at] = "{}[]\",:0n\\"[nst_random_below(&r, 10)]; break;
      case 2: memmove(bytes + at, bytes + at + 1, --size - at); break;
      case 3: memcpy(bytes + at, body, size - at < 8 ? size - at : 8); break;
      }
    }
    char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    holds(exact, size, (nst_dialect)nst_random_below(&r, 2),
          statuses[nst_random_below(&r, sizeof statuses / sizeof *statuses)]);
    free(exact);
    free(bytes);
  }
  holds("", 0, NST_DIALECT_OPENAI, 200);
}

static void secrets_are_struck(void **state) {
  (void)state;
  static const char secret[] = "sk-12/345678";
  char text[] = "a sk-12/345678sk-12/345678 sk-12/34567";
  nst_secret_strike(text, strlen(text), secret);
  assert_string_equal(text, "a ************************ sk-12/34567");
  char word[] = "a short word";
  nst_secret_strike(word, strlen(word), "short");
  nst_secret_strike(word, strlen(word), NULL);
  assert_string_equal(word, "a short word");
  static const char body[] = "{\"error\":{\"message\":\"key \\u0073k-12\\/345678 is wrong\"}}";
  nst_reply reply;
  nst_reply_read(&reply, NST_DIALECT_OPENAI, 401, body, strlen(body), secret);
  assert_string_equal(reply.text, "key ************ is wrong");
  assert_int_equal(reply.kind, NST_REPLY_STOP);
  nst_reply_fini(&reply);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_bytes_are_read), cmocka_unit_test(secrets_are_struck)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
