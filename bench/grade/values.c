/* Figures to and from JSON. */
#include "bench/grade/values.h"

#include "bench/record/record.h"

#include <stdio.h>
#include <stdlib.h>

json_t *nst_figure_json(nst_figure figure) {
  switch (figure.kind) {
    case NST_FIGURE_NONE: return json_null();
    case NST_FIGURE_WHOLE: return nst_record_from_int(figure.whole);
    case NST_FIGURE_REAL: break;
  }
  char text[40];
  snprintf(text, sizeof text, "%.15g", figure.real);
  if (nst_figure_equal(figure, nst_figure_real(strtod(text, NULL)))) return json_real(figure.real);
  snprintf(text, sizeof text, "%.17g", figure.real);
  return json_string(text);
}

bool nst_figure_take(nst_figure *out, const json_t *json) {
  int64_t whole;
  if (json_is_null(json)) return *out = (nst_figure){.kind = NST_FIGURE_NONE}, true;
  if (nst_record_int(json, &whole)) return *out = nst_figure_whole(whole), true;
  if (json_is_real(json)) return *out = nst_figure_real(json_real_value(json)), out->kind == NST_FIGURE_REAL;
  const char *text = json_string_value(json);
  if (!text || !*text) return false;
  char *end;
  *out = nst_figure_real(strtod(text, &end));
  return !*end && out->kind == NST_FIGURE_REAL;
}
