/* The pace of a client: concurrency, backoff, and what headers of rate limits ask for. */
#include "tests/unit/test.h"

#include "bench/run/pace.h"
#include "bench/run/reply.h"

#include <math.h>
#include <string.h>

static const double NOW = 1700000000; /* Tue, 14 Nov 2023 22:13:20 GMT */

static void waits_are_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double seconds;
  } known[] = {{"2", 2},
               {"0x10", -1},
               {"0x10s", -1},
               {"1e3", -1},
               {" 0 ", 0},
               {"1.5", 1.5},
               {"1s", 1},
               {"20ms", 0.02},
               {"6m0s", 360},
               {"1h2m3.5s", 3723.5},
               {"1d", 86400},
               {"Tue, 14 Nov 2023 22:13:25 GMT", 5},
               {"Tue, 14 Nov 2023 22:13:10 GMT", 0},
               {"2023-11-14T22:14:20Z", 60},
               {"2023-11-14T23:14:20.5+01:00", 60.5},
               {"1700000007", 7},
               {"1700000007000", 7},
               {"86400", 86400},
               {"", -1},
               {"soon", -1},
               {"-5", -1},
               {"5 parsecs", -1},
               {"1e999", -1},
               {"12:", -1}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const double got = nst_pace_read_wait(known[i].text, NOW);
    if (fabs(got - known[i].seconds) > 1e-6) fail_msg("\"%s\" is %g, not %g", known[i].text, got, known[i].seconds);
  }
}

static double wait_of(const char *lines, bool refused) {
  nst_pace_headers h;
  nst_pace_headers_init(&h);
  for (const char *line = lines; *line; line = strchr(line, '\n') + 1)
    nst_pace_headers_take(&h, line, (size_t)(strchr(line, '\n') - line));
  return nst_pace_headers_wait(&h, refused, NOW);
}

static void headers_ask_for_waits(void **state) {
  (void)state;
  assert_true(wait_of("HTTP/1.1 200 OK\r\nContent-Type: text\r\n", true) < 0);
  assert_true(wait_of("retry-AFTER:  7\r\n", false) == 7);
  assert_true(wait_of("Retry-After: nonsense\r\nx-ratelimit-reset-requests: 3s\r\n", true) == 3);
  /* By the server's clock, which is an hour late. */
  assert_true(wait_of("Date: Tue, 14 Nov 2023 21:13:20 GMT\r\nRetry-After: Tue, 14 Nov 2023 21:13:30 GMT\r\n", true) ==
              10);
  static const char both[] = "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 2s\r\n"
                             "x-ratelimit-remaining-tokens: 900\r\nx-ratelimit-reset-tokens: 9s\r\n";
  assert_true(wait_of(both, false) == 2);
  assert_true(wait_of(both, true) == 2);
  static const char left[] = "x-ratelimit-remaining-tokens: 900\r\nx-ratelimit-reset-tokens: 9s\r\n";
  assert_true(wait_of(left, false) < 0); /* nothing is used up */
  assert_true(wait_of(left, true) == 9);
  assert_true(
    wait_of("anthropic-ratelimit-requests-reset: 2023-11-14T22:13:30Z\r\nanthropic-ratelimit-requests-remaining: 0\r\n",
            false) == 10);
  assert_true(wait_of("x-ratelimit-reset: 1700000004\r\nx-ratelimit-remaining: 0\r\n", false) == 4);
}

static void requests_grow_and_are_halved_once_a_round(void **state) {
  (void)state;
  nst_pace p = nst_pace_make(100);
  assert_true(p.limit == 1);
  for (int i = 0; i < 31; i++) nst_pace_good(&p);
  assert_true(p.limit == 32);                                                   /* doubled in each of five rounds */
  for (int i = 0; i < 10; i++) nst_pace_trouble(&p, 5 - 0.1 * i, 5 + 0.01 * i); /* all under way together */
  assert_true(p.limit == 16);
  for (int i = 0; i < 16; i++) nst_pace_good(&p);
  assert_true(p.limit > 16.9 && p.limit < 17); /* one more a round */
  nst_pace single = p;                         /* a refusal among answers: a quarter */
  nst_pace_limited(&single, 6, 7);
  assert_true(single.limit == floor(p.limit * 0.75));
  nst_pace_limited(&single, 6.5, 7.5); /* under way together */
  assert_true(single.limit == floor(p.limit * 0.75));
  nst_pace_trouble(&p, 6, 7);
  assert_true(p.limit == 8);
  for (int i = 0; i < 20; i++) nst_pace_trouble(&p, 10 + i, 10 + i);
  assert_true(p.limit == 1);
  for (int i = 0; i < 100000; i++) nst_pace_good(&p);
  assert_true(p.limit == 100);
}

static void backoff_doubles_to_a_minute(void **state) {
  (void)state;
  assert_true(nst_pace_backoff(1, 0) == 0.5);
  assert_true(nst_pace_backoff(4, 0) == 4);
  assert_true(nst_pace_backoff(4, 1) == 2);
  assert_true(nst_pace_backoff(9, 0) == 60);
  assert_true(nst_pace_backoff(UINT64_MAX, 0) == 60);
}

static void texts_of_servers_become_one_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *line;
  } known[] = {{"plain", "plain"},
               {" \n a\r\n\t b \n", "a b"},
               {"\x1b[31mred\a", "[31mred"},
               {"caf\xc3\xa9", "caf\xc3\xa9"},
               {"bad \xff\xc3", "bad ??"},
               {"a\xc2\x9b"
                "2J",
                "a 2J"},
               {"0123456789012345678901234567890", "0123456789012345678901234567890"},
               {"012345678901234567890123456789012345", "0123456789012345678901234567890.."}};
  char line[34];
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    nst_reply_line(line, sizeof line, known[i].text, strlen(known[i].text));
    assert_string_equal(line, known[i].line);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(waits_are_read), cmocka_unit_test(headers_ask_for_waits),
                                     cmocka_unit_test(requests_grow_and_are_halved_once_a_round),
                                     cmocka_unit_test(backoff_doubles_to_a_minute),
                                     cmocka_unit_test(texts_of_servers_become_one_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
