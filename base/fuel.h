/* Fuel: a budget of steps. What a program can make large is counted in steps,
 * never in seconds, so that a limit is reached at the same point on every
 * machine. A budget is a number that falls; at 0 it is out, and whatever spends
 * it stops. NULL stands for no limit. A step is at most some 50 nanoseconds of work. */
#ifndef NST_BASE_FUEL_H
#define NST_BASE_FUEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NST_FUEL_UNLIMITED UINT64_MAX

/* false: out. */
static inline bool nst_fuel_spend(uint64_t *fuel, uint64_t steps) {
  if (!fuel) return true;
  if (*fuel < steps) {
    *fuel = 0;
    return false;
  }
  *fuel -= steps;
  return true;
}
static inline bool nst_fuel_is_out(const uint64_t *fuel) { return fuel && *fuel == 0; }
#endif
