/* The figures that grading compares: which there are, their names and their order.
 *
 * An evaluation has, in this order: fits ops steps offchip cycles energy; for each memory, outermost first,
 * usage@L traffic@L cycles@L energy@L instances@L capacity@L and for each tensor kept@L/T tile@L/T fills@L/T reads@L/T updates@L/T
 * drains@L/T; for each compute unit cycles@L energy@L instances@L. The worker and the generator of tasks both ask here, so that a key
 * and an answer speak of the same things. Counts, bytes and all cycles but a level's are whole numbers; energies, capacities and the cycles of a
 * level are the nearest doubles, compared exactly. A capacity without bound is NONE. */
#ifndef NST_BENCH_GRADE_FIGURES_H
#define NST_BENCH_GRADE_FIGURES_H
#include <nestor/nestor.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { NST_FIGURE_NONE, NST_FIGURE_WHOLE, NST_FIGURE_REAL } nst_figure_kind;
typedef struct {
  nst_figure_kind kind;
  union {
    int64_t whole;
    double real; /* never infinite, never NaN */
  };
} nst_figure;

/* The same kind and the same value; a whole number equals the double that is exactly as large. */
bool nst_figure_equal(nst_figure a, nst_figure b);
nst_figure nst_figure_whole(int64_t value);
nst_figure nst_figure_real(double value); /* NONE of what is no finite number */

/* How many bytes of a figure's name are the name of its group, metric@level: what tensors of a level share. */
size_t nst_figure_group(const char *name);

/* Of an evaluation that has been run well: how many figures it has. */
size_t nst_figures_count(const nestor_eval *eval);
/* Appends their names, each with a NUL behind; how many they are. */
size_t nst_figures_names(nestor_buffer *out, const nestor_eval *eval);
/* Writes nst_figures_count() values. */
void nst_figures_values(nst_figure *out, const nestor_eval *eval);
#endif
