/* nestor.h: the public interface of libnestor.
 *
 * Nestor reads a program (workloads, hardware, mappings, tests) and counts
 * exactly what each mapping moves, holds and costs. The life of everything:
 *
 *   nestor_session  settings; makes programs
 *   nestor_program  one compiled source text; knows its mappings and its diagnostics
 *   nestor_eval     one mapping, ready to be evaluated again and again
 *   nestor_model    one model, likewise
 *   nestor_kernel   one mapping's chosen metrics as native code, for many points
 *   nestor_report   evaluations collected into a table, JSON or CSV
 *   nestor_tests    what the test and verify blocks of a program gave
 *   nestor_sweep    the search of one mapping space: the best, the front, exactly
 *   nestor_buffer   text that the library writes and the caller reads
 *
 *   nestor_session *s = nestor_session_new();
 *   nestor_program *p = nestor_program_new(s, "gemm.nest", text, len, NESTOR_STAGE_CHECK);
 *   if (nestor_program_status(p) == NESTOR_OK) {
 *     nestor_eval *e = nestor_eval_new(p, 0);
 *     if (nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK)
 *       printf("%lld bytes off chip\n", (long long)nestor_eval_metrics(e).offchip_bytes);
 *     nestor_eval_free(e);
 *   }
 *   nestor_program_free(p);
 *   nestor_session_free(s);
 *
 * Ownership. What a function ending in _new returns is the caller's, and its
 * _free takes it back (NULL is fine). Everything else that is returned is
 * borrowed: it lives as long as the object it was asked of, or, for an
 * evaluation's figures, until the next run. Free evaluations, models, kernels,
 * reports, tests and sweeps before their program. A session may go before its programs.
 *
 * Threads. There is no global state. A program does not change once it is made:
 * any number of threads may read it and make evaluations of it. An evaluation, a
 * model, a report, a sweep and a buffer belong to one thread at a time (a sweep makes
 * threads of its own, and may be told to stop from any). A kernel may be called
 * by any number of threads at once.
 *
 * Errors. Functions return a nestor_status; what is wrong is said in
 * diagnostics, with places. The library never prints and never exits; it aborts
 * only when memory runs out.
 *
 * Numbers. Counts are exact 64-bit integers: a figure past 2^63-1 is an error,
 * never a wrap. Inside, all figures are exact; bytes and cycles are rounded up
 * and the others to the nearest double only when they are handed out. A figure
 * that is undefined (a ratio 0/0, an area of which a part is not given) is NaN
 * here and null in JSON. The counting rules are in docs/counting.md. */
#ifndef NESTOR_NESTOR_H
#define NESTOR_NESTOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define NESTOR_API __attribute__((visibility("default")))
#else
#define NESTOR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define NESTOR_VERSION_MAJOR 0
#define NESTOR_VERSION_MINOR 1
#define NESTOR_VERSION_PATCH 0

/* The library's version, "0.1.0". */
NESTOR_API const char *nestor_version(void);
/* The version of the counting rules. Figures of one program change only with it. */
NESTOR_API int nestor_semantics(void);

typedef enum {
  NESTOR_OK = 0,
  NESTOR_ERROR = 1,      /* the program, or this point of it, is wrong: the diagnostics say why */
  NESTOR_USAGE = 2,      /* the call is wrong: an unknown name or index, an object that did not compile */
  NESTOR_UNAVAILABLE = 3, /* the code generator is not installed or was not built */
  NESTOR_STOPPED = 4     /* a sweep was told to stop; what it has found stands */
} nestor_status;

/* ---- text ---------------------------------------------------------------- */

/* Text that the library appends to. Its bytes are always followed by a NUL. */
typedef struct nestor_buffer nestor_buffer;
NESTOR_API nestor_buffer *nestor_buffer_new(void);
NESTOR_API void nestor_buffer_free(nestor_buffer *buffer);
NESTOR_API const char *nestor_buffer_data(const nestor_buffer *buffer); /* never NULL; valid until the next append */
NESTOR_API size_t nestor_buffer_size(const nestor_buffer *buffer);      /* bytes, without the NUL */
NESTOR_API void nestor_buffer_clear(nestor_buffer *buffer);             /* keeps the memory */
NESTOR_API void nestor_buffer_append(nestor_buffer *buffer, const char *bytes, size_t size);

/* ---- the grammar --------------------------------------------------------- */

/* Notations of the language's grammar: for people (XML's EBNF with x{m,n}), for llama.cpp and XGrammar, for
 * Python's lark (parser="earley"). Root or start rule first, no left recursion, all repetitions bounded. */
typedef enum { NESTOR_GRAMMAR_EBNF, NESTOR_GRAMMAR_GBNF, NESTOR_GRAMMAR_LARK } nestor_grammar_format;
/* "ebnf", "gbnf", "lark". false: another word, *out untouched. */
NESTOR_API bool nestor_grammar_format_parse(const char *word, nestor_grammar_format *out);
/* Appends the grammar: what it accepts parses; see docs/grammar.md for what it leaves out. */
NESTOR_API void nestor_grammar(nestor_grammar_format format, nestor_buffer *out);
/* Appends one rule of grammar/parser.y, over tokens, as a line for people: "SIZE = by EXPR | into EXPR" of "size". Words
 * and signs stand for themselves, rules are in capitals. false: there is no such rule. */
NESTOR_API bool nestor_grammar_rule(const char *rule, nestor_buffer *out);

/* ---- reference ----------------------------------------------------------- */

/* The metrics of the language and the messages of the compiler, each as its table has it. false: no such index. */
typedef struct {
  const char *name, *summary; /* "reads"; a few words */
  const char *args;           /* what its brackets hold: "", "L" a level, "L, T" also a tensor; both may be left out where allowed */
  const char *unit;           /* "elements", "bytes", ...; "" of a plain number */
} nestor_metric_info;
NESTOR_API bool nestor_metric_about(size_t i, nestor_metric_info *out);
typedef struct {
  const char *code, *title; /* "E0602", "a tensor kept twice at one level" */
  bool warning;
} nestor_message_info;
NESTOR_API bool nestor_message_about(size_t i, nestor_message_info *out);

/* ---- diagnostics --------------------------------------------------------- */

typedef struct nestor_diagnostics nestor_diagnostics; /* borrowed from a program or an evaluation */
typedef enum { NESTOR_SEVERITY_ERROR, NESTOR_SEVERITY_WARNING } nestor_severity;
typedef struct {
  nestor_severity severity;
  const char *code;    /* "E0301"; a code never changes its meaning */
  const char *message; /* lower case, no full stop */
  const char *help;    /* a suggestion, or NULL */
  const char *file;    /* the source's name, or NULL where there is no place */
  uint32_t line, column, end_line, end_column; /* from 1, columns in code points; 0: no place */
} nestor_diagnostic;

/* Messages kept; at most 100, sorted by place. Later errors are counted only. */
NESTOR_API size_t nestor_diagnostics_count(const nestor_diagnostics *diagnostics);
/* Errors, kept or not. */
NESTOR_API size_t nestor_diagnostics_errors(const nestor_diagnostics *diagnostics);
/* Whether some message, kept or not, says that the text asks for more than is allowed, be it right or wrong: past a limit
 * of the session, nesting, a sum over too many values, elements that the analysis would have to list. */
NESTOR_API bool nestor_diagnostics_limit(const nestor_diagnostics *diagnostics);
/* false: i is out of range, *out untouched. The strings are borrowed. */
NESTOR_API bool nestor_diagnostics_get(const nestor_diagnostics *diagnostics, size_t i, nestor_diagnostic *out);
/* For people: the message, the source line, the span underlined. color adds ANSI escapes. */
NESTOR_API void nestor_diagnostics_text(const nestor_diagnostics *diagnostics, bool color, nestor_buffer *out);
/* For tools: one line, {"schema":"nestor.diagnostics/1","diagnostics":[...]}. */
NESTOR_API void nestor_diagnostics_json(const nestor_diagnostics *diagnostics, nestor_buffer *out);

/* ---- sessions ------------------------------------------------------------ */

/* Fetches the text of `use "path"`. `path` is already relative to the file that
 * uses it ("lib/hw.nest" used from "a/b.nest" asks for "a/lib/hw.nest"). Appends
 * the text to `out` and returns true, or appends the reason in a few words
 * ("permission denied") to `out` and returns false. */
typedef bool nestor_loader(void *context, const char *path, nestor_buffer *out);
/* A loader that reads the file system; context is not used. */
NESTOR_API bool nestor_load_file(void *context, const char *path, nestor_buffer *out);

typedef struct {
  uint64_t source_bytes;  /* largest source text; 0 and the most = 16 MiB */
  uint64_t simulate_work; /* largest nest the simulator accepts, points x nodes; 0 = 2^26 */
  uint64_t verify_points; /* most points one verify block enumerates; 0 = 100,000,000 */
  uint64_t fuel;          /* steps that making one program, one run of an evaluation by the analysis, and one run of a
                           * model may each take; 0 = no limit beyond those of the language. Steps are counted, never
                           * timed: the same text stops at the same place on every machine, whatever ran before. A step
                           * is at most some 50 nanoseconds. Past it: NESTOR_ERROR and a message, E0906 or E0908 */
} nestor_limits;

typedef struct nestor_session nestor_session;
/* As made: the standard library is on, files cannot be used, limits are the defaults. */
NESTOR_API nestor_session *nestor_session_new(void);
NESTOR_API void nestor_session_free(nestor_session *session);
/* Whether `use std....` finds the embedded standard library. */
NESTOR_API void nestor_session_set_stdlib(nestor_session *session, bool on);
/* Where `use "file"` looks; NULL turns files off (for text that is not trusted). */
NESTOR_API void nestor_session_set_loader(nestor_session *session, nestor_loader *loader, void *context);
NESTOR_API void nestor_session_set_limits(nestor_session *session, nestor_limits limits);
/* The file of the code generator (nestor-llvm.so). NULL, as made: beside the
 * library, then where it was installed. It is opened when first needed. */
NESTOR_API void nestor_session_set_code_generator(nestor_session *session, const char *path);
/* Where generated code is kept, to be found by later runs. "", as made: nowhere.
 * NULL: the user's own place, $XDG_CACHE_HOME/nestor, else ~/.cache/nestor. A
 * directory is made if need be; one that others can look into is not used. */
NESTOR_API void nestor_session_set_cache(nestor_session *session, const char *directory);

/* ---- programs ------------------------------------------------------------ */

typedef enum {
  NESTOR_STAGE_PARSE, /* syntax only: enough to format and to emit the tree */
  NESTOR_STAGE_CHECK  /* names, types, units, legality; lowered, ready to evaluate */
} nestor_stage;

typedef struct nestor_program nestor_program;
/* Compiles `size` bytes of text (any bytes; copied). `name` is what messages
 * call it and what relative `use` starts from. Never NULL: a program with
 * errors is there for its diagnostics, and its status is not NESTOR_OK. */
NESTOR_API nestor_program *nestor_program_new(const nestor_session *session, const char *name, const char *text,
                                              size_t size, nestor_stage stage);
/* Gives exactly what nestor_program_new gives, sooner where many texts begin alike: `base` is a program of such a beginning.
 * If the text begins with it, and it is whole declarations that parse without a message, its tree is used again; and where it was made
 * with NESTOR_STAGE_CHECK, without a message, its workloads and hardware are, too, if neither it nor the text uses constants or other files.
 * Any other base, and NULL, changes nothing. A base may be used by any number of threads and must outlive the programs made on it. */
NESTOR_API nestor_program *nestor_program_new_on(const nestor_session *session, const nestor_program *base, const char *name,
                                                 const char *text, size_t size, nestor_stage stage);
NESTOR_API void nestor_program_free(nestor_program *program);
NESTOR_API nestor_status nestor_program_status(const nestor_program *program);
NESTOR_API const nestor_diagnostics *nestor_program_diagnostics(const nestor_program *program);

typedef enum {
  NESTOR_DECLARATION_USE,
  NESTOR_DECLARATION_CONST,
  NESTOR_DECLARATION_WORKLOAD,
  NESTOR_DECLARATION_HARDWARE,
  NESTOR_DECLARATION_MAPPING,
  NESTOR_DECLARATION_TEST,
  NESTOR_DECLARATION_MODEL,
  NESTOR_DECLARATION_VERIFY,
  NESTOR_DECLARATION_SWEEP
} nestor_declaration_kind;
typedef struct {
  nestor_declaration_kind kind;
  const char *name;    /* of a const with several names the first; NULL: use, test and verify have none */
  size_t offset, size; /* bytes of the program's own text, its documentation comment included */
} nestor_declaration;
/* The declarations of the program's own text, in its order: of any program that parses, at either stage, whether or not
 * what they say is right. 0 where the text does not parse. */
NESTOR_API size_t nestor_program_declarations(const nestor_program *program);
/* false: no such index. */
NESTOR_API bool nestor_program_declaration(const nestor_program *program, size_t i, nestor_declaration *out);

/* What the program declares, in source order. All counts are 0 unless its stage
 * is CHECK and its status NESTOR_OK. */
NESTOR_API size_t nestor_program_mappings(const nestor_program *program);
NESTOR_API size_t nestor_program_tests(const nestor_program *program);    /* test blocks */
NESTOR_API size_t nestor_program_verifies(const nestor_program *program); /* verify blocks */
NESTOR_API size_t nestor_program_sweeps(const nestor_program *program);
/* Index of a mapping by name, or SIZE_MAX. */
NESTOR_API size_t nestor_program_find(const nestor_program *program, const char *mapping);
/* Nearest name of a mapping to a misspelt one, or NULL. */
NESTOR_API const char *nestor_program_suggest(const nestor_program *program, const char *mapping);

typedef struct {
  const char *name, *workload, *hardware;
  size_t params;
} nestor_mapping_info;
typedef struct {
  const char *name;
  bool has_default;     /* a default that is a number, given those before it */
  double default_value; /* NaN without one */
} nestor_param_info;
/* false: no such index. */
NESTOR_API bool nestor_program_mapping(const nestor_program *program, size_t mapping, nestor_mapping_info *out);
NESTOR_API bool nestor_program_param(const nestor_program *program, size_t mapping, size_t param,
                                     nestor_param_info *out);

/* The name of a memory of the mapping's hardware, outermost first; NULL: the level is no memory, or there is none. */
NESTOR_API const char *nestor_program_level(const nestor_program *program, size_t mapping, size_t level);

/* The text in its one true layout, comments kept. NESTOR_ERROR where it does not parse; *out then untouched. */
NESTOR_API nestor_status nestor_program_format(const nestor_program *program, nestor_buffer *out);
/* A stage of the compiler as text: "ast", "ir", "expr" (the counters as formulas
 * over columns) or "llvm" (the code of the kernels). NESTOR_USAGE: unknown stage.
 * NESTOR_UNAVAILABLE: no code generator; what is appended is the reason. */
NESTOR_API nestor_status nestor_program_emit(const nestor_program *program, const char *stage, nestor_buffer *out);

/* ---- evaluating one mapping ---------------------------------------------- */

typedef enum {
  NESTOR_ENGINE_ANALYSIS, /* exact, without enumerating the iteration space: microseconds, any size */
  NESTOR_ENGINE_SIMULATE, /* executes the counting rules element by element; bounded by simulate_work */
  NESTOR_ENGINE_JIT,      /* the analysis' formulas as native code; compiles once per evaluation object */
  NESTOR_ENGINE_ALL       /* the three, compared; the first difference is an error. Figures: the analysis'.
                           * A nest past simulate_work is compared without the simulator: a warning says so */
} nestor_engine;
/* "analysis", "simulate", "jit", "all"; false: another word. */
NESTOR_API bool nestor_engine_parse(const char *name, nestor_engine *out);

typedef struct nestor_eval nestor_eval;
/* NULL: the program has no such mapping. All memory that evaluating needs is
 * kept here: after its first run an evaluation by the analysis allocates nothing. */
NESTOR_API nestor_eval *nestor_eval_new(const nestor_program *program, size_t mapping);
NESTOR_API void nestor_eval_free(nestor_eval *eval);
/* Replaces the default of a parameter by a decimal number ("64", "0.5", "1_000"),
 * for this and all later runs. Parameters whose defaults use it follow.
 * NESTOR_USAGE: no such parameter, or no number. */
NESTOR_API nestor_status nestor_eval_set(nestor_eval *eval, const char *param, const char *number);
NESTOR_API void nestor_eval_reset(nestor_eval *eval); /* forgets all sets */
/* Evaluates. params: one value per parameter of the mapping, in order, or NULL:
 * the defaults and what was set. On NESTOR_OK the figures below are valid until
 * the next run; a mapping that does not fit is NESTOR_OK with fits = false and a
 * warning among the diagnostics. After a failed run the next is as good as new. */
NESTOR_API nestor_status nestor_eval_run(nestor_eval *eval, nestor_engine engine, const int64_t *params);
/* Messages of the last run. The warning of a mapping that does not fit is composed here. */
NESTOR_API const nestor_diagnostics *nestor_eval_diagnostics(nestor_eval *eval);
/* The value of a parameter in the last run. */
NESTOR_API double nestor_eval_param(const nestor_eval *eval, size_t param);

typedef enum { NESTOR_LEVEL_MEMORY, NESTOR_LEVEL_ARRAY, NESTOR_LEVEL_COMPUTE } nestor_level_kind;
typedef enum { NESTOR_ROLE_INPUT, NESTOR_ROLE_OUTPUT, NESTOR_ROLE_INTERMEDIATE } nestor_role;
typedef struct {
  const char *name;
  nestor_level_kind kind;
  int64_t instances;     /* that work in some step; of an array 0 */
  double capacity_bytes; /* of one instance; NaN: unbounded */
  int64_t usage_bytes;   /* that one instance must hold, doubled where double-buffered */
  bool fits;             /* usage within capacity */
  int64_t traffic_bytes; /* reads + updates of all instances */
  int64_t cycles;        /* its own transfers, or the compute's steps; rounded up */
  double exact_cycles;   /* the same, unrounded */
  double energy_pj;      /* all instances, with their leakage */
} nestor_level;
typedef struct {
  const char *name, *type; /* "int8", "bits(3)" */
  nestor_role role;
  int64_t bits_per_element;
} nestor_tensor;
typedef struct {
  bool kept;                             /* the tensor has a tile in this level */
  int64_t tile;                          /* elements of the largest tile of one instance */
  int64_t fills, reads, updates, drains; /* elements, all instances */
  int64_t usage_bytes, traffic_bytes;
} nestor_counters;
typedef struct {
  bool fits;
  int64_t ops, steps;
  int64_t offchip_bytes, cycles;
  double energy_pj, edp; /* pJ; pJ x cycles */
  double utilization;    /* share of all operations the compute could have done, 0 to 1 */
  double intensity;      /* operations per off-chip byte */
  double area_mm2;
} nestor_metrics;

/* Levels in hardware order, outermost first, arrays and computes included;
 * tensors in order of declaration. Out of range: a zeroed struct. */
NESTOR_API size_t nestor_eval_levels(const nestor_eval *eval);
NESTOR_API size_t nestor_eval_tensors(const nestor_eval *eval);
NESTOR_API nestor_level nestor_eval_level(const nestor_eval *eval, size_t level);
NESTOR_API nestor_tensor nestor_eval_tensor(const nestor_eval *eval, size_t tensor);
/* One tensor at one level, all 0 where it bypasses the level. */
NESTOR_API nestor_counters nestor_eval_counters(const nestor_eval *eval, size_t level, size_t tensor);
NESTOR_API nestor_metrics nestor_eval_metrics(const nestor_eval *eval);
/* A figure by its name in the language, "usage(GLB)", "reads(DRAM, A)", "offchip", as the
 * nearest double (unrounded cycles for a level; fits: 0 or 1). NESTOR_USAGE: no such figure. */
NESTOR_API nestor_status nestor_eval_figure(const nestor_eval *eval, const char *name, double *out);
/* The same as text: every digit of a whole number, where the double has 53 bits. Appends nothing where it is undefined. */
NESTOR_API nestor_status nestor_eval_figure_text(const nestor_eval *eval, const char *name, nestor_buffer *out);

/* What the mapping does, in words: the nest with sizes and keeps, which loops
 * give reuse and which force a reload, closed forms, the bottleneck. Of the last run. */
NESTOR_API nestor_status nestor_eval_explain(nestor_eval *eval, nestor_buffer *out);

/* ---- evaluating one model ------------------------------------------------ */

/* The models of a program, those of what it uses behind its own. 0 unless its stage is CHECK and its status NESTOR_OK. */
NESTOR_API size_t nestor_program_models(const nestor_program *program);
/* Index of a model by name, or SIZE_MAX. */
NESTOR_API size_t nestor_program_find_model(const nestor_program *program, const char *model);
typedef struct {
  const char *name;
  size_t params, outs;
} nestor_model_info;
/* false: no such index. */
NESTOR_API bool nestor_program_model(const nestor_program *program, size_t model, nestor_model_info *out);
/* The name of a parameter or of an output, in the order they are written; NULL: no such index. */
NESTOR_API const char *nestor_program_model_param(const nestor_program *program, size_t model, size_t param);
NESTOR_API const char *nestor_program_model_out(const nestor_program *program, size_t model, size_t out);

typedef struct nestor_model nestor_model;
/* NULL: the program has no such model. Its runs allocate nothing. */
NESTOR_API nestor_model *nestor_model_new(const nestor_program *program, size_t model);
NESTOR_API void nestor_model_free(nestor_model *model);
/* Evaluates every output; params: one value per parameter, in order. NESTOR_ERROR: out of fuel (nestor_limits). An output
 * without a value is no error of the run, and spoils no output that does not need it. */
NESTOR_API nestor_status nestor_model_run(nestor_model *model, const int64_t *params);

typedef enum {
  NESTOR_VALUE_INTEGER,  /* exactly `integer` */
  NESTOR_VALUE_FRACTION, /* no integer of 64 bits in value; `real` is the nearest double */
  NESTOR_VALUE_UNDEFINED /* a division by zero, log2(0), an integer past 2^63-1, ...; real is NaN */
} nestor_value_kind;
typedef struct {
  nestor_value_kind kind;
  int64_t integer; /* 0 unless INTEGER */
  double real;     /* of an INTEGER the nearest double */
} nestor_value;
/* An output of the last run. false: no such output, no run yet, or it failed. */
NESTOR_API bool nestor_model_value(const nestor_model *model, size_t out, nestor_value *value);
/* Why outputs of the last run have no value, or why it failed. Composed here. */
NESTOR_API const nestor_diagnostics *nestor_model_diagnostics(nestor_model *model);

/* ---- reports ------------------------------------------------------------- */

typedef enum { NESTOR_FORMAT_TABLE, NESTOR_FORMAT_JSON, NESTOR_FORMAT_CSV } nestor_format;
/* "table", "json", "csv"; false: another word. */
NESTOR_API bool nestor_format_parse(const char *name, nestor_format *out);

/* Collects evaluations, of any programs, into one text. The same evaluations
 * give the same bytes, under every locale. JSON follows the schema nestor.eval/1,
 * CSV has one row per mapping, level and tensor and one per compute and total. */
typedef struct nestor_report nestor_report;
NESTOR_API nestor_report *nestor_report_new(nestor_format format, bool color);
NESTOR_API void nestor_report_free(nestor_report *report);
/* Adds the figures of the last run (copied). */
NESTOR_API void nestor_report_add(nestor_report *report, const nestor_eval *eval);
/* Notes that the last run failed: in JSON an entry of "errors" with the first message. */
NESTOR_API void nestor_report_add_failure(nestor_report *report, nestor_eval *eval);
/* Appends the whole text; later adds start another. */
NESTOR_API void nestor_report_write(nestor_report *report, nestor_buffer *out);

/* ---- kernels ------------------------------------------------------------- */

/* Chosen figures of one mapping as a function of its parameters, compiled to
 * native code. Any number of threads may call one kernel at once. */
typedef struct nestor_kernel nestor_kernel;
typedef enum {
  NESTOR_POINT_OK = 0,
  NESTOR_POINT_INVALID = 1, /* a tile is no positive integer, a par does not fit its axis, ... */
  NESTOR_POINT_OVERFLOW = 2 /* a figure is past 2^63-1 */
} nestor_point;
/* figures: names as for nestor_eval_figure. NULL on failure: the reason, in
 * words, is appended to `error` (NULL allowed) and *status says of which kind. */
NESTOR_API nestor_kernel *nestor_kernel_new(const nestor_program *program, size_t mapping, const char *const *figures,
                                            size_t nfigures, nestor_status *status, nestor_buffer *error);
NESTOR_API void nestor_kernel_free(nestor_kernel *kernel); /* no call may be running */
NESTOR_API size_t nestor_kernel_params(const nestor_kernel *kernel);
NESTOR_API size_t nestor_kernel_figures(const nestor_kernel *kernel);
/* One point: params[nparams] in the mapping's order, out[nfigures]. An undefined
 * figure is NaN; where the point is not OK all are. */
NESTOR_API nestor_point nestor_kernel_call(nestor_kernel *kernel, const int64_t *params, double *out);
/* n points as columns: params[p][i] is parameter p of point i, out[f][i] figure f
 * of point i, points[i] (NULL allowed) a nestor_point. Returns how many were OK.
 * A bad point spoils no other. */
NESTOR_API size_t nestor_kernel_batch(nestor_kernel *kernel, size_t n, const int64_t *const *params,
                                      double *const *out, uint8_t *points);
/* Completes n points: writes the columns of the parameters that are not given with their defaults, which may depend on
 * given ones. points[i]: INVALID where a default has no whole value; the column then holds 0. */
NESTOR_API void nestor_kernel_defaults(const nestor_kernel *kernel, size_t n, const bool *given, int64_t *const *params,
                                       uint8_t *points);

/* ---- tests --------------------------------------------------------------- */

/* The test and verify blocks of a program, run in source order by the analysis. */
typedef struct nestor_tests nestor_tests;
typedef struct {
  bool verify;         /* else a test */
  bool passed;
  const char *name;    /* the test's text, or "test of os", "verify os_model against os" */
  const char *file;
  uint32_t line;
  uint64_t checks;     /* expectations of a test, points of a verify */
  uint64_t failed;     /* of them; a verify stops at its first counterexample */
  const char *details; /* both sides of what failed, the metrics in it; "" when passed */
} nestor_test;
NESTOR_API nestor_tests *nestor_tests_new(const nestor_program *program);
NESTOR_API void nestor_tests_free(nestor_tests *tests);
NESTOR_API size_t nestor_tests_count(const nestor_tests *tests);
NESTOR_API size_t nestor_tests_failed(const nestor_tests *tests);
NESTOR_API bool nestor_tests_get(const nestor_tests *tests, size_t i, nestor_test *out);
/* One line per block, the details of what failed, a summary line. */
NESTOR_API void nestor_tests_text(const nestor_tests *tests, bool color, nestor_buffer *out);
/* {"schema":"nestor.tests/1","passed":...,"failed":...,"tests":[...]}, one line. */
NESTOR_API void nestor_tests_json(const nestor_tests *tests, nestor_buffer *out);

/* ---- sweeps -------------------------------------------------------------- */

/* Every point of a sweep block: each tuple of its parameters with each order of
 * the permute blocks and each choice of the keep?. Points are ordered (parameters
 * as in the block, the first slowest; then orders, then keeps) and the order
 * breaks every tie, so that the answer is one, for any number of threads, shards
 * and restarts. An optimum is proven once the whole space has been searched. */
typedef struct nestor_sweep nestor_sweep;
typedef struct {
  bool no_prune;          /* evaluate what is proven not to enter any answer, too */
  bool no_kernel;         /* point by point, without native code */
  uint64_t limit;         /* stop before more points than so many; 0: the whole space */
  uint64_t sample, seed;  /* so many random points instead, the same for the same seed; 0: no sample */
  uint64_t shard, shards; /* only part `shard` (from 0) of `shards` equal ones; shards 0: all */
  int threads;            /* 0: one per processor */
} nestor_sweep_options;

/* Index of a sweep by name, or SIZE_MAX; its name, or NULL. */
NESTOR_API size_t nestor_program_find_sweep(const nestor_program *program, const char *sweep);
NESTOR_API const char *nestor_program_sweep(const nestor_program *program, size_t sweep);
/* NULL: there is no such sweep. options NULL: as zeros. Look at the status: a sweep whose sets are wrong is there for
 * its diagnostics. */
NESTOR_API nestor_sweep *nestor_sweep_new(const nestor_program *program, size_t sweep, const nestor_sweep_options *options);
NESTOR_API void nestor_sweep_free(nestor_sweep *sweep);
NESTOR_API nestor_status nestor_sweep_status(const nestor_sweep *sweep);
NESTOR_API const nestor_diagnostics *nestor_sweep_diagnostics(const nestor_sweep *sweep);

typedef struct {
  const char *name, *mapping;
  const char *points, *tuples, *variants; /* how many, exactly: decimal digits, as they may pass 64 bits */
  const char *engine;      /* "kernel", "plain", "sample", "first"; NULL before the run */
  const char *why_plain;   /* why there is no native code, or NULL */
  bool proven;             /* the whole space has been searched */
  bool found;              /* there is a valid point */
  uint64_t evaluated, pruned, duplicates, dropped, valid;
  double seconds_compile, seconds_run;
  int threads;
} nestor_sweep_info;
NESTOR_API nestor_sweep_info nestor_sweep_about(nestor_sweep *sweep);

typedef struct {
  double seconds, points_done, points, rate; /* points so far, of about so many, a second */
  double seconds_left;                       /* NaN: not known yet */
  uint64_t valid;
  const char *best;                          /* "energy = 1,234, cycles = 56", or NULL */
  bool last;
} nestor_sweep_progress;
/* Calls during a run come from the thread that runs it. */
typedef void nestor_sweep_watcher(void *context, const nestor_sweep_progress *progress);
NESTOR_API void nestor_sweep_watch(nestor_sweep *sweep, nestor_sweep_watcher *watcher, void *context, int every_ms);
/* Bytes that nestor_sweep_resume and nestor_sweep_load take, at most every so often and at the end. */
typedef void nestor_sweep_saver(void *context, const char *bytes, size_t size);
NESTOR_API void nestor_sweep_autosave(nestor_sweep *sweep, nestor_sweep_saver *saver, void *context, int every_ms);
/* Every valid point, as rows in an order that is always the same. false: they could not be written, and the run ends.
 * Called from several threads, one at a time. */
typedef bool nestor_sweep_writer(void *context, const char *bytes, size_t size);
typedef enum { NESTOR_ROWS_CSV, NESTOR_ROWS_NPY } nestor_rows;
NESTOR_API void nestor_sweep_list(nestor_sweep *sweep, nestor_rows rows, nestor_sweep_writer *writer, void *context);
/* The head of such a list; of .npy with the number of rows, and always of one size, so that it can be written again. */
NESTOR_API void nestor_sweep_list_head(nestor_sweep *sweep, nestor_rows rows, uint64_t count, nestor_buffer *out);

/* Searches. NESTOR_STOPPED: told to stop. NESTOR_ERROR: a point has no answer (the diagnostics name it), or a writer failed. */
NESTOR_API nestor_status nestor_sweep_run(nestor_sweep *sweep);
/* Ends a run soon; may be called from another thread and from a signal handler. */
NESTOR_API void nestor_sweep_stop(nestor_sweep *sweep);

/* The processes of a job that MPI runs. Every rank makes the same sweep, shares it and runs it; rank 0 has the answer, the
 * others only their part. A process opens its ranks once, and calls everything of them from one thread. */
typedef struct nestor_ranks nestor_ranks;
/* Whether this process was started as one of several ranks, by what its environment says. */
NESTOR_API bool nestor_ranks_wanted(void);
/* module: the file nestor-mpi.so; NULL: beside the library, then where it was installed. NULL: not installed, or MPI does
 * not start; the reason is appended to `error`. */
NESTOR_API nestor_ranks *nestor_ranks_new(const char *module, nestor_buffer *error);
NESTOR_API void nestor_ranks_free(nestor_ranks *ranks); /* when all ranks do */
NESTOR_API int nestor_ranks_rank(const nestor_ranks *ranks);
NESTOR_API int nestor_ranks_size(const nestor_ranks *ranks);
/* Whether all ranks give the same number, and none 0; all must ask, and all get the answer. -1: they do; else the first rank
 * that does not (0: rank 0 gave 0). For what has to be the same before they share sweeps. */
NESTOR_API int nestor_ranks_agree(nestor_ranks *ranks, uint64_t mark);
/* A sweep that is shared is run by all ranks, as often by each; a rank that frees one without having run it keeps the others
 * from running it. */
NESTOR_API void nestor_sweep_share(nestor_sweep *sweep, nestor_ranks *ranks); /* before the run */

/* What has been done and found, as bytes that say for themselves what they belong to (the program's text is in them). */
NESTOR_API void nestor_sweep_save(nestor_sweep *sweep, nestor_buffer *out);
/* Before a run: goes on from such bytes, to the same end. NESTOR_USAGE: of another program, version, sweep or options, or
 * damaged; the reason is appended to `error`. */
NESTOR_API nestor_status nestor_sweep_resume(nestor_sweep *sweep, const char *bytes, size_t size, nestor_buffer *error);
/* A sweep with its program from such bytes, to show or to merge; NULL: damaged, the reason is appended to `error`. */
NESTOR_API nestor_sweep *nestor_sweep_load(const char *bytes, size_t size, nestor_buffer *error);
/* Adds another part to a loaded one. NESTOR_USAGE: it does not belong to it, or is there already. */
NESTOR_API nestor_status nestor_sweep_merge(nestor_sweep *sweep, const char *bytes, size_t size, nestor_buffer *error);

/* The answer. timing adds seconds and threads, which differ from run to run. JSON follows the schema nestor.sweep/1. */
NESTOR_API void nestor_sweep_write(nestor_sweep *sweep, nestor_format format, bool color, bool timing, nestor_buffer *out);
/* Whether the table is followed by every mapping of the answer, as text of the language, or, as made, by the first three
 * of the best (of the front where nothing is best). JSON holds all of them always. */
NESTOR_API void nestor_sweep_show_mappings(nestor_sweep *sweep, bool all);
/* What was found, one by one: the best first, the front by its first metric. */
typedef enum { NESTOR_FOUND_BEST, NESTOR_FOUND_FRONT } nestor_found;
NESTOR_API size_t nestor_sweep_found(const nestor_sweep *sweep, nestor_found list);
/* The value of a parameter of the mapping, swept or not, at point i of a list; NaN: no such point or parameter. */
NESTOR_API double nestor_sweep_param(nestor_sweep *sweep, nestor_found list, size_t i, const char *param);
/* A metric as the nearest double; `metric` counts the different ones of the block, in its order. NaN: no such. */
NESTOR_API double nestor_sweep_metric(const nestor_sweep *sweep, nestor_found list, size_t i, size_t metric);
NESTOR_API size_t nestor_sweep_metrics(const nestor_sweep *sweep);
NESTOR_API nestor_status nestor_sweep_metric_name(const nestor_sweep *sweep, size_t metric, nestor_buffer *out);
/* The point's mapping as one line of the language, called `name`. NESTOR_USAGE: no such point. */
NESTOR_API nestor_status nestor_sweep_mapping(nestor_sweep *sweep, nestor_found list, size_t i, const char *name, nestor_buffer *out);

/* The best point as a complete program, its tiles, orders and keeps settled. `directory`: from where the program's own
 * `use "file"` paths are to be written, relative to it (NULL: unchanged). NESTOR_USAGE: no point is valid. */
NESTOR_API nestor_status nestor_sweep_emit(nestor_sweep *sweep, const char *directory, nestor_buffer *out);

/* Pareto fronts as a picture (SVG): logarithmic axes, the optimum of each sweep and the compulsory traffic marked,
 * legible on light and dark ground. */
typedef struct nestor_plot nestor_plot;
NESTOR_API nestor_plot *nestor_plot_new(void);
NESTOR_API void nestor_plot_free(nestor_plot *plot);
/* Adds the front of a sweep (copied). NESTOR_USAGE: it has none, not two metrics, or others than those added before. */
NESTOR_API nestor_status nestor_plot_add(nestor_plot *plot, nestor_sweep *sweep);
/* NESTOR_USAGE: nothing has been added. */
NESTOR_API nestor_status nestor_plot_write(const nestor_plot *plot, nestor_buffer *out);

#ifdef __cplusplus
}
#endif
#endif
