/* What a statement touches in all, whatever the mapping: the floor of what any
 * mapping without fusion moves. */
#ifndef NST_IR_FOOTPRINT_H
#define NST_IR_FOOTPRINT_H
#include "ir/nest.h"

/* Elements of a tensor that one statement touches, exactly; 0 where it does not use it. false: more work than the
 * analysis takes on. */
bool nst_footprint(int64_t *out, const nst_nest *nest, int stmt, int tensor);
/* Bytes that a tensor moves where the statements are mapped one by one and each touches its elements just once. */
bool nst_footprint_unfused(nst_rat *out, const nst_nest *nest, int tensor);
#endif
