/* A sweep over many ranks: rank 0 gives out the units, in pieces that grow smaller
 * towards the end, and collects what is found; every rank, 0 included, does units
 * with threads of its own. What is found does not depend on who did what, so the
 * answer, on rank 0, is that of one process to the last bit.
 *
 * Messages, each a word and its numbers:
 *   want n                      to 0: give me units for n threads
 *   take begin end              from 0; nothing (begin = end): there are no more
 *   found units result          to 0: done since the last such message
 *   failed unit text            to 0: a unit has no answer
 *   stop                        to 0: this rank was told to stop
 *   end                         to 0: this rank is through
 *   bye                         from 0: so are all; the next words belong to what comes next
 *   mark n, agreed rank         before a sweep: see nst_ranks_agree
 * A rank waits for an answer to `want` before it asks again, so `take` needs no
 * name of the request it answers. Units mean the same only to ranks with the same
 * program and engine, so these agree before they begin. */
#include "driver/sweep_ranks.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHARE_SECONDS = 2 };
typedef enum { WANT, TAKE, FOUND, FAILED, STOP, END, BYE, MARK, AGREED } word;

struct nst_sweep_ranks {
  nst_ranks *ranks;
  nst_sweep_shape shape;
  nst_sweep_run *run;
  atomic_bool *stop;
  nst_sweep_source source;
  nst_unit_set pool; /* rank 0: what has not been given out */
  int ended;         /* rank 0: ranks that are through */
  bool stopped;
  bool asked, none; /* other ranks: waiting for an answer; there are no more */
  bool answered, bye;
  nst_unit_range answer;
  double shared;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void send_numbers(nst_ranks *ranks, int to, word w, uint64_t a, uint64_t b) {
  nst_buffer message = {0};
  nst_bytes_put(&message, w);
  nst_bytes_put(&message, a);
  nst_bytes_put(&message, b);
  nst_ranks_send(ranks, to, &message);
  nst_buffer_fini(&message);
}

/* ---- before a sweep ---- */

static void pause_a_moment(void) { nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); }

/* The number of the next message, which has this word. */
static uint64_t expect(nst_ranks *ranks, int *from, word w) {
  nst_buffer message = {0};
  uint64_t number = 0;
  for (bool there = false; !there;) {
    if (!nst_ranks_receive(ranks, from, &message)) {
      pause_a_moment();
      continue;
    }
    nst_reader in = nst_reader_make(message.text, message.len);
    there = (word)nst_reader_get(&in) == w;
    number = nst_reader_get(&in);
  }
  nst_buffer_fini(&message);
  return number;
}

int nst_ranks_agree(nst_ranks *ranks, uint64_t mark) {
  const int n = nst_ranks_size(ranks);
  int from, differs = mark ? n : 0;
  if (nst_ranks_rank(ranks)) {
    send_numbers(ranks, 0, MARK, mark, 0);
    return (int)expect(ranks, &from, AGREED) - 1;
  }
  for (int i = 1; i < n; i++)
    if (expect(ranks, &from, MARK) != mark && from < differs) differs = from;
  if (differs == n) differs = -1;
  for (int i = 1; i < n; i++) send_numbers(ranks, i, AGREED, (uint64_t)(differs + 1), 0);
  return differs;
}

/* ---- giving out ---- */

/* A share of what is left: large at first, small at the end, so that all ranks are through at about the same time. */
static nst_unit_range cut(nst_sweep_ranks *s, uint64_t want) {
  if (!s->pool.n || s->stopped) return (nst_unit_range){0, 0};
  uint64_t n = nst_unit_set_count(&s->pool) / (8 * (uint64_t)nst_ranks_size(s->ranks));
  if (n < want) n = want ? want : 1;
  nst_unit_range *first = &s->pool.items[0];
  const nst_unit_range out = {first->begin, first->end - first->begin < n ? first->end : first->begin + n};
  first->begin = out.end;
  if (first->begin == first->end) {
    s->pool.n--;
    memmove(first, first + 1, s->pool.n * sizeof *first);
  }
  return out;
}

static void absorb(nst_sweep_ranks *s, nst_reader *in) {
  nst_unit_set done = {0};
  const uint64_t n = nst_reader_get(in);
  for (uint64_t i = 0; i < n && in->left >= 16; i++) {
    const uint64_t begin = nst_reader_get(in), end = nst_reader_get(in);
    nst_unit_set_add(&done, begin, end);
  }
  nst_sweep_result *found = nst_sweep_result_load(s->shape, (const char *)in->at, in->left);
  if (found) nst_sweep_run_absorb(s->run, &done, found);
  nst_sweep_result_free(found);
  nst_unit_set_fini(&done);
}

static void fail(nst_sweep_ranks *s, nst_reader *in) {
  nst_buffer text = {0};
  const uint64_t unit = nst_reader_get(in);
  nst_buffer_add(&text, (const char *)in->at, in->left);
  nst_sweep_run_fail(s->run, unit, text.text ? text.text : "");
  nst_buffer_fini(&text);
}

static void handle(nst_sweep_ranks *s, int from, const nst_buffer *message) {
  nst_reader in = nst_reader_make(message->text, message->len);
  switch ((word)nst_reader_get(&in)) {
  case WANT: {
    const nst_unit_range range = cut(s, nst_reader_get(&in));
    send_numbers(s->ranks, from, TAKE, range.begin, range.end);
    return;
  }
  case TAKE:
    s->answered = true;
    s->answer.begin = nst_reader_get(&in);
    s->answer.end = nst_reader_get(&in);
    return;
  case FOUND: absorb(s, &in); return;
  case FAILED: fail(s, &in); return;
  case STOP: atomic_store(s->stop, true); return;
  case END: s->ended++; return;
  case BYE: s->bye = true; return;
  case MARK:
  case AGREED: return; /* never within a sweep */
  }
}

/* Tells rank 0 what has been done since the last time. */
static void share(nst_sweep_ranks *s) {
  nst_unit_set done = {0};
  nst_sweep_result *found = nst_sweep_run_release(s->run, &done);
  s->shared = now();
  if (!found) return;
  nst_buffer message = {0};
  nst_bytes_put(&message, FOUND);
  nst_bytes_put(&message, done.n);
  for (size_t i = 0; i < done.n; i++) {
    nst_bytes_put(&message, done.items[i].begin);
    nst_bytes_put(&message, done.items[i].end);
  }
  nst_sweep_result_save(found, &message);
  nst_ranks_send(s->ranks, 0, &message);
  nst_buffer_fini(&message);
  nst_sweep_result_free(found);
  nst_unit_set_fini(&done);
}

/* ---- the source of a run ---- */

static nst_work take(void *context, uint64_t want, nst_unit_range *out) {
  nst_sweep_ranks *s = context;
  if (nst_ranks_rank(s->ranks) == 0) {
    *out = cut(s, want);
    return out->begin < out->end ? NST_WORK_SOME : NST_WORK_NONE;
  }
  if (s->none) return NST_WORK_NONE;
  if (!s->asked) send_numbers(s->ranks, 0, WANT, want, 0);
  s->asked = true;
  if (!s->answered) return NST_WORK_WAIT;
  s->asked = s->answered = false;
  *out = s->answer;
  s->none = out->begin >= out->end;
  return s->none ? NST_WORK_NONE : NST_WORK_SOME;
}

static void poll(void *context, bool stopped) {
  nst_sweep_ranks *s = context;
  nst_buffer message = {0};
  int from;
  s->stopped = s->stopped || stopped;
  while (nst_ranks_receive(s->ranks, &from, &message)) handle(s, from, &message);
  nst_buffer_fini(&message);
  if (nst_ranks_rank(s->ranks) && !stopped && now() - s->shared > (double)SHARE_SECONDS) share(s);
}

static bool finished(void *context) {
  const nst_sweep_ranks *s = context;
  if (nst_ranks_rank(s->ranks)) return true;
  return s->ended == nst_ranks_size(s->ranks) - 1;
}

nst_sweep_ranks *nst_sweep_ranks_new(nst_ranks *ranks, nst_sweep_shape shape, const nst_unit_set *done, uint64_t count,
                                     atomic_bool *stop) {
  nst_sweep_ranks *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  *s = (nst_sweep_ranks){.ranks = ranks, .shape = shape, .stop = stop, .shared = now()};
  s->source = (nst_sweep_source){s, take, poll, finished};
  if (nst_ranks_rank(ranks) == 0) nst_unit_set_rest(&s->pool, done, count);
  return s;
}

nst_sweep_source *nst_sweep_ranks_source(nst_sweep_ranks *s, nst_sweep_run **run) {
  if (run) s->run = *run;
  return &s->source;
}

void nst_sweep_ranks_end(nst_sweep_ranks *s, const char *error, uint64_t unit) {
  if (nst_ranks_rank(s->ranks)) {
    if (atomic_load(s->stop)) send_numbers(s->ranks, 0, STOP, 0, 0);
    share(s);
    if (error) {
      nst_buffer message = {0};
      nst_bytes_put(&message, FAILED);
      nst_bytes_put(&message, unit);
      nst_buffer_puts(&message, error);
      nst_ranks_send(s->ranks, 0, &message);
      nst_buffer_fini(&message);
    }
    /* An answer that is still on its way would be taken for one to the next sweep. */
    while (s->asked && !s->answered) poll(s, true);
    send_numbers(s->ranks, 0, END, 0, 0);
    while (!s->bye) {
      poll(s, true);
      if (!s->bye) pause_a_moment();
    }
  } else
    for (int i = 1; i < nst_ranks_size(s->ranks); i++) send_numbers(s->ranks, i, BYE, 0, 0);
  nst_unit_set_fini(&s->pool);
  free(s);
}
