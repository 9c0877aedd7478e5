/* The run file: rows and their order, refusals, what survives a kill, a torn write and a full disk. */
#include "tests/unit/test.h"

#include "bench/run/runfile.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64], path[96];
static char error[NST_RUNFILE_ERROR];

static int make_directory(void **state) {
  (void)state;
  strcpy(directory, "/tmp/nestor-runfile-XXXXXX");
  if (!mkdtemp(directory)) return -1;
  snprintf(path, sizeof path, "%s/run.sqlite", directory);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

static bool put_sample(nst_runfile *run, const char *task, int number, const char *rest, const char *hash) {
  char line[65536], why[NST_RECORD_ERROR];
  const int n = snprintf(line, sizeof line, "{\"task_id\":\"%s\",\"sample_id\":\"%d\",%s}", task, number, rest);
  nst_sample s;
  assert_true(nst_sample_parse(&s, line, (size_t)n, why));
  const bool ok = nst_runfile_put_sample(run, &s, hash, error);
  nst_sample_fini(&s);
  return ok;
}

static void put_task(nst_runfile *run, size_t position, const char *name) {
  char line[512], why[NST_RECORD_ERROR];
  const int n =
    snprintf(line, sizeof line,
             "{\"schema\":\"nestor.task/"
             "1\",\"task_id\":\"%s\",\"suite\":\"s\",\"version\":1,\"split\":\"dev\",\"kind\":\"qa.compare\","
             "\"level\":1,\"seed\":1,\"cluster\":\"c\",\"messages\":[],\"spec\":{\"answer\":\"choice\"},\"limits\":{},"
             "\"answer_commit\":\"\",\"content_hash\":\"\",\"canary\":\"\"}",
             name);
  nst_task t;
  assert_true(nst_task_parse(&t, line, (size_t)n, why));
  assert_true(nst_runfile_put_task(run, position, &t, error));
  nst_task_fini(&t);
}

static bool put_result(nst_runfile *run, const char *task, int number) {
  char line[512], why[NST_RECORD_ERROR];
  const int n = snprintf(
    line, sizeof line,
    "{\"schema\":\"nestor.result/1\",\"task_id\":\"%s\",\"sample_id\":\"%d\",\"passed\":true,\"outcome\":\"passed\","
    "\"score\":1.0,\"sub\":{}}",
    task, number);
  nst_result r;
  assert_true(nst_result_parse(&r, line, (size_t)n, why));
  const bool ok = nst_runfile_put_result(run, &r, error);
  nst_result_fini(&r);
  return ok;
}

static nst_runfile *opened(bool create) {
  nst_runfile *run = nst_runfile_open(path, create, error);
  if (!run) fail_msg("%s", error);
  return run;
}

/* Names of what is shown, " task/number" and "+" where it has a result. */
typedef struct {
  char text[1024];
  nst_runfile *grade;
} shown;
static bool note(void *context, const nst_sample *s, const nst_result *r) {
  shown *out = context;
  const size_t n = strlen(out->text);
  snprintf(out->text + n, sizeof out->text - n, " %s/%s%s", s->task_id, s->sample_id, r ? "+" : "");
  if (out->grade) put_result(out->grade, s->task_id, atoi(s->sample_id));
  return true;
}
static bool count(void *context, const nst_sample *s, const nst_result *r) {
  (void)s, (void)r;
  ++*(int *)context;
  return true;
}

static void rows_come_in_order_and_are_replaced(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  assert_string_equal(nst_runfile_get(run, "schema"), "nestor.run/1");
  assert_null(nst_runfile_get(run, "model"));
  assert_true(nst_runfile_put(run, "model", "m1", error));
  assert_true(nst_runfile_put(run, "model", "m2", error));
  assert_string_equal(nst_runfile_get(run, "model"), "m2");
  put_task(run, 1, "a");
  put_task(run, 0, "b");
  put_task(run, 1, "a");
  assert_int_equal(nst_runfile_tasks(run), 2);
  for (int i = 10; i >= 0; i -= 5) assert_true(put_sample(run, "a", i, "\"completion\":\"x\"", "h"));
  assert_true(put_sample(run, "b", 0, "\"error\":\"503\"", "h0"));
  assert_false(nst_runfile_has(run, "b", "0", "h0"));
  assert_true(nst_runfile_has(run, "a", "5", "h"));
  assert_true(nst_runfile_has(run, "a", "5", NULL));
  assert_false(nst_runfile_has(run, "a", "5", "other"));
  assert_true(put_result(run, "b", 0));
  assert_true(put_sample(run, "b", 0, "\"completion\":\"x\"", "h0")); /* takes the result of the error away */
  assert_true(nst_runfile_has(run, "b", "0", "h0"));
  assert_true(put_sample(run, "b", 1, "\"completion\":\"y\",\"parent_sample_id\":\"0\"", "h1"));
  shown all = {"", run}; /* putting while walking */
  assert_true(nst_runfile_each_sample(run, note, &all, error));
  assert_string_equal(all.text, " b/0 a/0 a/5 a/10");
  nst_runfile_free(run);
  run = opened(false);
  all = (shown){"", NULL};
  assert_true(nst_runfile_each_sample(run, note, &all, error));
  assert_string_equal(all.text, " b/0+ a/0+ a/5+ a/10+");
  all = (shown){"", NULL};
  assert_true(nst_runfile_each_revision(run, note, &all, error));
  assert_string_equal(all.text, " b/1");
  all = (shown){"", NULL};
  assert_true(nst_runfile_find(run, "a", "5", note, &all, error));
  assert_true(nst_runfile_find(run, "a", "6", note, &all, error));
  assert_string_equal(all.text, " a/5+");
  nst_runfile_free(run);
}

static char *bytes(size_t *size) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  char *all = malloc(1 << 20);
  *size = fread(all, 1, 1 << 20, f);
  fclose(f);
  return all;
}

static void reading_changes_nothing_and_one_file_is_left(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  for (int i = 0; i < 20; i++) assert_true(put_sample(run, "a", i, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run);
  char beside[128];
  snprintf(beside, sizeof beside, "%s-wal", path);
  assert_int_not_equal(access(beside, F_OK), 0);
  size_t before, after;
  char *old = bytes(&before);
  for (int create = 0; create < 2; create++) {
    run = opened(create);
    assert_true(nst_runfile_has(run, "a", "3", "h"));
    nst_runfile_free(run);
  }
  char *new = bytes(&after);
  assert_int_equal(before, after);
  assert_memory_equal(old, new, before);
  free(old);
  free(new);
}

static void refused(bool create, const char *why) {
  nst_runfile *run = nst_runfile_open(path, create, error);
  assert_null(run);
  if (!strstr(error, why)) fail_msg("\"%s\" does not say \"%s\"", error, why);
  assert_non_null(strstr(error, path));
}

static void write_bytes(const char *text, size_t size) {
  FILE *f = fopen(path, "wb");
  assert_int_equal(fwrite(text, 1, size, f), size);
  fclose(f);
}

static void make_database(const char *text) {
  unlink(path);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void what_is_no_run_file_is_refused(void **state) {
  (void)state;
  refused(false, "there is no such run file");
  assert_int_not_equal(access(path, F_OK), 0);
  write_bytes("", 0);
  refused(false, "empty");
  for (int create = 0; create < 2; create++) {
    write_bytes("{\"task_id\": 1}\n", 15);
    refused(create, "not a SQLite database");
    make_database("CREATE TABLE t (x)");
    refused(create, "of another program");
    unlink(path);
    nst_runfile *run = opened(true);
    assert_true(nst_runfile_put(run, "schema", "nestor.run/2", error));
    nst_runfile_free(run);
    refused(create, "its schema is \"nestor.run/2\"");
    unlink(path);
    assert_int_equal(mkdir(path, 0777), 0);
    refused(create, "irectory");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    refused(create, "not a regular file");
    unlink(path);
  }
  write_bytes("", 0); /* what a kill between making and filling leaves */
  nst_runfile_free(opened(true));
  nst_runfile_free(opened(false));
}

static void two_writers_are_refused_and_readers_are_not(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  assert_true(put_sample(run, "a", 0, "\"completion\":\"x\"", "h"));
  const pid_t child = fork();
  if (child == 0) {
    nst_runfile *other = nst_runfile_open(path, true, error);
    _exit(other ? 1 : strstr(error, "in use") ? 0 : 2);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  nst_runfile *reader = opened(false);
  assert_true(nst_runfile_has(reader, "a", "0", "h"));
  assert_true(put_sample(run, "a", 1, "\"completion\":\"x\"", "h"));
  assert_true(nst_runfile_has(reader, "a", "1", "h"));
  assert_true(put_result(reader, "a", 1)); /* in its turn */
  assert_true(put_sample(run, "a", 2, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run);
  nst_runfile_free(reader);
  run = opened(false);
  int n = 0;
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_int_equal(n, 3);
  nst_runfile_free(run);
}

/* A child that puts samples and tells of each, until it is killed. Returns how many it told of. */
static int killed_after(int told) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    nst_runfile *run = nst_runfile_open(path, true, error);
    for (int i = 0; run; i++)
      if (!put_sample(run, "a", i, "\"completion\":\"some text of an answer\"", "h") || write(ends[1], "x", 1) != 1)
        break;
    _exit(1);
  }
  close(ends[1]);
  char c[64];
  int n = 0;
  while (n < told && read(ends[0], c, 1) == 1) n++;
  assert_int_equal(kill(child, SIGKILL), 0);
  for (ssize_t more; (more = read(ends[0], c, sizeof c)) > 0;) n += (int)more;
  close(ends[0]);
  waitpid(child, NULL, 0);
  return n;
}

static void a_kill_loses_nothing_that_was_told(void **state) {
  (void)state;
  for (int round = 1; round <= 10; round++) {
    unlink(path);
    const int told = killed_after(3 * round);
    nst_runfile *run = opened(round % 2);
    int n = 0;
    assert_true(nst_runfile_each_sample(run, count, &n, error));
    assert_in_range(n, told, told + 1);
    nst_runfile_free(run);
  }
}

/* H09: the journal is cut within its last record. */
static void a_torn_write_loses_the_last_answer_alone(void **state) {
  (void)state;
  char journal[128];
  snprintf(journal, sizeof journal, "%s-wal", path);
  const int told = killed_after(10);
  struct stat st;
  assert_int_equal(stat(journal, &st), 0);
  assert_true(st.st_size > 1000);
  assert_int_equal(truncate(journal, st.st_size - 100), 0);
  nst_runfile *run = opened(true);
  int n = 0;
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_in_range(n, told - 1, told + 1);
  for (int i = 0; i <= told; i++) { /* what is redone has its place */
    char number[16];
    snprintf(number, sizeof number, "%d", i);
    if (!nst_runfile_has(run, "a", number, "h")) assert_true(put_sample(run, "a", i, "\"completion\":\"again\"", "h"));
  }
  n = 0;
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_in_range(n, told + 1, told + 2);
  nst_runfile_free(run);
}

static void damage_is_told_with_its_place(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  for (int i = 0; i < 3; i++) assert_true(put_sample(run, "a", i, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run);
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "UPDATE sample SET json = '{' WHERE sample_id = '1'", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  run = opened(false);
  int n = 0;
  assert_false(nst_runfile_each_sample(run, count, &n, error));
  assert_non_null(strstr(error, "task a, sample 1 is damaged"));
  nst_runfile_free(run);
}

/* A run file of answers that fill pages of their own; `text` is one of them. */
static void fill(char *text, size_t size) {
  memset(text, 'x', size);
  memcpy(text, "\"completion\":\"", 14);
  strcpy(text + size - 2, "\"");
  nst_runfile *run = opened(true);
  put_task(run, 0, "a");
  for (int i = 0; i < 12; i++) assert_true(put_sample(run, "a", i, text, "h") && put_result(run, "a", i));
  nst_runfile_free(run);
}

/* Refused, with what to do, and left as it is. */
static void refused_and_left(bool create, const char *now, size_t size) {
  nst_runfile *run = nst_runfile_open(path, create, error);
  int n = 0;
  if (run && !create) { /* within a record: told when it is read */
    assert_false(nst_runfile_each_sample(run, count, &n, error));
    nst_runfile_free(run);
  } else
    assert_null(run);
  assert_non_null(strstr(error, path));
  assert_non_null(strstr(error, "damaged"));
  assert_non_null(strstr(error, create ? "give another file" : ""));
  size_t after;
  char *left = bytes(&after);
  assert_int_equal(after, size);
  assert_memory_equal(left, now, size);
  free(left);
}

static void damage_is_found_before_anything_is_written(void **state) {
  (void)state;
  enum { PAGE = 4096 };
  char text[9000];
  fill(text, sizeof text);
  size_t size;
  char *whole = bytes(&size), *now = malloc(size);
  assert_true(size > 20 * PAGE);
  for (size_t at = PAGE; at + 2 * PAGE <= size; at += PAGE)
    for (int create = 0; create < 2; create++) {
      memcpy(now, whole, size);
      memset(now + at, 0, 2 * PAGE);
      write_bytes(now, size);
      refused_and_left(create, now, size);
    }
  for (size_t cut = PAGE; cut < size; cut += PAGE + 100)
    for (int create = 0; create < 2; create++) {
      write_bytes(whole, cut);
      refused_and_left(create, whole, cut);
    }
  memcpy(now, whole, size); /* SQLite finds nothing wrong with lost bytes of a text */
  char *in = memmem(now + size / 2, size / 2, "xxxxxxxxxxxxxxxx", 16);
  assert_non_null(in);
  memset(in, 0, 16);
  write_bytes(now, size);
  refused_and_left(false, now, size);
  refused_and_left(true, now, size);
  assert_non_null(strstr(error, "out of table sample"));
  free(now);
  free(whole);
}

/* A journal that a kill left beside it is not written into it either. */
static void damage_beside_a_journal_is_left(void **state) {
  (void)state;
  char text[9000];
  fill(text, sizeof text);
  const pid_t child = fork();
  if (child == 0) {
    nst_runfile *run = nst_runfile_open(path, true, error);
    _exit(run && put_sample(run, "a", 100, text, "h") ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  size_t size;
  char *now = bytes(&size);
  memset(now + size / 2, 0, 8192);
  write_bytes(now, size);
  refused_and_left(true, now, size);
  free(now);
}

static void a_file_that_another_program_locks_is_told_of(void **state) {
  (void)state;
  nst_runfile_free(opened(true));
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
  for (int create = 0; create < 2; create++) refused(create, "another process keeps it locked; wait for it to end");
  sqlite3_close(db);
  nst_runfile_free(opened(true));
}

static void a_full_disk_is_told_and_keeps_what_was_there(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    nst_runfile *run = nst_runfile_open(path, true, error);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, 300000});
    char *text = malloc(60000);
    memset(text, 'x', 60000);
    snprintf(text + 50000, 100, "\"");
    memcpy(text, "\"completion\":\"", 14);
    int n = 0;
    while (n < 100 && put_sample(run, "a", n, text, "h")) n++;
    _exit(n == 100 ? 101 : strstr(error, "file size limit") || strstr(error, "full") ? n : 102);
  }
  int status;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  assert_in_range(WEXITSTATUS(status), 1, 50);
  nst_runfile *run = opened(true);
  int n = 0;
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_int_equal(n, WEXITSTATUS(status));
  nst_runfile_free(run);
}

static void what_may_not_be_written_can_be_read(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  assert_true(put_sample(run, "a", 0, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run);
  chmod(path, 0444);
  chmod(directory, 0555);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(0);
    run = nst_runfile_open(path, false, error);
    if (!run || !nst_runfile_has(run, "a", "0", "h")) _exit(1);
    if (put_sample(run, "a", 1, "\"completion\":\"x\"", "h") || !strstr(error, "read-only")) _exit(2);
    nst_runfile_free(run);
    if (nst_runfile_open(path, true, error) || !strstr(error, "for writing")) _exit(3);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  chmod(directory, 0755);
  assert_int_equal(status, 0);
}

static void many_puts_are_one_transaction(void **state) {
  (void)state;
  nst_runfile *run = opened(true);
  assert_true(nst_runfile_begin(run, error));
  for (int i = 0; i < 100; i++) assert_true(put_sample(run, "a", i, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run); /* not committed */
  run = opened(true);
  int n = 0;
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_int_equal(n, 0);
  assert_true(nst_runfile_begin(run, error));
  for (int i = 0; i < 100; i++)
    assert_true(put_sample(run, "a", i, "\"completion\":\"x\"", "h") && put_result(run, "a", i));
  assert_true(nst_runfile_commit(run, error));
  assert_true(put_sample(run, "a", 100, "\"completion\":\"x\"", "h"));
  nst_runfile_free(run);
  run = opened(false);
  assert_true(nst_runfile_each_sample(run, count, &n, error));
  assert_int_equal(n, 101);
  nst_runfile_free(run);
}

static void lines_of_other_tools_are_read(void **state) {
  (void)state;
  char samples[96], results[96];
  snprintf(samples, sizeof samples, "%s/s.jsonl", directory);
  snprintf(results, sizeof results, "%s/r.jsonl", directory);
  FILE *f = fopen(samples, "w");
  fputs("{\"task_id\":\"a\",\"solution\":\"x\"}\n{\"task_id\":\"b\",\"completion\":\"y\",\"sample_id\":\"1\"}", f);
  fclose(f);
  f = fopen(results, "w");
  for (int i = 0; i < 2; i++)
    fprintf(
      f,
      "{\"schema\":\"nestor.result/"
      "1\",\"task_id\":\"a\",\"sample_id\":\"%d\",\"passed\":true,\"outcome\":\"passed\",\"score\":1,\"sub\":{}}\n",
      i);
  fclose(f);
  nst_runfile *run = nst_runfile_read_jsonl(NULL, samples, results, error);
  assert_non_null(run);
  shown all = {"", NULL};
  assert_true(nst_runfile_each_sample(run, note, &all, error));
  assert_string_equal(all.text, " a/0+ a/1+ b/1");
  nst_runfile_free(run);
  f = fopen(samples, "a");
  fputs("\n\n{\"task_id\":\"a\",\"completion\":\"z\"}\n", f);
  fclose(f);
  assert_null(nst_runfile_read_jsonl(NULL, samples, NULL, error));
  assert_non_null(strstr(error, "s.jsonl:4: sample 0 of task a is there twice"));
  assert_null(nst_runfile_read_jsonl(samples, NULL, NULL, error));
  assert_non_null(strstr(error, "s.jsonl:1: "));
  assert_null(nst_runfile_read_jsonl("/nowhere.jsonl", NULL, NULL, error));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(rows_come_in_order_and_are_replaced), TEST(reading_changes_nothing_and_one_file_is_left),
    TEST(what_is_no_run_file_is_refused),      TEST(two_writers_are_refused_and_readers_are_not),
    TEST(a_kill_loses_nothing_that_was_told),  TEST(a_torn_write_loses_the_last_answer_alone),
    TEST(damage_is_told_with_its_place),       TEST(a_full_disk_is_told_and_keeps_what_was_there),
    TEST(what_may_not_be_written_can_be_read), TEST(many_puts_are_one_transaction),
    TEST(lines_of_other_tools_are_read),       TEST(damage_is_found_before_anything_is_written),
    TEST(damage_beside_a_journal_is_left),     TEST(a_file_that_another_program_locks_is_told_of)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
