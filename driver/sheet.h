/* Figures of many points of one mapping whose costs are the same at all of them:
 * what nst_metrics_compute gives, rounded once, in whole numbers over common
 * denominators instead of rationals. A sheet is read by any number of threads. */
#ifndef NST_DRIVER_SHEET_H
#define NST_DRIVER_SHEET_H
#include "driver/internal.h"

typedef struct nst_sheet nst_sheet;
/* nest: of any point. NULL where the mapping is not for sheets (a cascade, memories that do not overlap, leakage, costs
 * with large denominators) or a figure is not. Memory in the arena. */
const nst_sheet *nst_sheet_new(nst_arena *arena, const nst_nest *nest, const nst_figure *figures, size_t nfigures);
/* out[nfigures]. false: too large for this; nst_metrics_compute knows. */
bool nst_sheet_figures(const nst_sheet *s, const nst_counts *c, double *out);
#endif
