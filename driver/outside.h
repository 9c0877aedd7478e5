/* The warning of a tensor that is nowhere inside its shape. */
#ifndef NST_DRIVER_OUTSIDE_H
#define NST_DRIVER_OUTSIDE_H
#include "driver/internal.h"

bool nst_is_outside(const nestor_eval *e); /* some tensor is, in the last run */
void nst_tell_outside(nestor_eval *e);     /* adds a warning for each to e->diags */
#endif
