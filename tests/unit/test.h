/* What every unit test includes first: cmocka 1.1.5 uses types of these headers
 * without including them. */
#ifndef NST_TESTS_UNIT_TEST_H
#define NST_TESTS_UNIT_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Under sanitizers, whose heap is another: what it holds says nothing. */
#ifdef NST_SANITIZED
enum { TEST_SANITIZED = 1 };
#else
enum { TEST_SANITIZED = 0 };
#endif
#endif
