/* The tables of metrics and messages behind public names: for those who write about the language. */
#include "driver/internal.h"

#include "base/diag.h"

bool nestor_metric_about(size_t i, nestor_metric_info *out) {
#define ARGS_N ""
#define ARGS_L "L"
#define ARGS_LT "L, T"
#define UNIT_E "elements"
#define UNIT_B "bytes"
#define UNIT_C "cycles"
#define UNIT_PJ "pJ"
#define UNIT_PJC "pJ x cycles"
#define UNIT_N ""
#define UNIT_OPB "operations per byte"
#define UNIT_MM2 "mm2"
#define UNIT_BOOL "true or false"
  static const nestor_metric_info metrics[] = {
#define NST_METRIC(id, name, args, unit, summary) {name, summary, ARGS_##args, UNIT_##unit},
#include "ir/metrics.def"
#undef NST_METRIC
  };
  if (i >= sizeof metrics / sizeof *metrics) return false;
  return *out = metrics[i], true;
}

bool nestor_message_about(size_t i, nestor_message_info *out) {
  if (i >= NST_DIAG_COUNT) return false;
  const nst_diag_id id = (nst_diag_id)i;
  *out = (nestor_message_info){nst_diag_code(id), nst_diag_title(id), nst_diag_severity(id) == NST_SEVERITY_WARNING};
  return true;
}
