/* Objects on disk: found again, whatever else happens to the files; nobody else's;
 * many writers at once; and the code generator using them. */
#include "test.h"

#include "backend/jit.h"
#include "backend/object_cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static int make_root(void **state) {
  (void)state;
  strcpy(root, "/tmp/nestor-cache-XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  return system(command) ? -1 : 0;
}

static const char *in_root(const char *name) {
  static char path[4][512];
  static int next;
  char *p = path[next++ % 4];
  snprintf(p, sizeof path[0], "%s/%s", root, name);
  return p;
}

/* The only entry of a directory. */
static char *only_entry(const char *directory) {
  static char path[1024];
  DIR *d = opendir(directory);
  int n = 0;
  assert_non_null(d);
  for (const struct dirent *e; (e = readdir(d));)
    if (*e->d_name != '.') {
      snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
      n++;
    }
  closedir(d);
  assert_int_equal(n, 1);
  return path;
}

static bool has(nst_object_cache *c, const char *description, const char *object) {
  nst_buffer b = {0};
  bool found = nst_object_cache_get(c, description, strlen(description), &b);
  if (found && object) {
    assert_int_equal(b.len, strlen(object));
    assert_memory_equal(b.text, object, b.len);
  }
  if (!found) assert_int_equal(b.len, 0);
  nst_buffer_fini(&b);
  return found;
}

static void put(nst_object_cache *c, const char *description, const char *object) {
  nst_object_cache_put(c, description, strlen(description), object, strlen(object));
}

static void finds_what_was_put(void **state) {
  (void)state;
  const char *dir = in_root("a/b/c");
  nst_object_cache *c = nst_object_cache_open(dir);
  struct stat st;
  assert_non_null(c);
  assert_int_equal(stat(dir, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0700);
  assert_false(has(c, "one", NULL));
  put(c, "one", "code of one");
  put(c, "two", "code of two");
  assert_true(has(c, "one", "code of one"));
  put(c, "one", "other code of one");
  nst_object_cache_close(c);
  c = nst_object_cache_open(dir);
  assert_true(has(c, "one", "other code of one"));
  assert_true(has(c, "two", "code of two"));
  assert_false(has(c, "on", NULL));
  nst_object_cache_close(c);
}

/* Every byte changed, every length: never found, and replaced by the next. */
static void ignores_damage(void **state) {
  (void)state;
  const char *dir = in_root("damage");
  nst_object_cache *c = nst_object_cache_open(dir);
  put(c, "description", "object");
  const char *path = only_entry(dir);
  char bytes[256], changed[256];
  FILE *f = fopen(path, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  assert_in_range(n, 30, 200);
  for (size_t k = 0; k < 2 * n + 1; k++) {
    size_t len = k < n ? n : k < 2 * n ? k - n : n + 1;
    memcpy(changed, bytes, n);
    changed[n] = 0;
    if (k < n) changed[k] ^= 0x10;
    f = fopen(path, "wb");
    assert_int_equal(fwrite(changed, 1, len, f), len);
    fclose(f);
    assert_false(has(c, "description", NULL));
  }
  put(c, "description", "object");
  assert_true(has(c, "description", "object"));
  nst_object_cache_close(c);
}

static void ignores_what_is_not_its_own(void **state) {
  (void)state;
  const char *dir = in_root("foreign");
  nst_object_cache *c = nst_object_cache_open(dir);
  put(c, "description", "object");
  const char *path = only_entry(dir);
  assert_int_equal(chmod(path, 0622), 0); /* others may have written it */
  assert_false(has(c, "description", NULL));
  put(c, "description", "object");
  assert_true(has(c, "description", "object"));
  char *elsewhere = strdup(in_root("elsewhere"));
  assert_int_equal(rename(path, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, path), 0); /* a link to what would be good */
  assert_false(has(c, "description", NULL));
  put(c, "description", "object");
  assert_true(has(c, "description", "object"));
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_false(has(c, "description", NULL)); /* and does not wait for a writer */
  put(c, "description", "object");
  assert_true(has(c, "description", "object"));
  if (geteuid() == 0) {
    assert_int_equal(chown(path, 1, 1), 0);
    assert_false(has(c, "description", NULL));
    put(c, "description", "object");
    assert_true(has(c, "description", "object"));
  }
  free(elsewhere);
  nst_object_cache_close(c);
}

static void refuses_an_open_directory(void **state) {
  (void)state;
  const char *dir = in_root("open"), *link = in_root("link");
  assert_int_equal(mkdir(dir, 0700), 0);
  nst_object_cache *c = nst_object_cache_open(dir);
  assert_non_null(c);
  nst_object_cache_close(c);
  static const mode_t modes[] = {0755, 0710, 0701, 0770};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(chmod(dir, modes[i]), 0);
    assert_null(nst_object_cache_open(dir));
  }
  assert_int_equal(chmod(dir, 0700), 0);
  assert_int_equal(symlink(dir, link), 0);
  assert_null(nst_object_cache_open(link));
  if (geteuid() == 0) {
    assert_int_equal(chown(dir, 1, 1), 0);
    assert_null(nst_object_cache_open(dir));
  }
  FILE *f = fopen(in_root("file"), "w");
  fclose(f);
  assert_null(nst_object_cache_open(in_root("file")));
  assert_null(nst_object_cache_open(in_root("file/below")));
  assert_null(nst_object_cache_open(""));
}

static void knows_the_usual_place(void **state) {
  (void)state;
  char *home = strdup(in_root("home"));
  assert_int_equal(mkdir(home, 0755), 0);
  setenv("HOME", home, 1);
  unsetenv("XDG_CACHE_HOME");
  nst_object_cache_close(nst_object_cache_open(NULL));
  assert_int_equal(access(in_root("home/.cache/nestor"), F_OK), 0);
  setenv("XDG_CACHE_HOME", in_root("xdg"), 1);
  nst_object_cache_close(nst_object_cache_open(NULL));
  assert_int_equal(access(in_root("xdg/nestor"), F_OK), 0);
  setenv("XDG_CACHE_HOME", "relative", 1); /* does not count */
  nst_object_cache *c = nst_object_cache_open(NULL);
  assert_non_null(c);
  nst_object_cache_close(c);
  assert_int_not_equal(access("relative", F_OK), 0);
  unsetenv("HOME");
  assert_null(nst_object_cache_open(NULL));
  unsetenv("XDG_CACHE_HOME");
  free(home);
}

/* Objects of many lengths under few descriptions, from many processes: whoever finds one finds it whole. */
static void writers_meet(void **state) {
  (void)state;
  enum { WRITERS = 8, ROUNDS = 300, KEYS = 3, LONGEST = 5000 };
  char *dir = strdup(in_root("writers"));
  nst_object_cache_close(nst_object_cache_open(dir));
  for (int w = 0; w < WRITERS; w++) {
    if (fork()) continue;
    nst_object_cache *c = nst_object_cache_open(dir);
    static char object[LONGEST];
    bool good = c != NULL;
    for (int r = 0; r < ROUNDS && good; r++) {
      char key[2] = {(char)('a' + r % KEYS), 0};
      size_t len = 1 + (size_t)(r * 7919 + w * 104729) % LONGEST;
      memset(object, key[0] ^ (int)(len & 0x1f), len);
      nst_object_cache_put(c, key, 1, object, len);
      nst_buffer b = {0};
      if (nst_object_cache_get(c, key, 1, &b))
        for (size_t i = 0; i < b.len && good; i++) good = b.text[i] == (char)(key[0] ^ (int)(b.len & 0x1f));
      else good = false; /* somebody's is always there */
      nst_buffer_fini(&b);
    }
    _exit(good ? 0 : 1);
  }
  for (int w = 0; w < WRITERS; w++) {
    int status = -1;
    wait(&status);
    assert_int_equal(status, 0);
  }
  DIR *d = opendir(dir);
  int n = 0;
  for (const struct dirent *e; (e = readdir(d));) n += *e->d_name != '.';
  closedir(d);
  assert_int_equal(n, KEYS); /* nothing is left on its way */
  free(dir);
}

static void stays_small(void **state) {
  (void)state;
  const char *dir = in_root("small");
  nst_object_cache *c = nst_object_cache_open(dir);
  char key[16];
  for (int i = 0; i < 1200; i++) {
    snprintf(key, sizeof key, "%d", i);
    put(c, key, "x");
  }
  int n = 0;
  for (int i = 0; i < 1200; i++) {
    snprintf(key, sizeof key, "%d", i);
    n += has(c, key, "x");
  }
  assert_in_range(n, 200, 512);
  nst_object_cache_close(c);
}

/* ---- the code generator ---- */

static nst_code *sum_code(nst_arena *arena, int64_t constant) {
  nst_code *c = NST_NEW(arena, nst_code);
  nst_code_init(c, arena, "sum");
  nst_code_store(c, 0, nst_code_op(c, NST_INST_ADD, nst_code_load(c, 0, 0), nst_code_const(c, constant)));
  c->status = nst_code_const(c, 0);
  return c;
}

static int64_t call(nst_code_function *f, int64_t x) {
  const int64_t *in[] = {&x};
  int64_t out = 0;
  assert_int_equal(f(in, 0, &out), 0);
  return out;
}

static nst_jit *open_jit(const char *directory) {
  nst_jit *jit = NULL;
  assert_int_equal(nst_jit_new(&jit, NULL, NULL), NST_JIT_OK);
  if (directory) nst_jit_use_cache(jit, directory);
  return jit;
}

static void code_comes_back(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  char *dir = strdup(in_root("code"));
  for (int round = 0; round < 4; round++) {
    if (round == 3) assert_int_equal(truncate(only_entry(dir), 100), 0); /* damaged: made again, not an error */
    nst_jit *jit = open_jit(dir);
    nst_jit_unit *units[3];
    nst_code_function *f[3];
    for (int i = 0; i < 3; i++) /* three times the same: one entry */
      assert_int_equal(nst_jit_compile(&units[i], &f[i], jit, sum_code(arena, 5), 1, (nst_jit_options){.level = NST_JIT_O1}, NULL), NST_JIT_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(call(f[i], 37 + i), 42 + i);
    nst_jit_cache_statistics s = nst_jit_cache_show(jit);
    assert_int_equal(s.found, round == 0 || round == 3 ? 2 : 3);
    assert_int_equal(s.stored, round == 0 || round == 3 ? 1 : 0);
    for (int i = 0; i < 3; i++) nst_jit_unit_free(jit, units[i]);
    nst_jit_free(jit);
  }
  nst_jit *jit = open_jit(dir); /* other code, another level: not mistaken */
  nst_jit_unit *unit;
  nst_code_function *f;
  assert_int_equal(nst_jit_compile(&unit, &f, jit, sum_code(arena, 6), 1, (nst_jit_options){.level = NST_JIT_O1}, NULL), NST_JIT_OK);
  assert_int_equal(call(f, 37), 43);
  nst_jit_unit_free(jit, unit);
  assert_int_equal(nst_jit_compile(&unit, &f, jit, sum_code(arena, 5), 1, (nst_jit_options){.level = NST_JIT_O0}, NULL), NST_JIT_OK);
  assert_int_equal(call(f, 37), 42);
  nst_jit_unit_free(jit, unit);
  assert_int_equal(nst_jit_cache_show(jit).found, 0);
  nst_jit_free(jit);
  nst_arena_free(arena);
  free(dir);
}

static void without_a_cache(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  static const char *const directories[] = {NULL, "", "/dev/null/nowhere"};
  for (int i = 0; i < 3; i++) {
    nst_jit *jit = open_jit(directories[i]);
    nst_jit_unit *unit;
    nst_code_function *f;
    assert_int_equal(nst_jit_compile(&unit, &f, jit, sum_code(arena, 5), 1, (nst_jit_options){.level = NST_JIT_O1}, NULL), NST_JIT_OK);
    assert_int_equal(call(f, 37), 42);
    nst_jit_cache_statistics s = nst_jit_cache_show(jit);
    assert_int_equal(s.found + s.stored, 0);
    nst_jit_unit_free(jit, unit);
    nst_jit_free(jit);
  }
  nst_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_was_put),        cmocka_unit_test(ignores_damage), cmocka_unit_test(ignores_what_is_not_its_own),
    cmocka_unit_test(refuses_an_open_directory), cmocka_unit_test(knows_the_usual_place), cmocka_unit_test(writers_meet),
    cmocka_unit_test(stays_small),               cmocka_unit_test(code_comes_back), cmocka_unit_test(without_a_cache),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
