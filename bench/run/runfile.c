/* The run file over SQLite: opening and its refusals, facts, rows.
 *
 * A file is checked when it is opened: its pages and indices always, its records where it is to be written to (who
 * reads it alone parses each of them anyway). A damaged one is refused and left as it is.
 *
 * The file is switched to WAL mode at the first write and back when it is closed, so that reading changes nothing and a
 * file at rest is one file. Walks take the row numbers first and then one row at a time, so that no statement is open
 * while the callee runs. */
#include "bench/run/runfile.h"

#include "bench/record/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* OPENING_BUSY_MS: of a file that another program keeps locked nothing is to be had; BUSY_MS: writers in turn. */
enum {
  APPLICATION = 0x4E737452 /* "NstR" */,
  OPENING_BUSY_MS = 2000,
  BUSY_MS = 60000,
  LOCK_TRIES = 20,
  LOCK_PAUSE_MS = 50
};

static const char schema_name[] = "nestor.run/1";

/* Statements, each prepared when first needed. */
typedef enum {
  GET,
  PUT,
  PUT_TASK,
  PUT_SAMPLE,
  AMEND_SAMPLE,
  DROP_RESULT,
  PUT_RESULT,
  HAS,
  TASK_AT,
  SAMPLE_AT,
  RESULT_ALONE_AT,
  FIND,
  COUNT,
  STATEMENTS
} statement;
#define SAMPLE_ROW                                                                                                     \
  "SELECT s.json, r.json, s.task_id, s.sample_id FROM sample s LEFT JOIN result r USING (task_id, sample_id) WHERE "
static const char *const sql[STATEMENTS] = {
  [GET] = "SELECT value FROM run WHERE name = ?1",
  [PUT] = "INSERT INTO run VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
  [PUT_TASK] =
    "INSERT INTO task VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET position = excluded.position, json = excluded.json",
  [PUT_SAMPLE] = "INSERT INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET request_hash = "
                 "excluded.request_hash, "
                 "parent = excluded.parent, failed = excluded.failed, json = excluded.json",
  [AMEND_SAMPLE] = "UPDATE sample SET json = ?3 WHERE task_id = ?1 AND sample_id = ?2",
  [DROP_RESULT] = "DELETE FROM result WHERE task_id = ?1 AND sample_id = ?2",
  [PUT_RESULT] = "INSERT INTO result VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET json = excluded.json",
  [HAS] =
    "SELECT 1 FROM sample WHERE task_id = ?1 AND sample_id = ?2 AND (?3 IS NULL OR request_hash = ?3) AND NOT failed",
  [TASK_AT] = "SELECT json, NULL, task_id, NULL FROM task WHERE rowid = ?1",
  [SAMPLE_AT] = SAMPLE_ROW "s.rowid = ?1",
  [RESULT_ALONE_AT] = "SELECT NULL, json, task_id, sample_id FROM result WHERE rowid = ?1",
  [FIND] = "SELECT s.json, r.json, x.task_id, x.sample_id FROM (SELECT ?1 AS task_id, ?2 AS sample_id) x LEFT JOIN "
           "sample s USING (task_id, sample_id) "
           "LEFT JOIN result r USING (task_id, sample_id) WHERE s.json IS NOT NULL OR r.json IS NOT NULL",
  [COUNT] = "SELECT count(*) FROM task",
};

static const char create_sql[] =
  "CREATE TABLE run (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);"
  "CREATE TABLE task (position INTEGER NOT NULL, task_id TEXT PRIMARY KEY NOT NULL, json TEXT NOT NULL);"
  "CREATE TABLE sample (task_id TEXT NOT NULL, sample_id TEXT NOT NULL, request_hash TEXT NOT NULL, parent TEXT,"
  " failed INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (task_id, sample_id));"
  "CREATE TABLE result (task_id TEXT NOT NULL, sample_id TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (task_id, "
  "sample_id));";

struct nst_runfile {
  sqlite3 *db;
  char *path; /* as given; "memory" */
  int lock;   /* a descriptor that holds the lock, or -1 */
  bool in_memory, wal, open_transaction;
  sqlite3_stmt *statements[STATEMENTS];
  char *fact; /* what get returned last */
};

/* ---- errors --------------------------------------------------------------- */

static bool refuse(char *error, const char *path, const char *why) {
  snprintf(error, NST_RUNFILE_ERROR, "%.200s: %s", path, why);
  return false;
}

/* `why` is SQLite's, of one line. */
static bool damaged(nst_runfile *run, char *error, const char *why) {
  snprintf(error, NST_RUNFILE_ERROR,
           "%.150s: it is damaged (%.120s); `sqlite3 FILE .dump` has what is left of it, from which a run can go on "
           "(docs/bench-run.md), or give another file",
           run->path, why);
  return false;
}

/* What SQLite says, in words that tell what to do. */
static bool failed(nst_runfile *run, char *error, const char *doing) {
  const int code = sqlite3_errcode(run->db) & 0xff;
  const char *why = sqlite3_errmsg(run->db), *advice = "";
  switch (code) {
  case SQLITE_FULL: why = "the disk is full", advice = "; make room and run the command again"; break;
  case SQLITE_BUSY: why = "another process keeps it locked", advice = "; wait for it to end"; break;
  case SQLITE_READONLY: why = "it is read-only", advice = "; make the file and its directory writable"; break;
  case SQLITE_NOTADB: why = "it is not a SQLite database", advice = ""; break;
  case SQLITE_CORRUPT: return damaged(run, error, why);
  case SQLITE_IOERR: advice = "; look at the disk's space and the file size limit"; break;
  case SQLITE_CANTOPEN: advice = "; a file that was not closed needs its -wal file and a writable directory"; break;
  }
  snprintf(error, NST_RUNFILE_ERROR, "%.200s: cannot %s: %s%s", run->path, doing, why, advice);
  return false;
}

/* ---- statements ----------------------------------------------------------- */

static sqlite3_stmt *prepare(nst_runfile *run, statement which) {
  sqlite3_stmt **s = &run->statements[which];
  if (!*s && sqlite3_prepare_v3(run->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) != SQLITE_OK) return NULL;
  sqlite3_reset(*s);
  return *s;
}

/* NULL binds NULL. Texts stay the caller's until the statement is reset. */
static void bind(sqlite3_stmt *s, int at, const char *text) { sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC); }

static bool run_to_end(sqlite3_stmt *s) {
  const bool ok = s && sqlite3_step(s) == SQLITE_DONE;
  if (s) sqlite3_reset(s);
  return ok;
}

static bool exec(nst_runfile *run, const char *text) {
  return sqlite3_exec(run->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* Before the first write. Where another reader holds the file it stays as it is: as safe, slower. */
static void use_wal(nst_runfile *run) {
  if (run->wal || run->in_memory) return;
  run->wal = true;
  exec(run, "PRAGMA synchronous = FULL");
  exec(run, "PRAGMA journal_mode = WAL");
}

/* ---- opening -------------------------------------------------------------- */

/* The first bytes of the file: 1 a database, 0 empty, -1 something else or unreadable (said). */
static int kind_of(const char *path, char *error) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer is not waited for */
  struct stat st;
  char head[16];
  int kind = -1;
  if (fd < 0) {
    if (errno == ENOENT)
      refuse(error, path, "there is no such run file; `nestor bench run` makes one");
    else
      refuse(error, path, strerror(errno));
    return -1;
  }
  if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
    refuse(error, path, "it is a directory, not a run file");
  else if (!S_ISREG(st.st_mode))
    refuse(error, path, "it is not a regular file, so no run file");
  else {
    const ssize_t n = read(fd, head, sizeof head);
    if (n == 0)
      kind = 0;
    else if (n == (ssize_t)sizeof head && !memcmp(head, "SQLite format 3", 16))
      kind = 1;
    else
      refuse(error, path, "it is not a run file (not a SQLite database); give another name");
  }
  close(fd);
  return kind;
}

/* Keeps the file to this process. The lock goes with the process, however it ends. */
static bool take_lock(nst_runfile *run, char *error) {
  run->lock = open(run->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (run->lock < 0) {
    snprintf(error, NST_RUNFILE_ERROR, "%.200s: cannot open it for writing: %s", run->path, strerror(errno));
    return false;
  }
  for (int i = 0; i < LOCK_TRIES; i++) { /* a process that was killed may take a moment to be gone */
    if (flock(run->lock, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return refuse(error, run->path, strerror(errno));
    nanosleep(&(struct timespec){0, LOCK_PAUSE_MS * 1000000L}, NULL);
  }
  return refuse(error, run->path, "in use by another process; wait for it to end, or give another --run FILE");
}

static bool whole_number(nst_runfile *run, const char *text, int *out) {
  sqlite3_stmt *s = NULL;
  const bool ok = sqlite3_prepare_v2(run->db, text, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
  if (ok) *out = sqlite3_column_int(s, 0);
  sqlite3_finalize(s);
  return ok;
}

static bool make_tables(nst_runfile *run, char *error) {
  char mark[64];
  snprintf(mark, sizeof mark, "PRAGMA application_id = %d", APPLICATION);
  use_wal(run);
  if (!exec(run, "BEGIN IMMEDIATE") || !exec(run, create_sql) || !exec(run, mark)) return failed(run, error, "make it");
  if (!nst_runfile_put(run, "schema", schema_name, error) || !nst_runfile_put(run, "tool", NST_VERSION, error))
    return false;
  return exec(run, "COMMIT") || failed(run, error, "make it");
}

/* Whether all pages and indices are as they must be. */
static bool check_pages(nst_runfile *run, char *error) {
  sqlite3_stmt *s = NULL;
  bool ok = sqlite3_prepare_v2(run->db, "PRAGMA integrity_check(1)", -1, &s, NULL) == SQLITE_OK &&
            sqlite3_step(s) == SQLITE_ROW;
  if (!ok)
    failed(run, error, "read it");
  else {
    static const char heading[] = "*** in database main ***\n";
    const char *said = (const char *)sqlite3_column_text(s, 0);
    ok = said && !strcmp(said, "ok");
    if (said && !strncmp(said, heading, sizeof heading - 1)) said += sizeof heading - 1;
    char line[128];
    snprintf(line, sizeof line, "%.*s", said ? (int)strcspn(said, "\n") : 0, said ? said : "");
    if (!ok) damaged(run, error, line);
  }
  sqlite3_finalize(s);
  return ok;
}

/* Whose database it is, whether it is whole, and of which version. */
static bool check_tables(nst_runfile *run, bool create, char *error) {
  int id = 0, tables = 0;
  if (!whole_number(run, "PRAGMA application_id", &id) ||
      !whole_number(run, "SELECT count(*) FROM sqlite_schema", &tables))
    return failed(run, error, "read it");
  if (!id && !tables) return create ? make_tables(run, error) : refuse(error, run->path, "it is empty, not a run file");
  if (id != APPLICATION) return refuse(error, run->path, "it is a database of another program, not a run file");
  if (!check_pages(run, error)) return false;
  const char *schema = nst_runfile_get(run, "schema");
  if (schema && !strcmp(schema, schema_name)) return true;
  snprintf(error, NST_RUNFILE_ERROR, "%.200s: its schema is \"%.60s\"; this version reads \"%s\"", run->path,
           schema ? schema : "", schema_name);
  return false;
}

/* Whether each record is JSON: bytes that were lost within one are no damage to SQLite. */
static bool check_records(nst_runfile *run, char *error) {
  static const struct {
    const char *sql, *table;
  } checks[] = {{"SELECT task_id, NULL FROM task WHERE NOT json_valid(json) LIMIT 1", "task"},
                {"SELECT task_id, sample_id FROM sample WHERE NOT json_valid(json) LIMIT 1", "sample"},
                {"SELECT task_id, sample_id FROM result WHERE NOT json_valid(json) LIMIT 1", "result"}};
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    sqlite3_stmt *s = NULL;
    const int got =
      sqlite3_prepare_v2(run->db, checks[i].sql, -1, &s, NULL) == SQLITE_OK ? sqlite3_step(s) : SQLITE_ERROR;
    if (got == SQLITE_ROW) {
      const char *task = (const char *)sqlite3_column_text(s, 0), *sample = (const char *)sqlite3_column_text(s, 1);
      snprintf(error, NST_RUNFILE_ERROR,
               "%.150s: the record of task %.80s%s%.40s is damaged; take its row out of table %s with sqlite3 and run "
               "the command again, or give "
               "another file",
               run->path, task ? task : "?", sample ? ", sample " : "", sample ? sample : "", checks[i].table);
    } else if (got != SQLITE_DONE)
      failed(run, error, "read it");
    sqlite3_finalize(s);
    if (got != SQLITE_DONE) return false;
  }
  return true;
}

static nst_runfile *open_at(const char *path, const char *database, bool create, char *error) {
  nst_runfile *run = nst_memory_new(1, sizeof *run);
  run->path = nst_memory_text(path, strlen(path));
  run->lock = -1;
  run->in_memory = !strcmp(database, ":memory:");
  bool ok = run->in_memory || !create || take_lock(run, error);
  const int kind = run->in_memory ? 0 : ok ? kind_of(path, error) : -1;
  ok = ok && kind >= 0;
  if (ok && kind == 0 && !create) ok = refuse(error, path, "it is empty, not a run file");
  if (ok) {
    ok = sqlite3_open_v2(database, &run->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK ||
         failed(run, error, "open it");
    if (ok) {
      sqlite3_busy_timeout(run->db, OPENING_BUSY_MS);
      sqlite3_extended_result_codes(run->db, 1);
      ok = check_tables(run, create, error) && (!create || !kind || check_records(run, error));
      sqlite3_busy_timeout(run->db, BUSY_MS);
    }
  }
  if (ok && create && sqlite3_db_readonly(run->db, "main") == 1)
    ok = refuse(error, path, "it is read-only; make it writable");
  if (ok) return run;
  /* A journal that a kill left stays beside a file that is refused. */
  if (run->db) sqlite3_db_config(run->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  nst_runfile_free(run);
  return NULL;
}

nst_runfile *nst_runfile_open(const char *path, bool create, char error[NST_RUNFILE_ERROR]) {
  /* "./" before names that SQLite would read otherwise (":memory:", ""). */
  const size_t size = strlen(path) + 3;
  char *database = nst_memory_new(size, 1);
  snprintf(database, size, "%s%s", *path == '/' ? "" : "./", path);
  nst_runfile *run = open_at(path, database, create, error);
  free(database);
  return run;
}

nst_runfile *nst_runfile_memory(char error[NST_RUNFILE_ERROR]) { return open_at("memory", ":memory:", true, error); }

void nst_runfile_free(nst_runfile *run) {
  if (!run) return;
  for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(run->statements[i]);
  if (run->open_transaction) exec(run, "ROLLBACK");
  if (run->wal && run->db && !sqlite3_get_autocommit(run->db)) exec(run, "ROLLBACK");
  if (run->db) sqlite3_busy_timeout(run->db, 0);
  if (run->wal) exec(run, "PRAGMA journal_mode = DELETE"); /* where nobody else has it open */
  sqlite3_close(run->db);
  if (run->lock >= 0) close(run->lock);
  free(run->fact);
  free(run->path);
  free(run);
}

/* ---- facts and rows ------------------------------------------------------- */

const char *nst_runfile_get(nst_runfile *run, const char *name) {
  sqlite3_stmt *s = prepare(run, GET);
  if (!s) return NULL;
  bind(s, 1, name);
  free(run->fact);
  run->fact = NULL;
  if (sqlite3_step(s) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(s, 0);
    run->fact = nst_memory_text(text ? text : "", (size_t)sqlite3_column_bytes(s, 0));
  }
  sqlite3_reset(s);
  return run->fact;
}

bool nst_runfile_put(nst_runfile *run, const char *name, const char *value, char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  sqlite3_stmt *s = prepare(run, PUT);
  if (s) bind(s, 1, name), bind(s, 2, value);
  return run_to_end(s) || failed(run, error, "write to it");
}

/* A row of a record: its text is bound last and freed here. */
static bool put_row(nst_runfile *run, sqlite3_stmt *s, int at, const json_t *json, char *error) {
  size_t size;
  char *text = nst_record_text(json, &size);
  const bool ok = s && sqlite3_bind_text64(s, at, text, size, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK &&
                  sqlite3_step(s) == SQLITE_DONE;
  if (!ok) failed(run, error, "write to it"); /* before the reset, which may change what is to be said */
  if (s) sqlite3_reset(s), sqlite3_clear_bindings(s);
  free(text);
  return ok;
}

bool nst_runfile_put_task(nst_runfile *run, size_t position, const nst_task *task, char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  sqlite3_stmt *s = prepare(run, PUT_TASK);
  if (s) sqlite3_bind_int64(s, 1, (sqlite3_int64)position), bind(s, 2, task->task_id);
  return put_row(run, s, 3, task->json, error);
}

bool nst_runfile_put_result(nst_runfile *run, const nst_result *result, char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  sqlite3_stmt *s = prepare(run, PUT_RESULT);
  if (s) bind(s, 1, result->task_id), bind(s, 2, result->sample_id);
  return put_row(run, s, 3, result->json, error);
}

bool nst_runfile_amend_sample(nst_runfile *run, const nst_sample *sample, char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  sqlite3_stmt *s = prepare(run, AMEND_SAMPLE);
  if (s) bind(s, 1, sample->task_id), bind(s, 2, sample->sample_id);
  return put_row(run, s, 3, sample->json, error);
}

bool nst_runfile_put_sample(nst_runfile *run, const nst_sample *sample, const char *request_hash,
                            char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  const bool own = !run->open_transaction;
  if (own && !nst_runfile_begin(run, error)) return false;
  sqlite3_stmt *s = prepare(run, PUT_SAMPLE);
  if (s) {
    bind(s, 1, sample->task_id), bind(s, 2, sample->sample_id), bind(s, 3, request_hash ? request_hash : "");
    bind(s, 4, json_string_value(json_object_get(sample->json, "parent_sample_id")));
    sqlite3_bind_int(s, 5, sample->error != NULL);
  }
  bool ok = put_row(run, s, 6, sample->json, error);
  if (ok) {
    sqlite3_stmt *drop = prepare(run, DROP_RESULT);
    if (drop) bind(drop, 1, sample->task_id), bind(drop, 2, sample->sample_id);
    ok = run_to_end(drop) || failed(run, error, "write to it");
  }
  if (!own) return ok;
  if (ok) return nst_runfile_commit(run, error);
  exec(run, "ROLLBACK");
  run->open_transaction = false;
  return false;
}

bool nst_runfile_begin(nst_runfile *run, char error[NST_RUNFILE_ERROR]) {
  use_wal(run);
  if (!exec(run, "BEGIN IMMEDIATE")) return failed(run, error, "write to it");
  return run->open_transaction = true;
}

bool nst_runfile_commit(nst_runfile *run, char error[NST_RUNFILE_ERROR]) {
  run->open_transaction = false;
  if (exec(run, "COMMIT")) return true;
  failed(run, error, "write to it");
  if (!sqlite3_get_autocommit(run->db)) exec(run, "ROLLBACK");
  return false;
}

bool nst_runfile_has(nst_runfile *run, const char *task_id, const char *sample_id, const char *request_hash) {
  sqlite3_stmt *s = prepare(run, HAS);
  if (!s) return false;
  bind(s, 1, task_id), bind(s, 2, sample_id), bind(s, 3, request_hash);
  const bool there = sqlite3_step(s) == SQLITE_ROW;
  sqlite3_reset(s);
  return there;
}

size_t nst_runfile_tasks(nst_runfile *run) {
  sqlite3_stmt *s = prepare(run, COUNT);
  const size_t n = s && sqlite3_step(s) == SQLITE_ROW ? (size_t)sqlite3_column_int64(s, 0) : 0;
  if (s) sqlite3_reset(s);
  return n;
}

/* ---- walks ---------------------------------------------------------------- */

/* A row of four columns, copied: the record, its result, and the names for what is said of them. */
typedef struct {
  char *text[4];
  size_t size[4];
} row;

static void row_fini(row *r) {
  for (int i = 0; i < 4; i++) free(r->text[i]);
}

/* 1 a row, 0 none, -1 failed (not yet said). */
static int step_row(sqlite3_stmt *s, row *out) {
  *out = (row){0};
  const int got = sqlite3_step(s);
  if (got == SQLITE_ROW)
    for (int i = 0; i < 4; i++) {
      const char *text = (const char *)sqlite3_column_text(s, i);
      if (!text) continue;
      out->size[i] = (size_t)sqlite3_column_bytes(s, i);
      out->text[i] = nst_memory_text(text, out->size[i]);
    }
  if (got == SQLITE_ROW || got == SQLITE_DONE) sqlite3_reset(s);
  return got == SQLITE_ROW ? 1 : got == SQLITE_DONE ? 0 : -1;
}

static bool bad_row(nst_runfile *run, const row *r, const char *what, const char *why, char *error) {
  snprintf(error, NST_RUNFILE_ERROR, "%.120s: the %s of task %.80s%s%.40s is damaged: %.160s", run->path, what,
           r->text[2] ? r->text[2] : "?", r->text[3] ? ", sample " : "", r->text[3] ? r->text[3] : "", why);
  return false;
}

typedef struct {
  nst_runfile_task_fn *task;
  nst_runfile_sample_fn *sample;
  void *context;
} callee;

/* What is known of a sample by its result alone: its names, and whether it is a revision. */
static nst_sample sample_of(const row *r, const json_t *result) {
  static const char *const members[] = {"parent_sample_id", "arm"};
  nst_sample sample = {.json = json_pack("{s:s, s:s}", "task_id", r->text[2], "sample_id", r->text[3])};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    json_t *value = json_object_get(result, members[i]);
    if (json_is_string(value)) json_object_set(sample.json, members[i], value);
  }
  sample.task_id = json_string_value(json_object_get(sample.json, "task_id"));
  sample.sample_id = json_string_value(json_object_get(sample.json, "sample_id"));
  return sample;
}

/* *go_on: what the callee said. false: the record is damaged (said). */
static bool show_task(nst_runfile *run, const row *r, const callee *to, bool *go_on, char *error) {
  nst_task task;
  char why[NST_RECORD_ERROR];
  if (!nst_task_parse(&task, r->text[0], r->size[0], why)) return bad_row(run, r, "record", why, error);
  *go_on = to->task(to->context, &task);
  nst_task_fini(&task);
  return true;
}

static bool show_sample(nst_runfile *run, const row *r, const callee *to, bool *go_on, char *error) {
  nst_sample sample = {0};
  nst_result result = {0};
  char why[NST_RECORD_ERROR];
  if (r->text[0] && !nst_sample_parse(&sample, r->text[0], r->size[0], why))
    return bad_row(run, r, "record", why, error);
  const bool ok =
    !r->text[1] || nst_result_parse(&result, r->text[1], r->size[1], why) || bad_row(run, r, "result", why, error);
  if (!r->text[0]) sample = sample_of(r, result.json);
  if (ok) *go_on = to->sample(to->context, &sample, r->text[1] ? &result : NULL);
  nst_result_fini(&result);
  nst_sample_fini(&sample);
  return ok;
}

/* order: SELECT of row number and, 0 or 1, which of the statements `at` reads the row. */
static bool walk(nst_runfile *run, const char *order, const statement at[2], const callee *to, char *error) {
  struct {
    sqlite3_int64 id;
    int which;
  } *rows = NULL;
  size_t n = 0, room = 0;
  sqlite3_stmt *s = NULL;
  bool ok = sqlite3_prepare_v2(run->db, order, -1, &s, NULL) == SQLITE_OK;
  int got = SQLITE_DONE;
  while (ok && (got = sqlite3_step(s)) == SQLITE_ROW) {
    if (n == room) rows = nst_memory_grow(rows, room = 2 * room + 64, sizeof *rows);
    rows[n].id = sqlite3_column_int64(s, 0);
    rows[n++].which = sqlite3_column_int(s, 1);
  }
  ok = ok && got == SQLITE_DONE;
  if (!ok) failed(run, error, "read it");
  sqlite3_finalize(s);
  bool go_on = true;
  for (size_t i = 0; ok && go_on && i < n; i++) {
    sqlite3_stmt *one = prepare(run, at[rows[i].which]);
    row r = {0};
    if (one) sqlite3_bind_int64(one, 1, rows[i].id);
    const int there = one ? step_row(one, &r) : -1;
    if (there < 0)
      ok = failed(run, error, "read it");
    else if (there)
      ok = to->task ? show_task(run, &r, to, &go_on, error) : show_sample(run, &r, to, &go_on, error);
    row_fini(&r);
  }
  free(rows);
  return ok;
}

/* sample_id that begin with a number are in its order. */
#define BY_TASK_AND_NUMBER                                                                                             \
  "ORDER BY t.position IS NULL, t.position, x.task_id, CAST(x.sample_id AS INTEGER), x.sample_id"
/* Rows of first answers (NULL) or of revisions (NOT NULL): samples, and results whose sample is not there. */
#define ROWS(which)                                                                                                    \
  "SELECT x.id, x.alone FROM (SELECT rowid AS id, 0 AS alone, task_id, sample_id FROM sample WHERE parent IS " which   \
  " UNION ALL SELECT r.rowid, 1, r.task_id, r.sample_id FROM result r LEFT JOIN sample s USING (task_id, sample_id) "  \
  "WHERE s.task_id IS NULL AND CASE WHEN json_valid(r.json) THEN json_extract(r.json, '$.parent_sample_id') END IS "   \
  which ") x LEFT JOIN task t USING (task_id) " BY_TASK_AND_NUMBER

bool nst_runfile_each_task(nst_runfile *run, nst_runfile_task_fn *each, void *context, char error[NST_RUNFILE_ERROR]) {
  return walk(run, "SELECT rowid, 0 FROM task ORDER BY position, task_id", (const statement[]){TASK_AT, TASK_AT},
              &(callee){each, NULL, context}, error);
}

bool nst_runfile_each_sample(nst_runfile *run, nst_runfile_sample_fn *each, void *context,
                             char error[NST_RUNFILE_ERROR]) {
  return walk(run, ROWS("NULL"), (const statement[]){SAMPLE_AT, RESULT_ALONE_AT}, &(callee){NULL, each, context},
              error);
}

bool nst_runfile_each_revision(nst_runfile *run, nst_runfile_sample_fn *each, void *context,
                               char error[NST_RUNFILE_ERROR]) {
  return walk(run, ROWS("NOT NULL"), (const statement[]){SAMPLE_AT, RESULT_ALONE_AT}, &(callee){NULL, each, context},
              error);
}

bool nst_runfile_find(nst_runfile *run, const char *task_id, const char *sample_id, nst_runfile_sample_fn *each,
                      void *context, char error[NST_RUNFILE_ERROR]) {
  sqlite3_stmt *s = prepare(run, FIND);
  row r = {0};
  if (s) bind(s, 1, task_id), bind(s, 2, sample_id);
  const int there = s ? step_row(s, &r) : -1;
  bool ok = there >= 0, go_on = true;
  if (!ok)
    failed(run, error, "read it");
  else if (there)
    ok = show_sample(run, &r, &(callee){NULL, each, context}, &go_on, error);
  row_fini(&r);
  return ok;
}
