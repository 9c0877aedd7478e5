/* A draft: the structured program that a task is about.
 *
 * A draft holds one workload, one machine, one to four mappings and what is asked of them, as plain arrays in one
 * structure that can be copied. It is made from a kind, a level and a seed, and from nothing else, so that whoever has
 * a task's record can have its draft: to print it in another way, or to answer it wrongly on purpose. It is not
 * evaluated here: some drafts turn out to be no good task (two mappings of the same cost, say), and the generator draws
 * another seed.
 *
 * Dimensions, tensors, levels and parameters are named by their index; -1 is none; sets of them are bit masks. All
 * figures are integers. */
#ifndef NST_BENCH_TASKS_DRAFT_H
#define NST_BENCH_TASKS_DRAFT_H
#include "bench/record/random.h"
#include "bench/record/record.h"

#include <nestor/nestor.h>

#include <stdbool.h>
#include <stdint.h>

enum {
  NST_DRAFT_NAME = 24,
  NST_DRAFT_DIMS = 8,
  NST_DRAFT_TENSORS = 10,
  NST_DRAFT_RANKS = NST_DRAFT_DIMS,
  NST_DRAFT_STATEMENTS = 6,
  NST_DRAFT_LEVELS = 6,
  NST_DRAFT_AXES = 2,
  NST_DRAFT_NODES = 64,
  NST_DRAFT_PARAMS = 24,
  NST_DRAFT_MAPPINGS = 4,
  NST_DRAFT_QUANTITIES = 8
};

/* ---- the workload --------------------------------------------------------- */

/* What a dimension is, as far as its size goes. */
typedef enum { NST_DIM_LARGE, NST_DIM_CHANNEL, NST_DIM_BATCH, NST_DIM_FILTER } nst_dim_class;
typedef struct {
  char name[NST_DRAFT_NAME]; /* "m" */
  char size[NST_DRAFT_NAME]; /* the workload's parameter, "M" */
  int64_t extent;            /* its default */
  nst_dim_class kind;
} nst_draft_dim;

/* coef[0] * dim[0] + coef[1] * dim[1] + offset; one term where dim[1] is -1. */
typedef struct {
  int dim[2];
  int64_t coef[2];
  int64_t offset;
  int64_t shape; /* elements outside [0, shape * size of dim[0]) are padding; 0: all that is touched exists */
} nst_draft_rank;

typedef struct {
  char name[NST_DRAFT_NAME];
  const char *type; /* "int8" */
  int bits;
  int nranks;
  nst_draft_rank ranks[NST_DRAFT_RANKS];
  bool shaped;   /* some rank has a shape */
  int producer;  /* the statement that writes it, -1: an input */
  bool consumed; /* some statement reads it; with a producer: an intermediate */
} nst_draft_tensor;

typedef struct {
  int out;
  const char *op; /* "+=", "=", "max=", "min=" */
  int ninputs, inputs[3];
  const char *form; /* the expression, with $1, $2, $3 for the inputs: "$1 * $2" */
  unsigned dims;    /* all that it uses */
  unsigned reduced; /* of them, those that its output does not use */
} nst_draft_statement;

/* ---- the hardware --------------------------------------------------------- */

typedef enum { NST_DRAFT_MEMORY, NST_DRAFT_ARRAY, NST_DRAFT_COMPUTE } nst_draft_level_kind;
typedef struct {
  nst_draft_level_kind kind;
  char name[NST_DRAFT_NAME];
  /* of a memory; 0: not given */
  int64_t capacity;                                   /* bytes, whole KiB where capacity_param is named */
  char capacity_param[NST_DRAFT_NAME];                /* "" or a parameter of the hardware, in KiB */
  int64_t bandwidth, read_bandwidth, write_bandwidth; /* bytes a cycle */
  int64_t energy, read_energy, write_energy;          /* tenths of a pJ a byte; of a compute an operation */
  bool double_buffered, no_overlap;
  /* of an array */
  int naxes;
  char axis[NST_DRAFT_AXES][NST_DRAFT_NAME];
  int64_t places[NST_DRAFT_AXES];
  char places_param[NST_DRAFT_AXES][NST_DRAFT_NAME]; /* "" or a parameter of the hardware */
  bool no_multicast, no_reduce;
  /* of a compute */
  int64_t rate;
} nst_draft_level;

/* ---- mappings ------------------------------------------------------------- */

typedef enum {
  NST_NODE_FOR,  /* for dim by tile (into: in so many tiles) */
  NST_NODE_PAR,  /* par dim on level.axis; tile.value 0: no `by` */
  NST_NODE_KEEP, /* keep tensors in level; tensors 0: all */
  NST_NODE_SEQ,  /* seq { .. up to its END */
  NST_NODE_DO,   /* do outputs of `statements` { .. up to its END */
  NST_NODE_END,
  NST_NODE_COMPUTE
} nst_node_kind;
typedef struct {
  int param;
  int64_t value;
} nst_draft_tile; /* a parameter of the mapping, or -1 and a number */
typedef struct {
  nst_node_kind kind;
  int dim;
  nst_draft_tile tile;
  bool into;
  int level, axis;
  unsigned tensors, statements;
} nst_draft_node;

typedef enum {
  NST_ROLE_SIZE,   /* the workload's parameter for a dimension, handed on */
  NST_ROLE_TILE,   /* `by` */
  NST_ROLE_TILES,  /* `into` */
  NST_ROLE_MACHINE /* the hardware's parameter of that name, handed on */
} nst_draft_role;
typedef struct {
  char name[NST_DRAFT_NAME]; /* "tm", "M", "PES" */
  int64_t value;             /* its default: what the prompt shows */
  nst_draft_role role;
  int dim; /* whose size or tile it is; NST_ROLE_MACHINE: -1 */
} nst_draft_param;

typedef struct {
  char name[NST_DRAFT_NAME];
  int nparams;
  nst_draft_param params[NST_DRAFT_PARAMS];
  int nnodes;
  nst_draft_node nodes[NST_DRAFT_NODES]; /* outermost first, blocks closed by END */
} nst_draft_mapping;

/* ---- what is asked -------------------------------------------------------- */

typedef enum {
#define NST_MEASURE(id, metric, args, unit, words) NST_MEASURE_##id,
#include "bench/tasks/measures.def"
#undef NST_MEASURE
  NST_MEASURE_COUNT
} nst_measure;
typedef struct {
  nst_measure measure;
  int level, tensor;             /* -1 where the measure has none */
  char name[2 * NST_DRAFT_NAME]; /* "reads_A" */
} nst_draft_quantity;

typedef enum {
#define NST_TRAIT(id, name, level, part, what) NST_TRAIT_##id,
#include "bench/tasks/traits.def"
#undef NST_TRAIT
  NST_TRAIT_COUNT
} nst_trait;

typedef enum { NST_STYLE_PROSE, NST_STYLE_LOOPS, NST_STYLE_TABLE } nst_draft_style;

typedef struct {
  nst_kind kind;
  int level; /* 1 to NST_LEVELS */
  uint64_t seed;
  int raises;          /* the trait of its level that it has (traits.h), -1 at level 1 */
  unsigned allowed;    /* all traits that it may have */
  const char *cluster; /* the template's name */
  bool held_out;       /* the template is of the splits test and hidden alone */

  char workload[NST_DRAFT_NAME];
  int ndims, ntensors, nstatements;
  nst_draft_dim dims[NST_DRAFT_DIMS];
  nst_draft_tensor tensors[NST_DRAFT_TENSORS];
  nst_draft_statement statements[NST_DRAFT_STATEMENTS];

  char hardware[NST_DRAFT_NAME];
  int clock;   /* GHz; 0: none. Then bandwidths are written in GB/s */
  int nlevels; /* outermost first */
  nst_draft_level levels[NST_DRAFT_LEVELS];

  int nmappings; /* qa.compare: the choices; gen.workload, gen.hardware: hidden probes; else the one */
  nst_draft_mapping mappings[NST_DRAFT_MAPPINGS];

  nst_kind target; /* repair: what is to be mended, GEN_WORKLOAD, GEN_HARDWARE or GEN_MAPPING; else the kind */
  nst_draft_style style;
  int nquantities; /* qa.predict: what to predict; gen.model: the outputs; qa.compare, gen.optimize: the one that is
                      compared */
  nst_draft_quantity quantities[NST_DRAFT_QUANTITIES];
  bool any_tile; /* gen.optimize: tiles from 1 to the size, else its divisors. All tiles are free, and so is the order
                  * of the loops of the outer block (nst_draft_block) */
  bool traps[2]; /* qa.compare, qa.predict, gen.model: by this belief (naive.h) the answer is wrong; of the last level
                    always */
  int fault;     /* repair: a fault of mutate.h, and what is left to chance of it */
  uint64_t fault_seed;
  bool fault_message; /* repair: the prompt has the compiler's message */
} nst_draft;

/* ---- making --------------------------------------------------------------- */

/* The draft of a kind, a level and a seed; the same on every machine. secret: of the split hidden, else NULL. */
void nst_draft_make(nst_draft *out, nst_kind kind, int level, uint64_t seed, const char *secret);
/* The draft of a task's record. secret: as above. */
void nst_draft_of_task(nst_draft *out, const nst_task *task, const char *secret);

size_t nst_draft_templates(void);
const char *nst_draft_template(size_t i, int *first_level, int *last_level, bool *held_out);

/* Its parts, in this order (draft_*.c). They draw no trait that is not allowed where that is easily avoided; a draft
 * that has one all the same is drawn again. What is no trait does not depend on the level, but that level 1 asks less.
 */
bool nst_draft_may(const nst_draft *d, nst_trait trait);
void nst_draft_make_workload(nst_draft *d, nst_random *r);
void nst_draft_make_hardware(nst_draft *d, nst_random *r);
void nst_draft_make_mapping(nst_draft *d, nst_draft_mapping *m, nst_random *r); /* of one statement or of a cascade */
void nst_draft_make_question(nst_draft *d, nst_random *r);                      /* variants and what is asked */

/* ---- looking at a draft --------------------------------------------------- */

unsigned nst_draft_tensor_dims(const nst_draft *d, int tensor); /* the dimensions its ranks use */
bool nst_draft_is_cascade(const nst_draft *d);
int nst_draft_find_tensor(const nst_draft *d, const char *name);
int nst_draft_find_level(const nst_draft *d, const char *name);
/* The level of the outermost memory is 0; the next memory inwards, or -1. */
int nst_draft_next_memory(const nst_draft *d, int level);
/* The first array, or -1. */
int nst_draft_array(const nst_draft *d);
/* Indices of the loops of the outer block: those by a parameter that stand outside every branch. */
int nst_draft_block(const nst_draft_mapping *m, int nodes[NST_DRAFT_NODES]);
/* Whether a loop of the outer block repeats transfers of a tensor between the outermost and the middle memory, that is,
 * whether one who multiplies the tile by the trips of all loops is wrong about it. */
bool nst_draft_reuses(const nst_draft *d, const nst_draft_mapping *m, int tensor);
/* The value of a tile under given values of the mapping's parameters (NULL: the defaults). */
int64_t nst_draft_tile_value(const nst_draft_mapping *m, nst_draft_tile tile, const int64_t *params);
/* The extent of a dimension likewise: its size parameter's value, else the workload's default. */
int64_t nst_draft_extent(const nst_draft *d, const nst_draft_mapping *m, int dim, const int64_t *params);
/* Points of the iteration space of all statements. */
int64_t nst_draft_operations(const nst_draft *d, const nst_draft_mapping *m, const int64_t *params);
/* "reads(DRAM, A)"; "elements", "bytes" or "cycles". */
void nst_quantity_expression(const nst_draft *d, const nst_draft_quantity *q, char *out, size_t size);
const char *nst_quantity_unit(const nst_draft_quantity *q);
/* Its value in the last run of an evaluation of one of the draft's mappings. */
int64_t nst_quantity_value(const nst_draft_quantity *q, const nestor_eval *eval);

/* ---- printing a draft ----------------------------------------------------- */

/* In the language, in its one layout. m: index of a mapping; name: what it is called instead, or NULL. */
void nst_draft_write_workload(const nst_draft *d, nestor_buffer *out);
void nst_draft_write_hardware(const nst_draft *d, nestor_buffer *out);
void nst_draft_write_mapping(const nst_draft *d, int m, const char *name, nestor_buffer *out);
/* As it is put together, not laid out, for hashing: the workload or the hardware where the target is one of them, else
 * all. */
void nst_draft_write_plain(const nst_draft *d, nestor_buffer *out);
/* For people, in the style: sentences, loops in pseudo-code, or a table. */
void nst_draft_tell_workload(const nst_draft *d, nst_draft_style style, nestor_buffer *out);
void nst_draft_tell_hardware(const nst_draft *d, nst_draft_style style, nestor_buffer *out);
void nst_draft_tell_mapping(const nst_draft *d, int m, nst_draft_style style, nestor_buffer *out);
/* qa.compare: the mapping that a wrong belief looks at first, and names where others are level with it. Drawn, so that
 * right choices do not stand where beliefs would look last. */
int nst_draft_first_look(const nst_draft *d);
#endif
