/* One figure: equality without rounding. */
#include "bench/grade/figures.h"

#include <math.h>
#include <string.h>

bool nst_figure_equal(nst_figure a, nst_figure b) {
  if (a.kind != b.kind) {
    if (a.kind == NST_FIGURE_NONE || b.kind == NST_FIGURE_NONE) return false;
    const int64_t whole = a.kind == NST_FIGURE_WHOLE ? a.whole : b.whole;
    const double real = a.kind == NST_FIGURE_WHOLE ? b.real : a.real;
    /* Exactly: a double of this range has an integer value where it has no fraction. */
    return real >= -0x1p63 && real < 0x1p63 && (double)(int64_t)real == real && (int64_t)real == whole;
  }
  switch (a.kind) {
    case NST_FIGURE_NONE: return true;
    case NST_FIGURE_WHOLE: return a.whole == b.whole;
    case NST_FIGURE_REAL: return !(a.real < b.real) && !(a.real > b.real);
  }
  return false;
}

nst_figure nst_figure_whole(int64_t value) { return (nst_figure){.kind = NST_FIGURE_WHOLE, .whole = value}; }
nst_figure nst_figure_real(double value) {
  return isfinite(value) ? (nst_figure){.kind = NST_FIGURE_REAL, .real = value} : (nst_figure){.kind = NST_FIGURE_NONE};
}
size_t nst_figure_group(const char *name) { return strcspn(name, "/"); }
