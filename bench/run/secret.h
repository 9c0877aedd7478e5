/* Striking a secret out of what comes back from a server, before anything else looks at it. */
#ifndef NST_BENCH_RUN_SECRET_H
#define NST_BENCH_RUN_SECRET_H
#include <jansson.h>
#include <stddef.h>

/* Shorter secrets are words, which answers may hold; they stay. */
enum { NST_SECRET_SHORTEST = 8 };

/* By asterisks of the same number. secret: NULL for none. */
void nst_secret_strike(char *bytes, size_t size, const char *secret);
/* In all texts of a value, where escapes may have hidden it. */
void nst_secret_strike_json(json_t *json, const char *secret);
#endif
