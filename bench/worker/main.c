/* The program nestor-grade-worker: reads requests from the socket it was started with, one after another, and answers them.
 *
 * It is started by a supervisor (grade/pool.h), never by hand. Before the first byte of a candidate arrives it has shut itself in (sandbox.h). It ends when
 * its socket does. */
#include "bench/record/memory.h"
#include "bench/worker/judge.h"
#include "bench/worker/sandbox.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  SOCKET = 0,
  CHUNK = 1 << 16,
  HOLD_BYTES = 1 << 17,     /* replies that are held back until there is no more to read, */
  HOLD_NS = 10 * 1000000,   /* but not longer than this */
  RETIRE_AFTER = 200000,    /* requests */
  RETIRE_MIB = 256,         /* of memory ever used */
  RETIRE_SECONDS = 60,      /* of processor time */
  STACK_BYTES = 8 << 20
};

static bool write_all(nst_wire *out) {
  for (size_t done = 0; done < out->size;) {
    const ssize_t n = write(SOCKET, out->bytes + done, out->size - done);
    if (n > 0) done += (size_t)n;
    else if (n < 0 && errno != EINTR) return false;
  }
  out->size = 0;
  return true;
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Whether this process has grown or worked so much that another should take its place. */
static bool is_spent(uint64_t served) {
  struct rusage use;
  if (served >= RETIRE_AFTER) return true;
  return getrusage(RUSAGE_SELF, &use) == 0 && (use.ru_maxrss > RETIRE_MIB * 1024L || use.ru_utime.tv_sec > RETIRE_SECONDS);
}

static int serve(nst_judge *judge) {
  nst_wire in = {0}, out = {0};
  uint64_t served = 0;
  for (;;) {
    void *room = nst_wire_room(&in, CHUNK);
    const ssize_t n = read(SOCKET, room, CHUNK);
    in.size -= CHUNK - (n > 0 ? (size_t)n : 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0;
    const bool spent = is_spent(served);
    size_t at = 0, whole;
    uint64_t held = now();
    nst_wire_reader request;
    uint32_t number;
    while ((whole = nst_wire_frame(&request, &number, in.bytes + at, in.size - at)) != 0) {
      if (whole == SIZE_MAX || !nst_judge_request(judge, &out, request, number, spent)) return 1;
      at += whole;
      served++;
      if (out.size < HOLD_BYTES && now() - held < HOLD_NS) continue;
      if (!write_all(&out)) return 1;
      held = now();
    }
    nst_wire_drop(&in, at);
    if (out.size && !write_all(&out)) return 1;
  }
}

/* What the C library allocates on its first use of something, before the filter is there. */
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void warm_up(void) {
  int many[1024];
  for (int i = 0; i < 1024; i++) many[i] = (i * 7) % 1024;
  qsort(many, 1024, sizeof *many, ascending);
  static const char program[] = "workload w(N = 4) { dim i = N  A[i] = B[i] }\n"
                                "hardware h { memory M { energy = 1 pJ/B } compute C }\nmapping m of w on h { for i }\n";
  nestor_session *session = nestor_session_new();
  nestor_program *p = nestor_program_new(session, "warm", program, sizeof program - 1, NESTOR_STAGE_CHECK);
  nestor_eval *e = nestor_eval_new(p, 0);
  if (e) nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL);
  nestor_eval_free(e);
  nestor_program_free(p);
  nestor_session_free(session);
}

static bool say_hello(const char *error) {
  nst_wire hello = {0};
  const size_t frame = nst_wire_begin(&hello, 0);
  nst_wire_u32(&hello, NST_WIRE_VERSION);
  nst_wire_text(&hello, nestor_version(), strlen(nestor_version()));
  nst_wire_u32(&hello, (uint32_t)nestor_semantics());
  nst_wire_text(&hello, error, strlen(error));
  nst_wire_end(&hello, frame);
  const bool ok = write_all(&hello);
  nst_wire_fini(&hello);
  return ok;
}

/* Everything that meets a candidate. On a thread, because its stack is of one size whatever the limits of the process are. */
static void *work(void *context) {
  int *code = context;
  warm_up();
  nst_judge *judge = nst_judge_new();
  char error[256] = "";
  const bool shut = nst_sandbox_enter(SOCKET, error, sizeof error);
  *code = say_hello(error) && shut ? serve(judge) : 1;
  nst_judge_free(judge);
  return NULL;
}

static int work_on_a_stack(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  int code = 1;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  const int fail = pthread_create(&thread, &attributes, work, &code);
  pthread_attr_destroy(&attributes);
  if (!fail) pthread_join(thread, NULL);
  else if (!say_hello("the worker cannot start its thread")) return 1;
  return code;
}

int main(int argc, char **argv) {
  int type;
  socklen_t size = sizeof type;
  if (getsockopt(SOCKET, SOL_SOCKET, SO_TYPE, &type, &size)) {
    fputs("nestor-grade-worker is started by `nestor bench grade` and libnestor-grade, not by hand\n", stderr);
    return 2;
  }
  /* "-p": the thread that started it lives as long as the supervisor does. Else the end of the socket must do. */
  if (argc > 1 && !strcmp(argv[1], "-p")) prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* of threads that are yet to be made, too */
  signal(SIGPIPE, SIG_IGN);
  /* Memory that is freed is kept: the next candidate needs as much. */
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_ARENA_MAX, 1); /* one thread works */
  close_range(SOCKET + 1, ~0U, 0);
  return work_on_a_stack();
}
