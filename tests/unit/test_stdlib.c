/* The embedded standard library is the files of stdlib/, sorted by name. */
#include "test.h"

#include "stdlib/stdlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_is_the_files(void **state) {
  (void)state;
  assert_true(nst_stdlib_count > 0);
  for (size_t i = 0; i < nst_stdlib_count; i++) {
    const nst_stdlib_entry *e = &nst_stdlib_entries[i];
    if (i > 0) assert_true(strcmp(nst_stdlib_entries[i - 1].name, e->name) < 0);
    assert_memory_equal(e->name, "std.", 4);
    char path[1024];
    int n = snprintf(path, sizeof path, "%s/stdlib/%s.nest", NST_SOURCE_DIR, e->name + 4);
    for (char *p = path + strlen(NST_SOURCE_DIR "/stdlib/"); p < path + n - 5; p++) {
      if (*p == '.') *p = '/';
    }
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is not a file", path);
    char *text = malloc(e->len + 1);
    size_t len = fread(text, 1, e->len + 1, file);
    fclose(file);
    assert_int_equal(len, e->len);
    assert_memory_equal(text, e->text, len);
    assert_int_equal(e->text[len], 0);
    free(text);
  }
  assert_null(nst_stdlib_entries[nst_stdlib_count].name);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_the_files)};
  return cmocka_run_group_tests_name("stdlib", tests, NULL, NULL);
}
