/* Records, lines, digests and random streams: what the rest of the benchmark stands on. */
#include "tests/unit/test.h"

#include "bench/record/digest.h"
#include "bench/record/lines.h"
#include "bench/record/random.h"
#include "bench/record/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void digests_are_sha_256(void **state) {
  (void)state;
  char text[NST_DIGEST_TEXT];
  nst_digest_text(text, (const nst_digest_part[]){{"a", 1}, {"bc", 2}}, 2); /* FIPS 180-2, B.1 */
  assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void random_streams_are_named_and_even(void **state) {
  (void)state;
  nst_random a = nst_random_make(1, "x"), b = nst_random_make(1, "y"), c = nst_random_make(1, "x");
  const uint64_t first = nst_random_next(&a);
  assert_true(first != nst_random_next(&b));
  assert_true(first == nst_random_next(&c));
  int seen[7] = {0};
  for (int i = 0; i < 70000; i++) seen[nst_random_between(&a, -3, 3) + 3]++;
  for (int i = 0; i < 7; i++) assert_in_range(seen[i], 9500, 10500);
  int order[20];
  for (int i = 0; i < 20; i++) order[i] = i;
  nst_random_shuffle(&a, order, 20, sizeof *order);
  uint32_t all = 0;
  for (int i = 0; i < 20; i++) all |= 1u << order[i];
  assert_int_equal(all, (1u << 20) - 1);
  (void)nst_random_between(&a, INT64_MIN, INT64_MAX);
}

static void integers_past_2_53_are_texts(void **state) {
  (void)state;
  const int64_t values[] = {0, -1, (INT64_C(1) << 53), (INT64_C(1) << 53) + 1, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    json_t *json = nst_record_from_int(values[i]);
    int64_t back;
    assert_true(nst_record_int(json, &back));
    assert_true(back == values[i]);
    json_decref(json);
  }
  json_t *past = json_string("9223372036854775808");
  int64_t none;
  assert_false(nst_record_int(past, &none));
  json_decref(past);
}

static void samples_are_read_and_refused(void **state) {
  (void)state;
  char error[NST_RECORD_ERROR];
  nst_sample s;
  static const char good[] = "{\"task_id\":\"t\",\"solution\":\"a\\u0000b\",\"mine\":[1]}";
  assert_true(nst_sample_parse(&s, good, strlen(good), error));
  assert_int_equal(s.completion_size, 3);
  assert_string_equal(s.sample_id, "0");
  size_t size;
  char *text = nst_record_text(s.json, &size);
  assert_string_equal(text, good);
  free(text);
  nst_sample_fini(&s);
  static const struct { const char *line, *why; } bad[] = {
    {"{\"task_id\":\"t\"}", "\"completion\" is missing"},
    {"{\"completion\":\"x\"}", "\"task_id\" is missing"},
    {"{\"task_id\":1,\"completion\":\"x\"}", "\"task_id\" must be a text"},
    {"[]", "it is not a JSON object"},
    {"{\"schema\":\"nestor.task/1\",\"task_id\":\"t\",\"completion\":\"x\"}",
     "its schema is \"nestor.task/1\", not \"nestor.sample/1\""},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_false(nst_sample_parse(&s, bad[i].line, strlen(bad[i].line), error));
    assert_string_equal(error, bad[i].why);
  }
  assert_false(nst_sample_parse(&s, "{\"a\":1,\"a\":2}", 13, error));
}

static void lines_are_bounded(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  static const char text[] = "\xEF\xBB\xBFone\n\n  \ntwo two\r\nthree is too long to be kept\nfour";
  assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
  close(ends[1]);
  nst_lines *lines = nst_lines_new(ends[0], 10);
  nst_line line;
  assert_int_equal(nst_lines_next(lines, &line), NST_LINE_READ);
  assert_int_equal(line.size, 3);
  assert_memory_equal(line.text, "one", line.size);
  assert_int_equal(nst_lines_next(lines, &line), NST_LINE_READ);
  assert_int_equal(line.number, 4);
  assert_int_equal(nst_lines_next(lines, &line), NST_LINE_TOO_LONG);
  assert_int_equal(nst_lines_next(lines, &line), NST_LINE_READ);
  assert_int_equal(line.number, 6);
  assert_int_equal(line.size, 4);
  assert_int_equal(nst_lines_next(lines, &line), NST_LINE_END);
  nst_lines_free(lines);
  close(ends[0]);
}

/* A value of any kind; texts hold quotation marks, control characters, NULs and letters of two to four bytes. */
static json_t *any_value(nst_random *r, int depth) {
  static const char *const pieces[] = {"a", "reads@GLB/A", "\"", "\\", "/", "\b", "\f", "\n", "\r", "\t", "\x01", "\x1f", "\x7f", "\xc3\xa9", "\xe2\x80\xa8", "\xf0\x9f\x98\x80"};
  char text[128];
  size_t size = 0;
  json_t *out;
  for (int64_t n = nst_random_between(r, 0, 6); n > 0; n--) {
    const char *piece = pieces[nst_random_between(r, 0, sizeof pieces / sizeof *pieces - 1)];
    memcpy(text + size, piece, strlen(piece));
    size += strlen(piece);
  }
  text[size] = '\0';
  switch (nst_random_between(r, 0, depth ? 8 : 6)) {
    case 0: return json_null();
    case 1: return json_true();
    case 2: return json_false();
    case 3: return json_integer((json_int_t)(nst_random_next(r) >> nst_random_between(r, 0, 63)));
    case 4: {
      static const double reals[] = {0, -0.0, 1, -1, 0.5, 1.0 / 3, 1e15, 1e16, 1.25e17, 1e22, 1e100, 1e-5, 1e-7, 1.5e-10, 2.5e-300, 5e-324, 1.7976931348623157e308, 0.1, 99999.95};
      const double real = reals[nst_random_between(r, 0, sizeof reals / sizeof *reals - 1)];
      return json_real(nst_random_between(r, 0, 1) ? real : real * ((double)nst_random_between(r, -1000000, 1000000) / 7e6));
    }
    case 5: text[size++] = '\0'; return json_stringn(text, size);
    case 6: return json_stringn(text, size);
    case 7:
      out = json_array();
      for (int64_t n = nst_random_between(r, 0, 4); n > 0; n--) json_array_append_new(out, any_value(r, depth - 1));
      return out;
    default:
      out = json_object();
      for (int64_t n = nst_random_between(r, 0, 4); n > 0; n--) {
        text[size] = (char)('a' + n);
        text[size + 1] = '\0';
        json_object_set_new(out, text, any_value(r, depth - 1));
      }
      return out;
  }
}

static void text_is_as_jansson_writes_it(void **state) {
  (void)state;
  nst_random r = nst_random_make(4, "text");
  for (int i = 0; i < 20000; i++) {
    json_t *json = any_value(&r, 4);
    size_t size;
    char *text = nst_record_text(json, &size), *expected = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    free(text);
    free(expected);
    json_decref(json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(digests_are_sha_256), cmocka_unit_test(random_streams_are_named_and_even),
    cmocka_unit_test(integers_past_2_53_are_texts), cmocka_unit_test(samples_are_read_and_refused),
    cmocka_unit_test(lines_are_bounded),
    cmocka_unit_test(text_is_as_jansson_writes_it)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
