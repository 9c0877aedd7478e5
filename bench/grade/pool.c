/* The loop over the workers' sockets. */
#include "bench/grade/pool.h"

#include "bench/grade/worker.h"
#include "bench/record/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 32, WATCHDOG_MS = 30000, MOST_WORKERS = 256, OUTSIDE_KILLS = 3, FEED_BYTES = 1 << 18 };

typedef struct {
  nst_worker process;
  uint32_t jobs[DEEPEST]; /* not yet answered, in the order they were sent */
  size_t njobs;
  bool retire; /* it gets no more */
  int64_t last; /* when it last got or gave something, in milliseconds */
} member;

struct nst_pool {
  char *path;
  nst_worker_hello hello;
  int nmembers, watchdog;
  pid_t owner; /* whose workers they are */
  member *members;
  struct pollfd *polls;
  /* of a run */
  const nst_jobs *jobs;
  uint32_t n, next;
  uint32_t *again; /* jobs to be done alone */
  uint8_t *tries;  /* of each job: how often it was there when a worker ended */
  size_t nagain;
  char error[NST_RECORD_ERROR];
};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool start(nst_pool *p, member *m) {
  m->njobs = 0;
  m->retire = false;
  return nst_worker_start(&m->process, &p->hello, p->path, p->error);
}

nst_pool *nst_pool_new(const char *path, int workers, char error[NST_RECORD_ERROR]) {
  char found[4096];
  if (!path) {
    if (!nst_worker_find(found, sizeof found)) {
      snprintf(error, NST_RECORD_ERROR, "the program nestor-grade-worker is not installed: %.180s is missing", found);
      return NULL;
    }
    path = found;
  }
  if (workers <= 0) workers = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (workers < 1) workers = 1;
  if (workers > MOST_WORKERS) workers = MOST_WORKERS;
  nst_pool *p = nst_memory_new(1, sizeof *p);
  p->path = nst_memory_text(path, strlen(path));
  p->nmembers = workers;
  p->watchdog = WATCHDOG_MS;
  p->owner = getpid();
  p->members = nst_memory_new((size_t)workers, sizeof *p->members);
  p->polls = nst_memory_new((size_t)workers, sizeof *p->polls);
  for (int i = 0; i < workers; i++) {
    if (start(p, &p->members[i])) continue;
    memcpy(error, p->error, NST_RECORD_ERROR);
    nst_pool_free(p);
    return NULL;
  }
  return p;
}

/* In a process that was forked off the workers are those of another: they are left to it. Buffers too: it may have been about to grow them. */
static void leave_to_owner(nst_pool *p) {
  if (p->owner == getpid()) return;
  for (int i = 0; i < p->nmembers; i++) {
    nst_worker_leave(&p->members[i].process);
    p->members[i] = (member){0};
  }
  p->owner = getpid();
}

void nst_pool_free(nst_pool *p) {
  if (!p) return;
  leave_to_owner(p);
  for (int i = 0; i < p->nmembers; i++) {
    nst_worker_stop(&p->members[i].process);
    nst_wire_fini(&p->members[i].process.in);
    nst_wire_fini(&p->members[i].process.out);
  }
  free(p->members);
  free(p->polls);
  free(p->path);
  free(p);
}

const char *nst_pool_version(const nst_pool *p) { return p->hello.version; }
uint32_t nst_pool_rules(const nst_pool *p) { return p->hello.rules; }
int nst_pool_pid(const nst_pool *p, int i) { return i < p->nmembers ? (int)p->members[i].process.pid : 0; }
void nst_pool_set_watchdog(nst_pool *p, int milliseconds) { p->watchdog = milliseconds; }

/* ---- feeding -------------------------------------------------------------- */

static void give(nst_pool *p, member *m, uint32_t job) {
  if (p->jobs->encode(p->jobs->context, &m->process.out, job)) m->jobs[m->njobs++] = job;
}

static bool work_left(const nst_pool *p) { return p->next < p->n || p->nagain; }

/* How many jobs at a time: enough to keep it busy over a turn, few enough that the last ones are shared. */
static size_t depth(const nst_pool *p) {
  const size_t share = (p->n - p->next) / (2 * (size_t)p->nmembers) + 1;
  return share < DEEPEST ? share : DEEPEST;
}

static void feed(nst_pool *p, member *m) {
  if (m->retire) return;
  const size_t before = m->njobs;
  if (p->nagain) { /* alone, so that what ends the worker is known */
    while (!m->njobs && p->nagain) give(p, m, p->again[--p->nagain]);
  } else {
    const size_t most = depth(p);
    /* Half a load is waited for, so that a turn carries several. */
    if (2 * m->njobs > most) return;
    const bool was_lone = m->njobs == 1 && p->tries[m->jobs[0]];
    while (!was_lone && m->njobs < most && p->next < p->n && m->process.out.size < FEED_BYTES) give(p, m, p->next++);
  }
  if (m->njobs == before) return;
  if (!before) m->last = now();
  nst_worker_send(&m->process); /* where it is gone, reading finds out */
}

/* ---- ends ----------------------------------------------------------------- */

static void finish(nst_pool *p, uint32_t job, nst_job_report report) { p->jobs->finish(p->jobs->context, job, &report); }

static bool from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT ||
         signal == SIGXCPU;
}

/* The worker has ended, or is ended for its silence or for a reply that is none: what of its jobs is known by that, what must be
 * done again? A worker may have died before its job came: nothing is said of a job that saw only one end. */
static void bury(nst_pool *p, member *m, bool hung, bool broken) {
  const int ended_by = nst_worker_stop(&m->process), signal = broken ? 0 : ended_by;
  const bool alone = m->njobs == 1;
  for (size_t i = 0; i < m->njobs; i++) {
    const uint32_t job = m->jobs[i];
    const uint8_t tries = p->tries[job] < 255 ? ++p->tries[job] : 255;
    if (alone && hung && tries > 1) finish(p, job, (nst_job_report){.end = NST_JOB_HANGS});
    else if (alone && !hung && !from_outside(signal) && tries > 1) finish(p, job, (nst_job_report){.end = NST_JOB_DIED, .signal = signal});
    else if (alone && !hung && tries >= OUTSIDE_KILLS) finish(p, job, (nst_job_report){.end = NST_JOB_KILLED, .signal = signal});
    else p->again[p->nagain++] = job;
  }
  m->njobs = 0;
}

static void no_worker(nst_pool *p) {
  for (; p->next < p->n; p->next++) {
    nst_wire unused = {0};
    if (p->jobs->encode(p->jobs->context, &unused, p->next))
      finish(p, p->next, (nst_job_report){.end = NST_JOB_NO_WORKER, .error = p->error});
    nst_wire_fini(&unused);
  }
  while (p->nagain) finish(p, p->again[--p->nagain], (nst_job_report){.end = NST_JOB_NO_WORKER, .error = p->error});
}

/* Every frame that has come. false: the worker is not to be trusted any more. */
static bool take_replies(nst_pool *p, member *m) {
  nst_wire *in = &m->process.in;
  size_t at = 0, whole;
  nst_wire_reader reply;
  uint32_t number;
  bool good = true;
  while (good && (whole = nst_wire_frame(&reply, &number, in->bytes + at, in->size - at)) != 0) {
    good = whole != SIZE_MAX && m->njobs && number == m->jobs[0];
    if (!good) break;
    good = p->jobs->finish(p->jobs->context, number, &(nst_job_report){.end = NST_JOB_ANSWERED, .reply = reply});
    if (!good) break;
    at += whole;
    memmove(m->jobs, m->jobs + 1, --m->njobs * sizeof *m->jobs);
    if (nst_wire_get_u8(&reply), nst_wire_get_u8(&reply), nst_wire_get_u8(&reply)) m->retire = true;
  }
  nst_wire_drop(in, at);
  return good;
}

/* ---- the loop ------------------------------------------------------------- */

static void tend(nst_pool *p, member *m, const struct pollfd *poll, int64_t time) {
  bool alive = true, broken = false;
  if (poll->revents & POLLOUT) alive = nst_worker_send(&m->process);
  if (poll->revents & (POLLIN | POLLHUP | POLLERR)) {
    const bool open = nst_worker_receive(&m->process);
    m->last = time;
    broken = !take_replies(p, m);
    alive = alive && open && !broken;
  }
  const bool hung = alive && m->njobs && time - m->last > p->watchdog;
  if (!alive || hung) bury(p, m, hung, broken);
}

/* A worker for every member while there is work. false: none could be started, and there is none. */
static bool staff(nst_pool *p) {
  bool any = false;
  for (int i = 0; i < p->nmembers; i++) {
    member *m = &p->members[i];
    if (m->process.pid && m->retire && !m->njobs) nst_worker_stop(&m->process);
    if (!m->process.pid && work_left(p)) start(p, m);
    any |= m->process.pid != 0;
  }
  return any;
}

void nst_pool_run(nst_pool *p, uint32_t n, const nst_jobs *jobs) {
  leave_to_owner(p);
  p->jobs = jobs;
  p->n = n;
  p->next = 0;
  p->nagain = 0;
  p->again = nst_memory_new(n, sizeof *p->again);
  p->tries = nst_memory_new(n, 1);
  for (;;) {
    if (!staff(p)) {
      no_worker(p);
      break;
    }
    bool busy = false;
    int timeout = p->watchdog;
    const int64_t before = now();
    for (int i = 0; i < p->nmembers; i++) {
      member *m = &p->members[i];
      if (m->process.pid) feed(p, m);
      busy |= m->njobs > 0;
      p->polls[i] = (struct pollfd){m->process.pid ? m->process.fd : -1, (short)(POLLIN | (m->process.out.size ? POLLOUT : 0)), 0};
      if (m->njobs && p->watchdog - (before - m->last) < timeout) timeout = (int)(p->watchdog - (before - m->last));
    }
    if (!busy) {
      if (!work_left(p)) break;
      continue; /* only workers that retire are left, or all jobs needed none */
    }
    const int ready = poll(p->polls, (nfds_t)p->nmembers, timeout < 0 ? 0 : timeout + 1);
    if (ready < 0) continue; /* interrupted */
    const int64_t time = now();
    for (int i = 0; i < p->nmembers; i++)
      if (p->members[i].process.pid && p->polls[i].fd >= 0) tend(p, &p->members[i], &p->polls[i], time);
  }
  free(p->again);
  free(p->tries);
  p->again = NULL;
  p->tries = NULL;
}
