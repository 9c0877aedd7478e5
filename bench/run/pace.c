/* Concurrency by additive increase and multiplicative decrease, backoff, and headers of rate limits. */
#include "bench/run/pace.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const double LONGEST_BACKOFF = 60, FIRST_BACKOFF = 0.5;

nst_pace nst_pace_make(uint64_t most) { return (nst_pace){.limit = 1, .most = (double)most, .last_cut = -1}; }

void nst_pace_good(nst_pace *pace) {
  pace->limit += pace->steady ? 1 / pace->limit : 1;
  if (pace->limit > pace->most) pace->limit = pace->most;
}

static void cut(nst_pace *pace, double started, double now, double to) {
  if (started < pace->last_cut) return;
  pace->last_cut = now;
  pace->steady = true;
  pace->limit = fmax(1, floor(pace->limit * to));
}

void nst_pace_trouble(nst_pace *pace, double started, double now) { cut(pace, started, now, 0.5); }
void nst_pace_limited(nst_pace *pace, double started, double now) { cut(pace, started, now, 0.75); }

double nst_pace_backoff(uint64_t attempt, double random) {
  const double full = attempt > 10
                        ? LONGEST_BACKOFF
                        : fmin(LONGEST_BACKOFF, FIRST_BACKOFF * (double)(UINT64_C(1) << (attempt ? attempt - 1 : 0)));
  return full * (1 - random / 2);
}

/* ---- texts of waits ------------------------------------------------------- */

/* Digits and a point: strtod alone would take hexadecimal numbers and exponents too. */
static double decimal(const char *text, char **end) {
  char digits[64];
  const size_t n = strspn(text, "0123456789.");
  snprintf(digits, sizeof digits, "%.*s", (int)(n < sizeof digits ? n : 0), text);
  const double value = strtod(digits, end);
  *end = (char *)text + (*end - digits);
  return value;
}

/* "1h2m3.5s": numbers with units, to the end. */
static double duration(const char *text) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  double sum = 0;
  while (*text) {
    char *end;
    if (*text < '0' || *text > '9') return -1;
    const double n = decimal(text, &end);
    size_t unit = 0;
    while (unit < sizeof units / sizeof *units && strncmp(end, units[unit].name, strlen(units[unit].name))) unit++;
    if (unit == sizeof units / sizeof *units) return -1;
    sum += n * units[unit].seconds;
    text = end + strlen(units[unit].name);
  }
  return sum;
}

static double instant(const char *text) {
  struct tm tm = {0};
  const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
  if (!rest) return -1;
  double zone = 0, fraction = 0;
  if (*rest == '.') fraction = decimal(rest, (char **)&rest);
  int hours, minutes;
  if ((*rest == '+' || *rest == '-') && sscanf(rest + 1, "%2d:%2d", &hours, &minutes) == 2)
    zone = (*rest == '-' ? -1 : 1) * (hours * 3600.0 + minutes * 60.0);
  return (double)timegm(&tm) + fraction - zone;
}

double nst_pace_read_wait(const char *text, double now) {
  while (*text == ' ' || *text == '\t') text++;
  char *end;
  double seconds = -1;
  if (*text >= '0' && *text <= '9') {
    const double n = decimal(text, &end);
    end += strspn(end, " \t\r\n");
    if (!*end)
      seconds = n > 1e11 ? n / 1000 - now : n > 1e9 ? n - now : n;
    else if ((seconds = duration(text)) < 0) {
      const double at = instant(text);
      if (at >= 0)
        seconds = at - now;
      else {
        const time_t date = curl_getdate(text, NULL);
        if (date < 0) return -1;
        seconds = (double)date - now;
      }
    }
  } else if (*text) {
    const time_t date = curl_getdate(text, NULL);
    if (date < 0) return -1;
    seconds = (double)date - now;
  } else
    return -1;
  return isfinite(seconds) ? fmax(seconds, 0) : -1;
}

/* ---- headers -------------------------------------------------------------- */

void nst_pace_headers_init(nst_pace_headers *headers) { *headers = (nst_pace_headers){.date = -1}; }

/* The limit that a header is about: "requests" of x-ratelimit-reset-requests and anthropic-ratelimit-requests-reset. */
static int limit_of(nst_pace_headers *h, const char *what, size_t n) {
  if (n >= sizeof h->names[0]) return -1;
  for (int i = 0; i < h->nlimits; i++)
    if (strlen(h->names[i]) == n && !strncasecmp(h->names[i], what, n)) return i;
  if (h->nlimits == 4) return -1;
  memcpy(h->names[h->nlimits], what, n);
  h->names[h->nlimits][n] = '\0';
  h->limits[h->nlimits].remaining = -1;
  return h->nlimits++;
}

static bool begins(const char *name, size_t n, const char *with) {
  return n >= strlen(with) && !strncasecmp(name, with, strlen(with));
}
static bool ends(const char *name, size_t n, const char *with) {
  return n >= strlen(with) && !strncasecmp(name + n - strlen(with), with, strlen(with));
}

void nst_pace_headers_take(nst_pace_headers *h, const char *line, unsigned long size) {
  const char *colon = memchr(line, ':', size);
  if (!colon) return;
  const size_t n = (size_t)(colon - line);
  const char *from = colon + 1;
  size_t length = size - n - 1;
  while (length && (*from == ' ' || *from == '\t')) from++, length--;
  while (length && strchr(" \t\r\n", from[length - 1])) length--;
  char value[64];
  if (length >= sizeof value) return;
  memcpy(value, from, length);
  value[length] = '\0';
  bool reset = false;
  int at = -1;
  if (n == 11 && begins(line, n, "retry-after"))
    memcpy(h->retry_after, value, length + 1);
  else if (n == 4 && begins(line, n, "date")) {
    const time_t date = curl_getdate(value, NULL);
    if (date >= 0) h->date = (double)date;
  } else if (begins(line, n, "x-ratelimit-reset")) {
    reset = true;
    at = limit_of(h, line + 17, n - 17);
  } else if (begins(line, n, "x-ratelimit-remaining"))
    at = limit_of(h, line + 21, n - 21);
  else if (begins(line, n, "anthropic-ratelimit-") && ends(line, n, "-reset")) {
    reset = true;
    at = limit_of(h, line + 19, n - 19 - 6);
  } else if (begins(line, n, "anthropic-ratelimit-") && ends(line, n, "-remaining"))
    at = limit_of(h, line + 19, n - 19 - 10);
  if (at < 0) return;
  if (reset)
    memcpy(h->limits[at].reset, value, length + 1);
  else if (*value >= '0' && *value <= '9')
    h->limits[at].remaining = decimal(value, &(char *){NULL});
}

double nst_pace_headers_wait(const nst_pace_headers *h, bool refused, double clock) {
  const double now = h->date >= 0 ? h->date : clock;
  if (*h->retry_after) {
    const double wait = nst_pace_read_wait(h->retry_after, now);
    if (wait >= 0) return wait;
  }
  double used_up = -1, any = -1;
  for (int i = 0; i < h->nlimits; i++) {
    if (!*h->limits[i].reset) continue;
    const double wait = nst_pace_read_wait(h->limits[i].reset, now);
    any = fmax(any, wait);
    if (h->limits[i].remaining >= 0 && h->limits[i].remaining < 1) used_up = fmax(used_up, wait);
  }
  return used_up >= 0 || !refused ? used_up : any;
}

bool nst_pace_headers_used_up(const nst_pace_headers *h) {
  for (int i = 0; i < h->nlimits; i++)
    if (*h->limits[i].reset && h->limits[i].remaining >= 0 && h->limits[i].remaining < 1) return true;
  return false;
}
