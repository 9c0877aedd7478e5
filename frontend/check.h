/* What the files of the checker share. Nobody outside frontend/ includes this.
 *
 * Checking and lowering are one walk: a function that checks a piece returns
 * its IR. Workloads and hardware are checked once, at their declaration, into
 * templates over their own parameters; a mapping copies them with its arguments
 * substituted, silently, since all that can be wrong has been said.
 *
 * Invariants: a piece that is wrong is reported exactly once, where it is
 * wrong, and is poisoned from there on (a NULL expression, a poisoned symbol, a
 * node that is left out), so that what depends on it is still checked but says
 * nothing about it. An `incomplete` template lost something, so that "unknown"
 * and "missing" about it would be guesses and are not said. */
#ifndef NST_FRONTEND_CHECK_H
#define NST_FRONTEND_CHECK_H
#include "base/vec.h"
#include "frontend/compile.h"
#include "frontend/symbols.h"
#include "frontend/units.h"

typedef struct nst_module nst_module;
typedef struct nst_fe_workload nst_fe_workload;
typedef struct nst_fe_hardware nst_fe_hardware;
typedef struct nst_fe_mapping nst_fe_mapping;
typedef struct nst_fe_model nst_fe_model;

typedef struct { const void *where; nst_name name; nst_diag *said; } nst_unknown;
typedef struct {
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  const nst_frontend_options *options;
  NST_VEC(nst_module *) modules;
  NST_VEC(nst_module *) loading; /* the chain of uses at hand, to find cycles */
  uint64_t fuel;                 /* for evaluating constants: what is left for the whole run */
  uint64_t steps, fuel_given;    /* that checking may take, evaluating included; and `fuel` at first */
  uint64_t spent;                /* by nst_checker_spend */
  size_t arena_before;           /* bytes in the arena at first, without names: what is built is counted by them */
  bool starved;                  /* more steps have been taken, which has been said */
  int const_depth;               /* constants being checked inside one another */
  bool const_too_deep;           /* too many of them: said */
  NST_VEC(nst_unknown) unknown;  /* names that have been called unknown */
  const nst_ast_file *main;      /* not what it uses */
} nst_checker;

/* check_unknown.c: says that `name` is unknown or of the wrong kind in `where`, a table, unless that has been said:
 * then this use becomes a label of that message, and NULL is returned; NULL too where the message is one too many to keep. */
nst_diag *nst_say_unknown(nst_checker *ck, const void *where, nst_diag_id id, nst_span span, nst_name name,
                          const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* ---- expressions: check_expr.c; check_root.c, check_fold.c, check_call.c ---- */

typedef struct {
  const nst_expr *x; /* NULL: wrong, already reported */
  bool truth;        /* a condition, not a number */
  nst_unit unit;
  bool soft;         /* the unit is that of a metric or of the hardware: a bare number beside it counts in it */
  bool constant;     /* no parameter, value or metric in it */
  int open;          /* how many enclosing sums its variables belong to */
  uint32_t weight;   /* nodes that an evaluation visits, sums once */
  nst_eval_status fail; nst_span fail_at; /* not OK: its evaluation cannot succeed */
} nst_typed;

typedef struct nst_sum_var { nst_name name; struct nst_sum_var *outer; } nst_sum_var;

enum { NST_SCOPE_FRAMES = 5 };
typedef struct {
  nst_checker *ck;
  const nst_symtab *frames[NST_SCOPE_FRAMES]; int nframes; /* innermost first */
  nst_module *module;           /* whose constants are seen */
  bool closed;                  /* a model: the constants are not seen, and messages say so */
  const char *what;             /* "a mapping" */
  const nst_symtab *dims, *tensors, *levels; /* what else a name may stand for; NULL: nothing */
  const nst_ir_workload *workload; const nst_ir_hardware *hardware; /* metrics, LEVEL.capacity; or NULL */
  bool metrics;                 /* metrics may occur */
  bool incomplete;              /* an unknown name is not reported */
  const nst_ast_param *later;   /* parameters that come after: told apart from unknown ones */
  nst_sum_var *sums;
  nst_span from;                /* where the question is asked, for messages about the mapping itself */
} nst_scope;

nst_typed nst_check_expr(nst_scope *s, const nst_ast_expr *e);
/* A complete expression: what is certain to fail is reported. NULL if it is wrong. `what` opens a message
 * ("a tile size"). */
const nst_expr *nst_check_number(nst_scope *s, const nst_ast_expr *e, nst_unit unit, const char *what);
const nst_expr *nst_check_condition(nst_scope *s, const nst_ast_expr *e, const char *what);
/* Any number, with its unit left to the caller; and a typed expression as the end of an expression. */
nst_typed nst_check_value(nst_scope *s, const nst_ast_expr *e, const char *what);
bool nst_check_unit(nst_scope *s, const nst_typed *t, nst_span span, const nst_ast_expr *e, nst_unit unit,
                    const char *what);
/* "2*s" for `2s` where s names something, or NULL. */
const char *nst_unit_as_product(nst_scope *s, const nst_ast_expr *e);

/* check_fold.c */
nst_typed nst_poison(void);
nst_typed nst_typed_const(nst_checker *ck, nst_span span, nst_rat value);
nst_typed nst_typed_leaf(nst_checker *ck, nst_expr_kind kind, nst_span span, int index);
/* Operands b and c may be NULL. Folds what is constant; keeps units untouched (NONE). */
nst_typed nst_typed_make(nst_checker *ck, nst_expr_kind kind, nst_span span, const nst_typed *a, const nst_typed *b,
                         const nst_typed *c);
/* A limit has its own message wherever it is met. */
nst_diag_id nst_failure_id(nst_eval_status status, nst_diag_id otherwise);
bool nst_report_failure(nst_checker *ck, const nst_typed *t, nst_span whole); /* true: there was one */
bool nst_expr_is_const(const nst_expr *e); /* CONST */
bool nst_expr_same(const nst_expr *a, const nst_expr *b);
/* A copy with each parameter i replaced by value base + i; shares what has none. */
const nst_expr *nst_expr_rebase(nst_checker *ck, const nst_expr *e, int base);
/* A copy with each parameter i replaced by with[i]. */
const nst_expr *nst_expr_substitute(nst_checker *ck, const nst_expr *e, const nst_expr *const *with);
/* Constants only: a positive integer that fits 63 bits, else reports. Not constant or NULL: true. */
bool nst_check_positive(nst_checker *ck, const nst_expr *e, const char *what);
bool nst_check_integer(nst_checker *ck, const nst_expr *e, const char *what);

/* check_call.c */
nst_typed nst_check_call(nst_scope *s, const nst_ast_expr *e);
bool nst_metric_find(nst_metric *out, const char *name);
nst_typed nst_check_metric(nst_scope *s, const nst_ast_expr *e, nst_metric metric);
void nst_candidates_functions(nst_arena *arena, nst_candidates *c, nst_interner *interner, bool metrics);

/* check_units.c: operands side by side */
typedef enum { NST_SIDE_ADD, NST_SIDE_COMPARE, NST_SIDE_CHOOSE } nst_side;
/* The common unit of two operands of + - % min == if …; reports and returns false where there is none. */
bool nst_units_meet(nst_scope *s, nst_side side, const nst_typed *a, const nst_ast_expr *ea, const nst_typed *b,
                    const nst_ast_expr *eb, nst_unit *unit, bool *soft);

/* ---- parameters and arguments: check_args.c ---- */

typedef struct {
  nst_ir_param *items; int n;
  nst_symtab names;  /* symbol.index is the parameter */
  bool incomplete;   /* some may be lost */
} nst_fe_params;

/* plain: parameters have no unit and integer defaults (workloads). */
void nst_check_params(nst_checker *ck, nst_module *module, const nst_ast_decl *decl, bool plain, bool closed,
                      nst_fe_params *out);
/* The symbol of a value that is declared beside the parameters; NULL, and reported, where its name is taken. */
nst_symbol *nst_declare_value(nst_checker *ck, nst_symtab *values, const nst_fe_params *params, const nst_ast_ident *id);
typedef struct { nst_typed value; bool given; nst_span span; } nst_fe_arg;
/* Binds the arguments of a reference to `target`, the parameters of `what` ("workload `gemm`"): [target->n]. */
nst_fe_arg *nst_bind_args(nst_scope *s, const nst_ast_ref *ref, const nst_fe_params *target, const char *what,
                          nst_name name, bool integers);
/* Appends the parameters of a workload or hardware to a mapping's values; their symbols go to `frame`. */
typedef NST_VEC(nst_ir_value) nst_fe_values;
int nst_instantiate_params(nst_checker *ck, const nst_fe_params *params, const nst_fe_arg *args, nst_fe_values *values,
                           nst_symtab *frame);

/* ---- modules: modules.c, check_decls.c ---- */

typedef enum {
  NST_NS_CONST, NST_NS_WORKLOAD, NST_NS_HARDWARE, NST_NS_MAPPING, NST_NS_MODEL, NST_NS_SWEEP, NST_NS_COUNT
} nst_namespace;
/* What the symbol of a declaration points to. */
typedef struct {
  nst_module *module;
  const nst_ast_decl *decl;
  void *checked;            /* nst_fe_workload … by namespace; NULL: not yet, or of no use */
  /* constants */
  const nst_ast_expr *expr;
  enum { NST_CONST_NEW, NST_CONST_DOING, NST_CONST_DONE } state;
  nst_typed value;
} nst_decl_entry;
typedef struct { nst_module *module; /* NULL: could not be loaded */ nst_name alias; nst_span span; } nst_import;
struct nst_module {
  const char *key;          /* "std.hardware.edge" or the file's path */
  bool is_std;
  const nst_ast_file *file;
  nst_symtab names[NST_NS_COUNT]; /* object: nst_decl_entry */
  nst_symtab aliases;       /* index: of the import */
  NST_VEC(nst_import) imports;
  bool incomplete;          /* a declaration or an import was lost: unknown names are not reported */
  bool loaded;
};
/* Collects the names of a file and loads what it uses, each module once; checks each module in turn. */
nst_module *nst_module_load(nst_checker *ck, const nst_ast_file *file, const char *key, bool is_std);
/* Steps of a search that builds nothing. false: none are left, and the search may end. */
static inline bool nst_checker_spend(nst_checker *ck, size_t steps) {
  ck->spent += steps;
  return ck->spent <= ck->steps;
}
/* compile.c: steps taken so far; whether there are some left after a declaration, which says where there are none. */
uint64_t nst_checker_steps(const nst_checker *ck);
/* Names aside: which of them are there already depends on what was compiled before. */
static inline size_t nst_checker_bytes(const nst_checker *ck) {
  return nst_arena_used(ck->arena) - nst_interner_bytes(ck->interner);
}
bool nst_checker_goes_on(nst_checker *ck, const nst_ast_decl *decl);
void nst_module_check(nst_checker *ck, nst_module *m); /* compile.c: everything but tests, verify and sweeps */

/* ---- workloads and hardware that are checked already: head.c ---- */

typedef struct { size_t bytes; uint64_t fuel, spent; } nst_steps_taken;
/* The head that the options give, where this module may use it, else NULL. Then takes its item i, and pays. */
const nst_checked_head *nst_head_usable(const nst_checker *ck, const nst_module *m);
void *nst_head_take(nst_checker *ck, const nst_checked_head *head, nst_namespace ns, size_t i);
/* Makes one of a module, where the options ask for it: begin; before and add round each check; end. */
typedef struct { nst_checked_head *head; nst_steps_taken before; } nst_head_maker;
nst_head_maker nst_head_begin(nst_checker *ck, const nst_module *m);
void nst_head_before(nst_head_maker *maker, const nst_checker *ck);
void nst_head_add(nst_head_maker *maker, const nst_checker *ck, nst_namespace ns, size_t i, void *checked);
void nst_head_end(const nst_head_maker *maker, const nst_checker *ck);

/* A declaration by name: the module's own, then those it imports. Reports; NULL: none, or of no use. */
nst_decl_entry *nst_module_lookup(nst_checker *ck, nst_module *m, nst_namespace ns, const nst_ast_ident *alias,
                                  const nst_ast_ident *id);
/* The value of a constant, checked when it is first asked for; false: no such name (not reported). */
bool nst_module_const(nst_checker *ck, nst_module *m, nst_name alias, nst_name name, nst_span use, nst_typed *out);
void nst_candidates_module(nst_checker *ck, nst_candidates *c, nst_module *m, nst_namespace ns);
/* Whether a message of the scanner or parser lies … */
/* In the span or right behind it: the words of the span may have been meant otherwise. */
bool nst_syntax_error_follows(const nst_checker *ck, nst_span span);
/* In a declaration or between it and the next one: it may have lost a part. */
bool nst_decl_incomplete(const nst_checker *ck, const nst_ast_decl *decl);
bool nst_head_incomplete(const nst_checker *ck, const nst_ast_decl *decl); /* before its block: its parameters may be lost */

/* ---- workloads: check_workload.c, check_rank.c ---- */

enum { NST_MAX_DIMS = 256, NST_MAX_TENSORS = 1024, NST_MAX_STMTS = 256, NST_MAX_LEVELS = 32, NST_MAX_NODES = 10000 };
struct nst_fe_workload {
  const nst_ast_decl *decl;
  nst_module *module;
  nst_fe_params params;
  nst_symtab dims, tensors;
  nst_ir_workload ir;       /* over its own parameters */
  bool ok;                  /* nothing in it is wrong */
  bool incomplete;          /* a dimension, tensor or statement was lost */
  bool circular;            /* its statements need each other: reported, and no order of them is right */
};
nst_fe_workload *nst_check_workload(nst_checker *ck, nst_module *m, const nst_ast_decl *decl);
/* The dimensions met so far, each once. */
typedef struct { bool in[NST_MAX_DIMS]; nst_span at[NST_MAX_DIMS]; } nst_dim_set;
/* A rank as an affine sum; adds its dimensions to `met`. false: reported. */
bool nst_check_rank(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met, nst_ir_rank *out);
bool nst_rank_same(const nst_ir_rank *a, const nst_ir_rank *b);
bool nst_rank_uses(const nst_ir_rank *rank, int dim);
typedef struct {
  nst_span declared;        /* source 0: no declaration names it */
  nst_span ranked;          /* where its number of ranks was fixed */
  int writer;               /* statement, -1 */
  int readers;              /* how many statements read it */
} nst_tensor_use;
/* Growing lists while a workload is checked: check_workload.c; statements are in check_statement.c. */
typedef struct {
  nst_checker *ck;
  nst_fe_workload *w;
  nst_scope scope;
  NST_VEC(nst_ir_tensor) tensors;
  NST_VEC(nst_tensor_use) uses; /* beside tensors */
  NST_VEC(nst_ir_stmt) stmts;
  nst_dim_set used;         /* by any statement */
  bool full;                /* more tensors or statements than a workload takes: said */
} nst_workload_check;
bool nst_check_statement(nst_workload_check *c, const nst_ast_witem *item);
int nst_workload_tensor(nst_workload_check *c, const nst_ast_ident *id, int nranks, nst_span span); /* -1: reported */
void nst_instantiate_workload(nst_checker *ck, const nst_fe_workload *w, int base, nst_ir_workload *out);

/* ---- values at the default parameters: check_defaults.c ---- */

typedef struct { nst_checker *ck; nst_value *params, *values; bool known; } nst_defaults;
/* Evaluates parameters and values; known = false where one has no default. false: one cannot be evaluated, reported. */
bool nst_defaults_make(nst_checker *ck, const nst_ir_param *params, int nparams, const nst_ir_value *values,
                       int nvalues, nst_defaults *out);
/* An expression must give an integer, at least `least` where that is not INT64_MIN; NULL and constants are fine.
 * at.source 0: the place is the expression's own. */
bool nst_defaults_check(nst_defaults *d, const nst_expr *e, int64_t least, nst_span at, const char *what);

/* ---- hardware: check_hardware.c, check_attr.c ---- */

typedef struct { nst_ast_ident *items; int n; nst_span span; } nst_fe_holds; /* items NULL: all */
struct nst_fe_hardware {
  const nst_ast_decl *decl;
  nst_module *module;
  nst_fe_params params;
  nst_symtab levels;
  nst_ir_hardware ir;
  nst_fe_holds *holds;      /* [nlevels] */
  bool ok, incomplete;
};
nst_fe_hardware *nst_check_hardware(nst_checker *ck, nst_module *m, const nst_ast_decl *decl);
/* The attributes of one level. clock: NULL where none is given or it is wrong; has_clock: it is not missing. */
bool nst_check_attrs(nst_scope *s, const nst_ast_attr *attrs, nst_ir_level *level, nst_fe_holds *holds,
                     const nst_expr *clock, bool has_clock);
/* The attributes of the hardware itself: the clock. */
bool nst_check_clock(nst_scope *s, const nst_ast_hitem *items, const nst_expr **clock, bool *has_clock);
void nst_instantiate_hardware(nst_checker *ck, const nst_fe_hardware *h, int base, nst_ir_hardware *out);

/* ---- mappings: lower_mapping.c, lower_nest.c, check_keeps.c, check_cascade.c ---- */

struct nst_fe_mapping {
  const nst_ast_decl *decl;
  nst_module *module;
  const nst_fe_workload *workload; const nst_fe_hardware *hardware; /* NULL: unknown */
  nst_fe_params params;
  nst_symtab lets, workload_values, hardware_values;
  nst_fe_values values;
  nst_ir_mapping *ir;
  int index;                /* in the program; -1 not in it */
  bool ok;
};
nst_fe_mapping *nst_check_mapping(nst_checker *ck, nst_module *m, const nst_ast_decl *decl);
/* What expressions of the mapping, and of tests and sweeps of it, see. */
void nst_mapping_scope(nst_checker *ck, nst_fe_mapping *m, nst_scope *out);

/* A node and what the checks need beside it. Ids are in preorder: the subtree of a node is [id, end). */
typedef struct {
  nst_ir_node *ir;
  int parent;               /* id, or -1 */
  int end;
  bool all;                 /* keep all */
  bool faulty;              /* its place has been found wrong */
  int *stmts; int nstmts;   /* that run below it */
  const nst_ast_mitem *item;/* NULL: implied */
  nst_span *spans;          /* KEEP: of each tensor's name, as in ir->tensors */
} nst_fe_node;
typedef struct {
  nst_checker *ck;
  nst_fe_mapping *m;
  const nst_fe_workload *w; const nst_fe_hardware *h;
  nst_ir_mapping *ir;
  NST_VEC(nst_fe_node) nodes;
  int *compute;             /* [nstmts] node id of its compute, -1 */
  nst_span *place;          /* [nstmts] its name in the innermost `do`, else the mapping's name */
  int *writer;              /* [ntensors] statement or -1 */
  bool broken;              /* something is wrong: it cannot be counted */
  bool incomplete;          /* a syntax error in it: nothing is called missing */
  bool keeps_incomplete;    /* the same for keeps: a name in one is wrong */
  int npermutes;
  int outermost;            /* level of the first memory */
} nst_fe_nest;
/* lower_nest.c: builds the tree; keeps as written. */
void nst_lower_nest(nst_fe_nest *n, const nst_ast_mitem *items, nst_scope *scope);
/* lower_node.c: one statement of a nest as a node without a place; NULL: reported. */
nst_ir_node *nst_lower_loop(nst_fe_nest *n, const nst_ast_mitem *item, nst_scope *scope);
nst_ir_node *nst_lower_keep(nst_fe_nest *n, const nst_ast_mitem *item, const int *stmts, int nstmts, nst_span **spans);
int nst_lower_unit(nst_fe_nest *n, const nst_ast_mitem *item, nst_span span); /* level of a compute; -1: reported */
bool nst_fe_below(const nst_fe_nest *n, int inner, int outer); /* inner is in the subtree of outer */
bool nst_fe_uses(const nst_ir_stmt *stmt, int tensor);
bool nst_fe_used_below(const nst_fe_nest *n, const int *stmts, int nstmts, int tensor);
/* `holds` of a level. An intermediate is an output of the statement that writes it, an input of those that read it. */
bool nst_fe_may_hold(const nst_fe_nest *n, int level, int tensor, const int *stmts, int nstmts);
nst_name nst_fe_stmt_name(const nst_fe_nest *n, int stmt); /* its output */
/* lower_seq.c */
const char *nst_fe_shortest_seq(const nst_fe_nest *n, const int *stmts, int nstmts);
bool nst_fe_place(nst_fe_nest *n, const nst_ast_mitem *seq, const int *stmts, int nstmts, nst_ir_node *out);
/* The seq that shares an intermediate: node id, -1 where its users are not placed. */
int nst_fe_share_seq(const nst_fe_nest *n, int tensor);
void nst_resolve_keeps(nst_fe_nest *n);  /* check_keeps.c: `all`, keep?, duplicates; lists become final */
void nst_check_paths(nst_fe_nest *n);    /* check_paths.c: order, arrays, compute, kept nowhere */
void nst_check_fusion(nst_fe_nest *n);   /* check_cascade.c: the errors of cascades */
/* check_levels.c: warnings */
bool nst_fe_keeps_none(const nst_fe_nest *n, const nst_ast_mitem *item); /* keep none in LEVEL: a bypass on purpose */
void nst_warn_unused_levels(nst_fe_nest *n);
void nst_warn_holds(nst_checker *ck, const nst_fe_hardware *h, nst_fe_mapping *const *mappings, size_t n);

/* ---- questions: lower_model.c, lower_questions.c ---- */

struct nst_fe_model {
  const nst_ast_decl *decl;
  nst_module *module;
  nst_fe_params params;
  nst_symtab names, outs;   /* outs: index of the output, with its unit */
  nst_ir_model ir;
  int index;
  bool ok;
};
nst_fe_model *nst_check_model(nst_checker *ck, nst_module *m, const nst_ast_decl *decl);
/* lower_sets.c: `p in SET` items, in order; *count of them are good. false: reported. */
bool nst_lower_points(nst_scope *s, const nst_fe_mapping *m, const nst_ast_titem *const *items, int n,
                      nst_ir_point *out, int *count);
bool nst_lower_test(nst_checker *ck, nst_module *m, const nst_ast_decl *decl, nst_ir_test *out);
bool nst_lower_verify(nst_checker *ck, nst_module *m, const nst_ast_decl *decl, nst_ir_verify *out);
bool nst_lower_sweep(nst_checker *ck, nst_module *m, const nst_ast_decl *decl, nst_ir_sweep *out);
#endif
