/* Constructors of the syntax tree, one call for each action of the grammar.
 *
 * A constructor never fails: it returns NULL where a child is NULL (a mistake
 * already reported) or the tree would grow too deep (reported here). What is
 * syntax but needs no grammar rule is checked here too: the order of arguments,
 * sets, quantities among ranks, numbers that are too large. Lists are built
 * with a tail; only the head enters the tree. */
#ifndef NST_GRAMMAR_BUILD_H
#define NST_GRAMMAR_BUILD_H
#include "grammar/state.h"

#define NST_LISTS(X)                                                                                                   \
  X(nst_ast_idents)                                                                                                    \
  X(nst_ast_arg) X(nst_ast_param) X(nst_ast_link) X(nst_ast_tensor) X(nst_ast_witem) X(nst_ast_hitem) X(nst_ast_attr)  \
    X(nst_ast_mitem) X(nst_ast_branch) X(nst_ast_titem) X(nst_ast_decl)
#define NST_DEFINE_LIST(T)                                                                                             \
  typedef struct {                                                                                                     \
    T *head, *tail;                                                                                                    \
  } T##_list;
NST_LISTS(NST_DEFINE_LIST)

typedef struct {
  nst_ast_arg *head;
  bool present;
} nst_opt_args;
typedef struct {
  nst_ast_param *head;
  bool present;
} nst_opt_params;
typedef struct {
  nst_ast_attr *head;
  bool present;
  nst_span block;
} nst_opt_attrs;
typedef struct {
  nst_ast_mitem *head;
  bool present;
  nst_span block;
} nst_opt_body;
typedef struct {
  nst_ast_split split;
  nst_ast_expr *size;
} nst_split_size;
typedef struct {
  nst_ast_ident array, axis;
} nst_target;
typedef struct {
  nst_reduce reduce;
  nst_span span;
} nst_reduce_op;

nst_ast_idents_list nst_idents_add(nst_parser *p, nst_ast_idents_list l, nst_ast_ident id);
nst_ast_arg_list nst_args_add(nst_parser *p, nst_ast_arg_list l, nst_ast_arg *arg);
nst_ast_arg_list nst_exprs_add(nst_parser *p, nst_ast_arg_list l, nst_ast_expr *e, nst_span span);
nst_ast_param_list nst_params_add(nst_ast_param_list l, nst_ast_param *param);
nst_ast_link_list nst_links_add(nst_ast_link_list l, nst_ast_link *link);
nst_ast_tensor_list nst_tensors_add(nst_ast_tensor_list l, nst_ast_tensor *tensor);
nst_ast_witem_list nst_witems_add(nst_ast_witem_list l, nst_ast_witem *item);
nst_ast_hitem_list nst_hitems_add(nst_ast_hitem_list l, nst_ast_hitem *item);
nst_ast_attr_list nst_attrs_add(nst_ast_attr_list l, nst_ast_attr *attr);
nst_ast_mitem_list nst_mitems_add(nst_ast_mitem_list l, nst_ast_mitem *item);
nst_ast_branch_list nst_branches_add(nst_ast_branch_list l, nst_ast_branch *branch);
nst_ast_titem_list nst_titems_add(nst_ast_titem_list l, nst_ast_titem *item);
nst_ast_decl_list nst_decls_add(nst_ast_decl_list l, nst_ast_decl *decl);
/* A value behind a comma belongs to the attribute before it: holds = A, B. */
nst_ast_attr_list nst_attrs_more(nst_parser *p, nst_ast_attr_list l, nst_ast_expr *e, nst_span span);
nst_ast_hitem_list nst_hitems_more(nst_parser *p, nst_ast_hitem_list l, nst_ast_expr *e, nst_span span);

/* expressions: build_expr.c */
nst_ast_expr *nst_build_number(nst_parser *p, nst_span span);
nst_ast_expr *nst_build_quantity(nst_parser *p, nst_span span);
nst_ast_expr *nst_build_bool(nst_parser *p, nst_span span, bool truth);
nst_ast_expr *nst_build_name(nst_parser *p, nst_span span, nst_ast_ident id);
nst_ast_expr *nst_build_member(nst_parser *p, nst_span span, nst_ast_expr *object, nst_ast_ident id);
nst_ast_expr *nst_build_call(nst_parser *p, nst_span span, nst_ast_expr *object, nst_ast_ident id, nst_ast_arg *args);
nst_ast_expr *nst_build_sum(nst_parser *p, nst_span span, nst_ast_ident function, nst_ast_expr *body, nst_ast_ident id,
                            nst_ast_set *set);
nst_ast_expr *nst_build_paren(nst_parser *p, nst_span span, nst_ast_expr *a);
nst_ast_expr *nst_build_unary(nst_parser *p, nst_span span, nst_op op, nst_ast_expr *a);
nst_ast_expr *nst_build_binary(nst_parser *p, nst_span span, nst_op op, nst_ast_expr *a, nst_ast_expr *b);
nst_ast_link *nst_build_link(nst_parser *p, nst_op op, nst_span op_span, nst_ast_expr *operand);
nst_ast_expr *nst_build_compare(nst_parser *p, nst_span span, nst_ast_expr *first, nst_ast_link_list links);
nst_ast_expr *nst_build_equal(nst_parser *p, nst_span span, nst_ast_expr *a, nst_span op, nst_ast_expr *b);
nst_ast_expr *nst_build_if(nst_parser *p, nst_span span, nst_ast_expr *c, nst_ast_expr *a, nst_ast_expr *b);
nst_ast_expr *nst_build_access(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_arg *ranks);
nst_ast_expr *nst_build_access_more(nst_parser *p, nst_span span, nst_ast_expr *access, nst_span bracket,
                                    nst_ast_arg *ranks);
nst_ast_arg *nst_build_arg(nst_parser *p, nst_span span, nst_ast_ident name, nst_ast_expr *value);
nst_ast_set *nst_build_set_list(nst_parser *p, nst_span span, nst_ast_arg_list items);
nst_ast_set *nst_build_set_range(nst_parser *p, nst_span span, nst_ast_expr *a, nst_ast_expr *b, nst_ast_expr *step);
nst_ast_set *nst_build_set_call(nst_parser *p, nst_span span, nst_ast_expr *call);
void nst_build_equal_hint(nst_parser *p, nst_span op);

/* declarations and items: build.c */
nst_ast_param *nst_build_param(nst_parser *p, nst_ast_ident id, nst_ast_expr *value);
/* What is larger than a name goes by pointer: the parser copies its values at every step. */
nst_ast_ref *nst_build_ref(nst_parser *p, nst_span span, nst_ast_ident module, nst_ast_ident id, nst_opt_args args);
/* true: the brace stands behind tokens that do not belong there; the lookahead is to be dropped. */
bool nst_build_missing_brace(nst_parser *p, nst_span span);

nst_ast_decl *nst_build_use(nst_parser *p, nst_span span, nst_ast_ident path, nst_ast_ident alias);
nst_ast_decl *nst_build_use_file(nst_parser *p, nst_span span, nst_span text, nst_ast_ident alias);
nst_ast_decl *nst_build_const(nst_parser *p, nst_span span, nst_ast_param_list bindings);
nst_ast_decl *nst_build_workload(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                 nst_ast_witem_list items);
nst_ast_decl *nst_build_hardware(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                 nst_ast_hitem_list items);
nst_ast_decl *nst_build_mapping(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                const nst_ast_ref *of, const nst_ast_ref *on, nst_ast_mitem_list items);
nst_ast_decl *nst_build_test(nst_parser *p, nst_span span, nst_span open, nst_span text, const nst_ast_ref *of,
                             nst_ast_titem_list items);
nst_ast_decl *nst_build_model(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                              nst_ast_titem_list items);
nst_ast_decl *nst_build_verify(nst_parser *p, nst_span span, nst_span open, nst_ast_ident model, const nst_ast_ref *against,
                               nst_ast_titem_list items);
nst_ast_decl *nst_build_sweep(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, const nst_ast_ref *of,
                              nst_ast_titem_list items);
nst_ast_decl *nst_build_lost(nst_parser *p, nst_span keyword); /* always NULL */

nst_ast_witem *nst_build_dims(nst_parser *p, nst_span span, nst_ast_param_list dims);
nst_ast_witem *nst_build_tensors(nst_parser *p, nst_span span, nst_ast_tensor_list tensors);
nst_ast_witem *nst_build_statement(nst_parser *p, nst_span span, nst_ast_expr *output, nst_reduce_op reduce,
                                   nst_ast_expr *value);
nst_ast_tensor *nst_build_tensor(nst_parser *p, nst_ast_ident id, nst_opt_args shape, nst_ast_type *type);
nst_ast_type *nst_build_type(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *bits);

nst_ast_attr *nst_build_attr(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value);
nst_ast_hitem *nst_build_hitem_attr(nst_parser *p, nst_span span, nst_ast_attr *attr);
nst_ast_hitem *nst_build_level(nst_parser *p, nst_span span, nst_ast_hitem_kind kind, nst_ast_ident id,
                               nst_ast_param *axes, nst_opt_attrs attrs);

nst_ast_mitem *nst_build_for(nst_parser *p, nst_span span, nst_ast_ident id, nst_split_size size, nst_opt_body body);
nst_target *nst_build_target(nst_parser *p, nst_ast_ident array, nst_ast_ident axis);
/* target NULL: none. */
nst_ast_mitem *nst_build_par(nst_parser *p, nst_span span, nst_ast_ident id, nst_split_size size, const nst_target *target,
                             bool on_first, nst_opt_body body);
nst_ast_mitem *nst_build_keep(nst_parser *p, nst_span span, bool optional, nst_ast_idents *tensors, bool all,
                              nst_ast_ident level);
nst_ast_mitem *nst_build_compute(nst_parser *p, nst_span span, nst_ast_ident unit);
nst_ast_mitem *nst_build_mapping_let(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value);
nst_ast_mitem *nst_build_permute(nst_parser *p, nst_span span, nst_span block, nst_ast_mitem_list body);
nst_ast_mitem *nst_build_seq(nst_parser *p, nst_span span, nst_span block, nst_ast_branch_list branches);
nst_ast_branch *nst_build_branch(nst_parser *p, nst_span span, nst_span block, nst_ast_idents *outputs,
                                 nst_ast_mitem_list body);

nst_ast_titem *nst_build_let(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value, bool bare);
nst_ast_titem *nst_build_out(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value);
nst_ast_titem *nst_build_check(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value);
nst_ast_titem *nst_build_item(nst_parser *p, nst_span span, nst_ast_titem_kind kind, nst_ast_expr *value);
nst_ast_titem *nst_build_where(nst_parser *p, nst_span span, nst_span keyword, nst_ast_expr *value);
nst_ast_titem *nst_build_goal(nst_parser *p, nst_span span, nst_span keyword, nst_ast_titem_kind kind,
                              nst_ast_arg_list list);
nst_ast_titem *nst_build_top(nst_parser *p, nst_span span, nst_span keyword, nst_ast_expr *value);
nst_ast_titem *nst_build_over(nst_parser *p, nst_span span, nst_ast_titem_list points);
nst_ast_titem *nst_build_in(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_set *set);
#endif
