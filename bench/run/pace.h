/* How fast a server is asked: how many requests at once, and when after a refusal.
 *
 * One request at first, so that a wrong key or model costs one; twice as many with each round of answers until the
 * first trouble, then one more a round; half at each trouble and a quarter less at a single refusal for the rate, once
 * for all requests that were under way together. Times are seconds on the caller's clock. */
#ifndef NST_BENCH_RUN_PACE_H
#define NST_BENCH_RUN_PACE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  double limit; /* requests at once, its whole part */
  double most;
  bool steady;     /* past the first trouble */
  double last_cut; /* when it was halved */
} nst_pace;

nst_pace nst_pace_make(uint64_t most);
void nst_pace_good(nst_pace *pace);
/* started: when the request that failed was sent. */
void nst_pace_trouble(nst_pace *pace, double started, double now);
void nst_pace_limited(nst_pace *pace, double started, double now); /* a refusal among answers */

/* Seconds before try `attempt` + 1 (from 1): twice as long each time up to a minute, less up to half of it by `random`
 * from 0 to 1. */
double nst_pace_backoff(uint64_t attempt, double random);

/* Seconds that headers of limits ask for, or -1. Of a text: "2", "1.5s", "6m0s", "20ms", "1h2m", a date of HTTP, an
 * instant of RFC 3339, seconds or milliseconds since 1970. now: the server's clock, in seconds since 1970. Never below
 * 0 where there is one. */
double nst_pace_read_wait(const char *text, double now);

/* The headers of one answer that say how long to wait. */
typedef struct {
  double date;          /* the server's clock, or -1 */
  char retry_after[64]; /* "" where there is none */
  struct {
    char reset[64];
    double remaining;
  } limits[4]; /* remaining: -1 where not said */
  int nlimits;
  char names[4][48];
} nst_pace_headers;
void nst_pace_headers_init(nst_pace_headers *headers);
/* One line of a header, as it came. */
void nst_pace_headers_take(nst_pace_headers *headers, const char *line, unsigned long size);
/* refused: the answer was 429 or the like; else only what is used up counts. -1: nothing is asked for. clock: for a
 * server without a date. */
double nst_pace_headers_wait(const nst_pace_headers *headers, bool refused, double clock);
/* Whether a limit is told to be used up: that is of all requests, not of one. */
bool nst_pace_headers_used_up(const nst_pace_headers *headers);
#endif
