/* Other parameters to try an explanation's closed forms at. */
#ifndef NST_DRIVER_EXPLAIN_SITES_H
#define NST_DRIVER_EXPLAIN_SITES_H
#include "driver/explain.h"

/* A site is the explanation seen at other parameters: the same mapping, another nest and its counts.
 * same_sizes: the sizes of the workload are those of the explanation; false: they are others, too. */
typedef void nst_site_call(void *context, const nst_explain *site, bool same_sizes);
/* Calls f at x itself and then at every site that can be counted; returns their number. The same sites every time. */
int nst_explain_sites(const nst_explain *x, nst_site_call *f, void *context);
#endif
