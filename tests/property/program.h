/* A random program on its way to text: workload and machine as small tables,
 * shared by the files of the generator. */
#ifndef NST_TESTS_PROPERTY_PROGRAM_H
#define NST_TESTS_PROPERTY_PROGRAM_H
#include "generate.h"
#include "random.h"

enum { GEN_DIMS = 10, GEN_TENSORS = 16, GEN_RANKS = 4, GEN_TERMS = 4, GEN_INS = 4, GEN_STMTS = 5, GEN_LEVELS = 9 };

typedef struct {
  int nterms, dim[GEN_TERMS], coef[GEN_TERMS], offset;
} gen_rank;
typedef struct {
  int tensor, nranks;
  gen_rank rank[GEN_RANKS];
} gen_access;
typedef struct {
  gen_access out, in[GEN_INS];
  int nin;
  bool assign;
  unsigned dims; /* set */
} gen_stmt;
typedef struct {
  char name;
  const char *type;
  bool shaped;
  int nranks, shape[GEN_RANKS]; /* -1: `_` */
} gen_tensor;
typedef struct {
  bool array;
  int naxes, size[2];
  bool unicast, no_reduce, doubled;
} gen_level;

typedef struct {
  gen_random random;
  uint64_t features;
  nst_buffer *out;
  char dim[GEN_DIMS];
  int ndims, extent[GEN_DIMS];
  gen_tensor tensor[GEN_TENSORS];
  int ntensors;
  gen_stmt stmt[GEN_STMTS];
  int nstmts;
  gen_level level[GEN_LEVELS]; /* level 0 is a memory; the last is the compute, not in the table */
  int nlevels;
  int nparams, param[GEN_DIMS * 4], param_width[GEN_DIMS * 4]; /* defaults; extents of what they split */
  nst_buffer body; /* of the mapping, written before its head is known */
  bool sweep;      /* for a sweep: many parameters, orders and optional keeps, a machine with rates and energies */
  bool wide;       /* larger extents */
  int most_points; /* of the workload; 0: as many as there usually are */
  bool all_outside; /* a sweep of a cascade: `keep all` in the outermost memory, which takes what a keep? drops */
  long variants;   /* orders times optional keeps so far; 0 counts as 1 */
} gen_program;

static inline void gen_note(gen_program *p, gen_feature f) { p->features |= UINT64_C(1) << f; }

/* generate_workload.c */
void gen_workload_nest(gen_program *p);
void gen_workload_cascade(gen_program *p);
void gen_print_workload(gen_program *p);
int gen_role(const gen_program *p, int tensor); /* 0 input, 1 output, 2 intermediate */
bool gen_uses(const gen_stmt *s, int tensor);

/* generate.c */
void gen_nest_mapping(gen_program *p);
void gen_cascade_mapping(gen_program *p);

/* generate_sweep.c: attributes of a machine for a sweep. */
void gen_print_memory(gen_program *p, bool inner);
void gen_print_compute(gen_program *p);

/* generate_mapping.c: one statement's way inward. */
typedef struct {
  int width[GEN_DIMS];     /* nominal extent here */
  int used[GEN_LEVELS][2]; /* places of an axis in use */
  int at[GEN_TENSORS];     /* innermost level that keeps it so far, or -1 */
  int last_par, deepest;   /* array of the last par; innermost level kept */
  int loops;               /* so far on this path */
  unsigned split;          /* dimensions split so far, of a size above 1 */
} gen_path;
void gen_hardware(gen_program *p, int memories);
void gen_print_hardware(gen_program *p); /* its random numbers are drawn after all others */
void gen_path_init(const gen_program *p, gen_path *at);
void gen_line(gen_program *p, int depth, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gen_for(gen_program *p, gen_path *at, int dim, int depth, const char *tail);
bool gen_par(gen_program *p, gen_path *at, int dim, int level, int depth);
void gen_keep(gen_program *p, gen_path *at, unsigned tensors, int level, int depth);
void gen_leaf(gen_program *p, gen_path at, const gen_stmt *s, int depth);
#endif
