/* A model with values in it, for those who run one: the public interface and verify. */
#ifndef NST_DRIVER_MODEL_H
#define NST_DRIVER_MODEL_H
#include "driver/internal.h"

typedef struct {
  const nst_ir_model *ir;
  nst_value *params;            /* [nparams] */
  nst_value *values; bool *lost;/* [nvalues]; lost: it has no value, for the reason in */
  nst_eval_status *status;      /* [nvalues], at */
  nst_span *where;              /* [nvalues] */
} nst_model_values;

void nst_model_values_init(nst_model_values *v, nst_arena *arena, const nst_ir_model *ir);
/* Evaluates all named values at v->params. false: out of fuel; v->status of the value at hand says so. */
bool nst_model_values_run(nst_model_values *v, uint64_t *fuel);
/* NULL: the output has no value. */
const nst_value *nst_model_values_out(const nst_model_values *v, int out);
#endif
