/* The syntax tree: what was written, nothing resolved.
 *
 * The parser builds it, the formatter prints it, the checker reads it. Nodes
 * live in the context's arena and are never changed after parsing. Lists are
 * singly linked through `next` in source order. Every node has the span of its
 * whole text. A NULL child means "a syntax error here, already reported". */
#ifndef NST_FRONTEND_AST_H
#define NST_FRONTEND_AST_H
#include "base/intern.h"
#include "base/rational.h"
#include "base/source.h"
#include <stdbool.h>

typedef struct nst_ast_expr nst_ast_expr;
typedef struct { nst_name name; nst_span span; } nst_ast_ident;
typedef struct nst_ast_idents { nst_ast_ident id; struct nst_ast_idents *next; } nst_ast_idents;

/* ---- expressions ---- */
typedef enum {
  NST_AST_NUMBER,   /* value; text as written in span */
  NST_AST_QUANTITY, /* value and unit, e.g. 128 KiB, 32 B/cycle: unit text as written */
  NST_AST_BOOL,
  NST_AST_NAME,     /* id */
  NST_AST_MEMBER,   /* object '.' id: LEVEL.capacity, ARRAY.x, alias.name */
  NST_AST_CALL,     /* function id (or member function: object) with args: min(a,b), reads(L,T), usage(L) */
  NST_AST_UNARY,    /* op: '-' '+' or NOT */
  NST_AST_BINARY,   /* op */
  NST_AST_COMPARE,  /* chain: first, then (op, operand)+ */
  NST_AST_IF,       /* if a then b else c */
  NST_AST_SUM,      /* sum(a for id in b .. c) */
  NST_AST_PAREN,    /* ( a ): kept for the formatter */
  NST_AST_ACCESS    /* T[ranks] inside a statement's right-hand side: id, args = ranks */
} nst_ast_expr_kind;

typedef enum {
  NST_OP_ADD, NST_OP_SUB, NST_OP_MUL, NST_OP_DIV, NST_OP_FLOORDIV, NST_OP_MOD, NST_OP_POW,
  NST_OP_AND, NST_OP_OR, NST_OP_NOT, NST_OP_NEG, NST_OP_POS,
  NST_OP_EQ, NST_OP_NE, NST_OP_LT, NST_OP_LE, NST_OP_GT, NST_OP_GE
} nst_op;

typedef struct nst_ast_arg { /* positional: name.name == NULL */
  nst_ast_ident name;
  nst_ast_expr *value;
  nst_span span;
  struct nst_ast_arg *next;
} nst_ast_arg;

typedef struct nst_ast_link { nst_op op; nst_span op_span; nst_ast_expr *operand; struct nst_ast_link *next; } nst_ast_link;

struct nst_ast_expr {
  nst_ast_expr_kind kind;
  nst_span span;
  nst_op op;
  nst_rat value;     /* NUMBER QUANTITY */
  nst_ast_ident unit; /* QUANTITY: e.g. "KiB", "B/cycle" */
  bool truth;        /* BOOL */
  nst_ast_ident id;  /* NAME MEMBER CALL SUM ACCESS */
  nst_ast_expr *object; /* MEMBER; CALL through an alias: a.f(x) */
  nst_ast_expr *a, *b, *c;
  nst_ast_arg *args; /* CALL ACCESS */
  nst_ast_link *links; /* COMPARE */
  uint32_t depth;    /* nesting, bounded by the constructors (NST_AST_MAX_DEPTH) */
};
enum { NST_AST_MAX_DEPTH = 1000 };

/* A set, after `in`: [a, b], a .. b, a .. b step s, divisors(e), pow2(a, b) */
typedef enum { NST_SET_LIST, NST_SET_RANGE, NST_SET_DIVISORS, NST_SET_POW2 } nst_set_kind;
typedef struct {
  nst_set_kind kind;
  nst_span span;
  nst_ast_arg *items;     /* LIST */
  nst_ast_expr *a, *b, *step; /* RANGE POW2(a,b) DIVISORS(a); step may be NULL */
} nst_ast_set;

typedef struct nst_ast_param { nst_ast_ident id; nst_ast_expr *value; struct nst_ast_param *next; } nst_ast_param; /* value NULL: no default */

/* name(args) as in `of gemm(M = 7)`, `on tiny`; module NULL or the alias before the dot */
typedef struct { nst_ast_ident module, id; nst_ast_arg *args; bool has_args; nst_span span; } nst_ast_ref;

/* ---- workload ---- */
typedef struct { nst_ast_ident id; nst_ast_expr *bits; nst_span span; } nst_ast_type; /* int8, bits(N): bits set */
typedef struct nst_ast_tensor { nst_ast_ident id; nst_ast_arg *shape; bool has_shape; /* a `_` rank: value NULL */
  nst_ast_type *type; /* the type that applies, shared by the names before it; NULL: untyped */
  struct nst_ast_tensor *next; } nst_ast_tensor;
typedef enum { NST_REDUCE_ASSIGN, NST_REDUCE_ADD, NST_REDUCE_MAX, NST_REDUCE_MIN } nst_reduce;
typedef enum { NST_WITEM_DIM, NST_WITEM_TENSOR, NST_WITEM_STATEMENT } nst_ast_witem_kind;
typedef struct nst_ast_witem {
  nst_ast_witem_kind kind;
  nst_span span;
  nst_ast_param *dims;       /* DIM */
  nst_ast_tensor *tensors;   /* TENSOR: one declaration line */
  nst_ast_expr *output;      /* STATEMENT: an ACCESS */
  nst_reduce reduce; nst_span reduce_span;
  nst_ast_expr *value;
  struct nst_ast_witem *next;
} nst_ast_witem;

/* ---- hardware ---- */
typedef struct nst_ast_attr { nst_ast_ident id; nst_ast_expr *value; nst_ast_arg *more; /* holds = A, B, C: the rest */
  nst_ast_arg *last_more; /* the end of that list */
  nst_span span; struct nst_ast_attr *next; } nst_ast_attr;
typedef enum { NST_HITEM_ATTR, NST_HITEM_MEMORY, NST_HITEM_ARRAY, NST_HITEM_COMPUTE } nst_ast_hitem_kind;
typedef struct nst_ast_hitem {
  nst_ast_hitem_kind kind;
  nst_span span;
  nst_ast_attr *attr;   /* ATTR: clock = … */
  nst_ast_ident id;
  nst_ast_param *axes;  /* ARRAY */
  nst_ast_attr *attrs; bool has_block; nst_span block; /* block: '{' to '}' */
  struct nst_ast_hitem *next;
} nst_ast_hitem;

/* ---- mapping ---- */
typedef enum { NST_MITEM_FOR, NST_MITEM_PAR, NST_MITEM_KEEP, NST_MITEM_COMPUTE, NST_MITEM_LET, NST_MITEM_PERMUTE,
               NST_MITEM_SEQ } nst_ast_mitem_kind;
typedef enum { NST_SPLIT_ONE, NST_SPLIT_BY, NST_SPLIT_INTO } nst_ast_split; /* ONE: neither by nor into */
typedef struct nst_ast_branch nst_ast_branch;
typedef struct nst_ast_mitem {
  nst_ast_mitem_kind kind;
  nst_span span;                      /* the statement itself, without its braces' content */
  nst_ast_ident id;                   /* FOR PAR: dimension; LET: name; KEEP: level; COMPUTE: unit (may be NULL) */
  nst_ast_split split; nst_ast_expr *size;
  nst_ast_ident array, axis; bool on_first; /* PAR: `on` may be missing -> array.name NULL (an error reported by the checker) */
  nst_ast_idents *tensors; bool all, optional; /* KEEP; `keep?` */
  nst_ast_expr *value;                /* LET */
  struct nst_ast_mitem *body;         /* FOR PAR with braces, PERMUTE */
  bool braces; nst_span block;        /* FOR PAR PERMUTE SEQ with braces: '{' to '}' */
  nst_ast_branch *branches;           /* SEQ */
  struct nst_ast_mitem *next;
} nst_ast_mitem;
struct nst_ast_branch { nst_ast_idents *outputs; nst_ast_mitem *body; nst_span span, block; nst_ast_branch *next; };

/* ---- test, model, verify, sweep ---- */
typedef enum { NST_TITEM_LET, NST_TITEM_EXPECT, NST_TITEM_OUT, NST_TITEM_CHECK, NST_TITEM_OVER, NST_TITEM_IN,
               NST_TITEM_WHERE, NST_TITEM_MINIMIZE, NST_TITEM_MAXIMIZE, NST_TITEM_PARETO, NST_TITEM_TOP } nst_ast_titem_kind;
typedef struct nst_ast_titem {
  nst_ast_titem_kind kind;
  nst_span span;
  nst_ast_ident id;     /* LET OUT IN; CHECK: the model's output */
  bool bare;            /* LET written as NAME = EXPR in a model */
  nst_ast_expr *value;  /* LET EXPECT OUT WHERE TOP; CHECK: right side */
  nst_ast_arg *list;    /* MINIMIZE MAXIMIZE PARETO */
  nst_ast_set *set;     /* IN */
  struct nst_ast_titem *points; /* OVER: its IN items */
  struct nst_ast_titem *next;
} nst_ast_titem;

typedef enum { NST_DECL_USE, NST_DECL_CONST, NST_DECL_WORKLOAD, NST_DECL_HARDWARE, NST_DECL_MAPPING, NST_DECL_TEST,
               NST_DECL_MODEL, NST_DECL_VERIFY, NST_DECL_SWEEP } nst_ast_decl_kind;
typedef struct nst_ast_decl {
  nst_ast_decl_kind kind;
  nst_span span, head; /* head: keyword to just before '{' */
  nst_span block;      /* '{' to '}'; source 0 without a block */
  nst_span doc;        /* the ## lines before it; source 0 if none */
  nst_ast_ident id;    /* TEST: name NULL */
  const char *text;    /* TEST: its string, unescaped; or NULL */ nst_span text_span;
  const char *path; nst_span path_span; bool path_is_file; nst_ast_ident alias; /* USE: "std.hardware.edge" or a file path */
  nst_ast_param *params; bool has_params; /* CONST: the names and values */
  nst_ast_ref of, on;  /* MAPPING: of, on; TEST SWEEP: of; VERIFY: of = the mapping (against), on.id = the model */
  union {
    nst_ast_witem *workload;
    nst_ast_hitem *hardware;
    nst_ast_mitem *mapping;
    nst_ast_titem *items;
  };
  struct nst_ast_decl *next;
} nst_ast_decl;

typedef struct nst_ast_comment { nst_span span; bool doc, own_line; } nst_ast_comment; /* in source order */

typedef struct {
  uint32_t source;
  nst_ast_decl *decls;
  nst_ast_comment *comments; size_t ncomments;
  nst_ast_idents *lost; /* names of declarations with a broken head: not in decls, already reported */
} nst_ast_file;
#endif
