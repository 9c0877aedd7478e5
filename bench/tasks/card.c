#include "bench/tasks/card.h"
#include "bench/tasks/text.h"
size_t nst_card_count(const char *text) { (void)text; return 0; }
void nst_card_write(nestor_buffer *out) { nst_text_add(out, "card\n"); }
void nst_card_system(nestor_buffer *out, bool card) { if (card) nst_card_write(out); }
