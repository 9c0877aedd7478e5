/* Every case file through the three engines: each `expect` must hold of what
 * the simulator counts, and analysis and native code must count the same. The
 * large ones have some ten million points and are the simulator's load test. */
#include "compiled.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under a sanitizer, where the largest are too slow. */
static bool is_reduced(void) {
  const char *scale = getenv("NESTOR_TEST_SCALE");
  return scale && atoi(scale) < 50;
}

/* What the simulator may take on: everything in a release build, where it is fast. */
static uint64_t work_limit(void) {
#ifdef NDEBUG
  if (!is_reduced()) return UINT64_C(1) << 33;
#endif
  return UINT64_C(1) << 28;
}

static char *read_file(const char *path, size_t *len) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(1 << 20);
  assert_non_null(f);
  assert_non_null(text);
  *len = fread(text, 1, 1 << 20, f);
  fclose(f);
  return text;
}

static void run_file(const char *path, agree *engines, int *files, int *expects, nst_buffer *log) {
  size_t len;
  char *text = read_file(path, &len);
  compiled c;
  compile_text(&c, path, text, len);
  if (!c.program) {
    nst_buffer_puts(log, compiled_messages(&c));
  } else {
    for (int i = 0; i < c.program->nmappings; i++) {
      const char *wrong = nst_ir_verify_mapping(c.arena, c.program->mappings[i]);
      if (wrong) nst_buffer_printf(log, "%s: %s\n", path, wrong);
    }
    *expects += compiled_expectations(&c, work_limit(), engines, log);
  }
  ++*files;
  compiled_fini(&c);
  free(text);
}

static int is_program(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return dot && !strcmp(dot, ".nest");
}

static void run_directory(const char *name, int files_at_least, int expects_at_least) {
  char path[512];
  agree *engines = agree_new();
  struct dirent **list;
  nst_buffer log = {0};
  int files = 0, expects = 0, n, native, left;
  snprintf(path, sizeof path, NST_SOURCE_DIR "/tests/cases/%s", name);
  n = scandir(path, &list, is_program, alphasort);
  assert_true(n >= files_at_least);
  for (int i = 0; i < n; i++) {
    char file[1024];
    snprintf(file, sizeof file, "%s/%s", path, list[i]->d_name);
    run_file(file, engines, &files, &expects, &log);
    free(list[i]);
  }
  free(list);
  agree_native(engines, &native, &left);
  agree_free(engines);
  printf("%s: %d files, %d expectations; %d nests by native code, %d left to the analysis\n", name, files, expects, native,
         left);
  if (log.len) fail_msg("%s", log.text);
  assert_true(expects >= expects_at_least);
  assert_true(native + left == 0 || native >= files_at_least - (work_limit() < UINT64_C(1) << 33)); /* 0: no native code */
  nst_buffer_fini(&log);
}

static void test_named(void **state) { (void)state, run_directory("named", 26, 400); }
static void test_forms(void **state) { (void)state, run_directory("forms", 15, 190); }
static void test_random(void **state) { (void)state, run_directory("random", 300, 6000); }
static void test_cascades(void **state) { (void)state, run_directory("cascades", 90, 4000); }

static void test_large(void **state) {
  (void)state;
  if (is_reduced()) skip();
  run_directory("large", 40, 800);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_named),    cmocka_unit_test(test_forms), cmocka_unit_test(test_random),
    cmocka_unit_test(test_cascades), cmocka_unit_test(test_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
