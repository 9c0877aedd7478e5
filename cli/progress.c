/* How far a sweep is: one line that is drawn again and again on a terminal, lines
 * now and then elsewhere. All of it goes to standard error, so that the answer on
 * standard output is the same with and without. */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 24, BAR_MS = 200, LINES_MS = 10000, SOON_MS = 1000 };

void cli_progress_init(cli_progress *p, const cli_args *args) {
  *p = (cli_progress){.bar = !args->quiet && isatty(STDERR_FILENO), .lines = !args->quiet};
  p->every = p->bar ? BAR_MS : args->progress ? SOON_MS : LINES_MS;
}

int cli_progress_every_ms(const cli_progress *p) { return (int)p->every; }

/* 1.23 M, as a person reads it. */
static void amount(char *out, size_t cap, double v) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit = 0;
  while (v >= 1000 && unit + 1 < sizeof units / sizeof *units) {
    v /= 1000;
    unit++;
  }
  const int whole = (int)v, rest = (int)((v - whole) * 100);
  if (unit == 0 || v >= 100)
    snprintf(out, cap, "%d%s", whole, units[unit]);
  else
    snprintf(out, cap, "%d.%02d%s", whole, rest, units[unit]);
}

static void duration(char *out, size_t cap, double seconds) {
  if (!(seconds < 1e8))
    snprintf(out, cap, "%s", isnan(seconds) ? "?" : "years");
  else if (seconds < 100)
    snprintf(out, cap, "%d s", (int)ceil(seconds));
  else if (seconds < 6000)
    snprintf(out, cap, "%d min", (int)ceil(seconds / 60));
  else if (seconds < 48 * 3600)
    snprintf(out, cap, "%d h %d min", (int)(seconds / 3600), (int)(seconds / 60) % 60);
  else
    snprintf(out, cap, "%d days", (int)(seconds / 86400));
}

static int columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

void cli_progress_show(void *progress, const nestor_sweep_progress *now) {
  cli_progress *p = progress;
  if (!p->lines && !p->bar) return;
  if (now->last && p->bar) {
    if (p->shown) fputs("\r\033[K", stderr);
    return;
  }
  if (now->last) return;
  char rate[32], done[32], all[32], left[48], line[512];
  amount(rate, sizeof rate, now->rate);
  amount(done, sizeof done, now->points_done);
  amount(all, sizeof all, now->points);
  duration(left, sizeof left, now->seconds_left);
  const double share = now->points > 0 ? now->points_done / now->points : 1;
  if (p->bar) {
    char bar[BAR + 1];
    const int full = (int)(share * (double)BAR);
    for (int i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    snprintf(line, sizeof line, "[%s] %3d %%  %s/s, %s left%s%s", bar, (int)(share * 100), rate, left,
             now->best ? "  best " : "", now->best ? now->best : "");
    fprintf(stderr, "\r%.*s\033[K", columns() - 1, line);
    fflush(stderr);
    p->shown = true;
  } else {
    cli_say("%s of %s points (%d %%), %s/s, %s left%s%s", done, all, (int)(share * 100), rate, left,
            now->best ? ", best " : "", now->best ? now->best : "");
  }
}
