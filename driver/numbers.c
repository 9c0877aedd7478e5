/* How numbers are shown: rounded once, the same bytes under every locale. */
#include "driver/internal.h"

#include <math.h>
#include <string.h>

int64_t nst_round_up(nst_rat v) {
  nst_rat up;
  int64_t out;
  return nst_rat_ceil(&up, v) && nst_rat_to_i64(&out, up) ? out : INT64_MAX;
}

void nst_number_json(nst_buffer *out, nst_rat v) {
  int64_t whole;
  if (nst_rat_to_i64(&whole, v)) nst_buffer_int(out, whole);
  else nst_buffer_double(out, nst_rat_to_double(v));
}

/* Inserts a comma before every third digit from the right. */
static void group_digits(nst_buffer *out, const char *digits, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) nst_buffer_putc(out, ',');
    nst_buffer_putc(out, digits[i]);
  }
}

void nst_number_grouped(nst_buffer *out, int64_t v) {
  nst_buffer text = {0};
  nst_buffer_int(&text, v);
  const char *digits = text.text;
  size_t n = text.len;
  if (*digits == '-') {
    nst_buffer_putc(out, '-');
    digits++;
    n--;
  }
  group_digits(out, digits, n);
  nst_buffer_fini(&text);
}

void nst_number_decimal(nst_buffer *out, double v, int digits) {
  if (isnan(v)) {
    nst_buffer_puts(out, "undefined");
    return;
  }
  const double size = fabs(v);
  if (size != 0 && (size < 1e-4 || size >= 1e15)) { /* three places and an exponent */
    int exponent = (int)floor(log10(size));
    double scaled = round(v / pow(10, exponent) * 100) / 100;
    if (fabs(scaled) >= 10) {
      scaled /= 10;
      exponent++;
    }
    nst_buffer_double(out, scaled);
    nst_buffer_printf(out, "e%s%d", exponent < 0 ? "-" : "+", exponent < 0 ? -exponent : exponent);
    return;
  }
  int64_t scale = 1;
  for (int i = 0; i < digits; i++) scale *= 10;
  for (; digits && size * (double)scale > 9e15; digits--) scale /= 10; /* decimals that a double does not hold */
  const int64_t scaled = (int64_t)llround(size * (double)scale);
  if (v < 0 && scaled) nst_buffer_putc(out, '-');
  nst_number_grouped(out, scaled / scale);
  int64_t rest = scaled % scale;
  if (!rest) return;
  while (rest % 10 == 0) {
    rest /= 10;
    digits--;
  }
  nst_buffer_printf(out, ".%0*lld", digits, (long long)rest);
}

void nst_number_binary(nst_buffer *out, int64_t bytes) {
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return;
  double v = (double)bytes / 1024;
  size_t unit = 0;
  while (v >= 1024 && unit + 1 < sizeof units / sizeof *units) {
    v /= 1024;
    unit++;
  }
  nst_number_decimal(out, v, v < 10 ? 2 : v < 100 ? 1 : 0);
  nst_buffer_printf(out, " %s", units[unit]);
}
