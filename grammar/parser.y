/* The grammar of the language, version 1.
 *
 * LALR(1) without conflicts, precedences or feedback to the scanner. Most words
 * are soft: `name` lists them all, and the few places where one would be
 * ambiguous use `keep_name` or `sweep_name`. Every action is one call of a
 * constructor (build.h); lists are built with a tail. Each block's items have
 * one `error` production, where nst_recover chooses the token to go on with;
 * a declaration whose head is broken still has its block parsed. */
%require "3.8"
%define api.pure full
%define api.prefix {nst_parse_}
%define api.token.prefix {NST_TOK_}
%define api.location.type {nst_span}
%define parse.error custom
%define parse.lac full
%expect 0
%locations
%param {nst_parser *p}

%code requires {
#include "grammar/build.h"
#include "grammar/state.h"
}
%code provides {
/* Parses p->tokens; the result goes to p->file. */
int nst_parse_parse(nst_parser *p);
enum { NST_TOK_KEYWORDS_END = NST_TOK_LAST_SOFT };
}
%code {
#include <stdlib.h>
#define YYMAXDEPTH 20000
static int nst_parse_lex(NST_PARSE_STYPE *value, nst_span *span, nst_parser *p);
static void nst_parse_error(const nst_span *span, nst_parser *p, const char *message);
/* Joins the first and last symbol; an empty rule stands behind what came before it. The rule
 * number is in yyn, except where bison joins an error's range. */
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                            \
  do {                                                                                             \
    if (N) {                                                                                       \
      (Current) = nst_span_join(YYRHSLOC(Rhs, 1), YYRHSLOC(Rhs, N));                               \
    } else {                                                                                       \
      (Current) = YYRHSLOC(Rhs, 0);                                                                \
      (Current).begin = (Current).end;                                                             \
    }                                                                                              \
    if (p->rules && (const void *)(Rhs) != (const void *)yyerror_range) p->rules[yyn] = 1;         \
  } while (0)
/* Ends a recovery: goes on with the token that nst_recover chooses. */
#define RECOVER                                     \
  do {                                              \
    if (p->stop) YYABORT;                           \
    p->next = nst_recover(p, yychar != NST_TOK_NST_PARSE_EMPTY);    \
    yyclearin;                                      \
    yyerrok;                                        \
  } while (0)
}
%initial-action { @$ = (nst_span){p->source_id, p->from, p->from}; }

%union {
  nst_ast_ident id;
  nst_ast_idents_list ids;
  nst_ast_expr *expr;
  nst_ast_arg_list args;
  nst_ast_arg *arg;
  nst_ast_param_list params;
  nst_ast_param *param;
  nst_ast_link_list links;
  nst_ast_link *link;
  nst_ast_set *set;
  nst_ast_ref *ref;
  nst_ast_tensor_list tensors;
  nst_ast_tensor *tensor;
  nst_ast_type *type;
  nst_ast_witem_list witems;
  nst_ast_witem *witem;
  nst_ast_hitem_list hitems;
  nst_ast_hitem *hitem;
  nst_ast_attr_list attrs;
  nst_ast_attr *attr;
  nst_ast_mitem_list mitems;
  nst_ast_mitem *mitem;
  nst_ast_branch_list branches;
  nst_ast_branch *branch;
  nst_ast_titem_list titems;
  nst_ast_titem *titem;
  nst_ast_decl_list decls;
  nst_ast_decl *decl;
  nst_opt_args opt_args;
  nst_opt_params opt_params;
  nst_opt_attrs opt_attrs;
  nst_opt_body opt_body;
  nst_split_size split;
  nst_target *target;
  nst_op op;
  nst_reduce_op reduce;
  bool flag;
}

%token END 0 "end of file"
%token <id> NAME "a name"
%token NUMBER "a number" QUANTITY "a quantity" STRING "a text"
/* reserved words; IF is the first keyword */
%token <id> IF "if" THEN "then" ELSE "else" AND "and" OR "or" NOT "not" TRUE "true" FALSE "false" STEP "step"
/* soft words; USE is the first of them */
%token <id> USE "use" CONST "const" WORKLOAD "workload" HARDWARE "hardware" MAPPING "mapping" TEST "test"
%token <id> MODEL "model" VERIFY "verify" SWEEP "sweep" AS "as" DIM "dim" TENSOR "tensor" MAX "max" MIN "min"
%token <id> MEMORY "memory" ARRAY "array" COMPUTE "compute" FOR "for" PAR "par" BY "by" INTO "into" ON "on"
%token <id> KEEP "keep" ALL "all" IN "in" LET "let" PERMUTE "permute" SEQ "seq" DO "do" OF "of" EXPECT "expect"
%token <id> OUT "out" AGAINST "against" OVER "over" WHERE "where" MINIMIZE "minimize" MAXIMIZE "maximize"
%token <id> PARETO "pareto" TOP "top"
%token LAST_SOFT "the last soft word"
%token EQ "==" NE "!=" LE "<=" GE ">=" ADD_ASSIGN "+=" DOTDOT ".." FLOORDIV "//" POW "**"

%type <id> soft name0 special name keep_name sweep_name word dotted use_as
%type <ids> names keep_names
%type <expr> expr or_expr and_expr not_expr comparison arith term unary power primary access condition rhs
%type <expr> default
%type <args> args ranks exprs
%type <arg> arg rank
%type <params> params bindings axes
%type <param> param binding
%type <links> links
%type <link> link
%type <op> cmp
%type <set> set
%type <ref> ref
%type <opt_args> opt_args
%type <opt_params> opt_params
%type <tensors> tensors
%type <tensor> tensor
%type <type> type opt_type
%type <opt_args> opt_shape
%type <reduce> reduce
%type <witems> witems
%type <witem> witem
%type <hitems> hitems
%type <hitem> hitem
%type <attrs> attrs
%type <attr> attr
%type <opt_attrs> opt_attrs
%type <mitems> mitems
%type <mitem> mitem
%type <opt_body> opt_body
%type <split> opt_size size
%type <target> target
%type <flag> opt_optional
%type <branches> branches
%type <branch> branch
%type <titems> titems_test titems_model titems_verify titems_sweep points
%type <titem> titem_test titem_model titem_verify titem_sweep point
%type <decls> decls
%type <decl> decl

%%

/* ---- declarations ---- */

file: decls;

decls
  : %empty                        { $$ = (nst_ast_decl_list){0}; }
  | decls[l] decl                 { $$ = nst_decls_add($l, $decl); p->file->decls = $$.head; }
  | decls ';'
  | decls error                   { RECOVER; }
  ;

decl
  : USE dotted use_as             { $$ = nst_build_use(p, @$, $dotted, $use_as); }
  | USE STRING use_as             { $$ = nst_build_use_file(p, @$, @STRING, $use_as); }
  | CONST bindings                { $$ = nst_build_const(p, @$, $bindings); }
  | WORKLOAD name opt_params open { nst_block_enter(p, NST_BLOCK_WORKLOAD, @open); } witems close
    { $$ = nst_build_workload(p, @$, @open, $name, $opt_params, $witems); }
  | HARDWARE name opt_params open { nst_block_enter(p, NST_BLOCK_HARDWARE, @open); } hitems close
    { $$ = nst_build_hardware(p, @$, @open, $name, $opt_params, $hitems); }
  | MAPPING name opt_params OF ref[of] ON ref[on] open { nst_block_enter(p, NST_BLOCK_MAPPING, @open); } mitems close
    { $$ = nst_build_mapping(p, @$, @open, $name, $opt_params, $of, $on, $mitems); }
  | TEST OF ref[of] open { nst_block_enter(p, NST_BLOCK_TEST, @open); } titems_test[items] close
    { $$ = nst_build_test(p, @$, @open, (nst_span){0}, $of, $items); }
  | TEST STRING OF ref[of] open { nst_block_enter(p, NST_BLOCK_TEST, @open); } titems_test[items] close
    { $$ = nst_build_test(p, @$, @open, @STRING, $of, $items); }
  | MODEL name opt_params open { nst_block_enter(p, NST_BLOCK_MODEL, @open); } titems_model[items] close
    { $$ = nst_build_model(p, @$, @open, $name, $opt_params, $items); }
  | VERIFY name AGAINST ref[of] open { nst_block_enter(p, NST_BLOCK_VERIFY, @open); } titems_verify[items] close
    { $$ = nst_build_verify(p, @$, @open, $name, $of, $items); }
  | SWEEP name OF ref[of] open { nst_block_enter(p, NST_BLOCK_SWEEP, @open); } titems_sweep[items] close
    { $$ = nst_build_sweep(p, @$, @open, $name, $of, $items); }
  /* A broken head: the block is parsed for its own mistakes, the name is remembered as lost. */
  | WORKLOAD error '{' { nst_block_enter(p, NST_BLOCK_WORKLOAD, @3); yyerrok; } witems close { $$ = nst_build_lost(p, @1); }
  | HARDWARE error '{' { nst_block_enter(p, NST_BLOCK_HARDWARE, @3); yyerrok; } hitems close { $$ = nst_build_lost(p, @1); }
  | MAPPING error '{' { nst_block_enter(p, NST_BLOCK_MAPPING, @3); yyerrok; } mitems close { $$ = nst_build_lost(p, @1); }
  | TEST error '{' { nst_block_enter(p, NST_BLOCK_TEST, @3); yyerrok; } titems_test close { $$ = nst_build_lost(p, @1); }
  | MODEL error '{' { nst_block_enter(p, NST_BLOCK_MODEL, @3); yyerrok; } titems_model close { $$ = nst_build_lost(p, @1); }
  | VERIFY error '{' { nst_block_enter(p, NST_BLOCK_VERIFY, @3); yyerrok; } titems_verify close { $$ = nst_build_lost(p, @1); }
  | SWEEP error '{' { nst_block_enter(p, NST_BLOCK_SWEEP, @3); yyerrok; } titems_sweep close { $$ = nst_build_lost(p, @1); }
  ;

use_as: %empty { $$ = (nst_ast_ident){0}; } | AS name { $$ = $name; };
dotted: name | dotted[a] '.' word { $$ = (nst_ast_ident){NULL, @$}; }; /* read from the tokens by nst_build_use */

/* The brace of a block that must have one: without it the block is parsed all the same. */
open: '{' | %empty                { if (nst_build_missing_brace(p, @$)) { yyclearin; } };
close: '}'                        { nst_block_leave(p, @$); };

opt_params
  : %empty                        { $$ = (nst_opt_params){0}; }
  | '(' ')'                       { $$ = (nst_opt_params){.present = true}; }
  | '(' params ')'                { $$ = (nst_opt_params){$params.head, true}; }
  ;
params: param { $$ = nst_params_add((nst_ast_param_list){0}, $param); } | params[l] ',' param { $$ = nst_params_add($l, $param); };
param: name default               { $$ = nst_build_param(p, $name, $default); };
default: %empty { $$ = NULL; } | '=' expr { $$ = $expr; };
bindings: binding { $$ = nst_params_add((nst_ast_param_list){0}, $binding); }
  | bindings[l] ',' binding       { $$ = nst_params_add($l, $binding); };
binding: name '=' expr            { $$ = nst_build_param(p, $name, $expr); };

ref
  : name opt_args                 { $$ = nst_build_ref(p, @$, (nst_ast_ident){0}, $name, $opt_args); }
  | name '.' word opt_args        { $$ = nst_build_ref(p, @$, $name, $word, $opt_args); }
  ;
opt_args
  : %empty                        { $$ = (nst_opt_args){0}; }
  | '(' ')'                       { $$ = (nst_opt_args){.present = true}; }
  | '(' args ')'                  { $$ = (nst_opt_args){$args.head, true}; }
  ;
args: arg { $$ = nst_args_add(p, (nst_ast_arg_list){0}, $arg); } | args[l] ',' arg { $$ = nst_args_add(p, $l, $arg); };
arg
  : expr                          { $$ = nst_build_arg(p, @$, (nst_ast_ident){0}, $expr); }
  | name '=' expr                 { $$ = nst_build_arg(p, @$, $name, $expr); }
  ;
exprs
  : expr                          { $$ = nst_exprs_add(p, (nst_ast_arg_list){0}, $expr, @expr); }
  | exprs[l] ',' expr             { $$ = nst_exprs_add(p, $l, $expr, @expr); }
  ;
names: name { $$ = nst_idents_add(p, (nst_ast_idents_list){0}, $name); } | names[l] ',' name { $$ = nst_idents_add(p, $l, $name); };

/* ---- workload ---- */

witems
  : %empty                        { $$ = (nst_ast_witem_list){0}; }
  | witems[l] witem               { $$ = nst_witems_add($l, $witem); }
  | witems ';'
  | witems error                  { RECOVER; }
  ;
witem
  : DIM bindings                  { $$ = nst_build_dims(p, @$, $bindings); }
  | TENSOR tensors                { $$ = nst_build_tensors(p, @$, $tensors); }
  | access reduce expr            { $$ = nst_build_statement(p, @$, $access, $reduce, $expr); }
  ;
tensors: tensor { $$ = nst_tensors_add((nst_ast_tensor_list){0}, $tensor); } | tensors[l] ',' tensor { $$ = nst_tensors_add($l, $tensor); };
tensor: name opt_shape opt_type   { $$ = nst_build_tensor(p, $name, $opt_shape, $opt_type); };
opt_shape
  : %empty                        { $$ = (nst_opt_args){0}; }
  | '[' ']'                       { $$ = (nst_opt_args){.present = true}; }
  | '[' ranks ']'                 { $$ = (nst_opt_args){$ranks.head, true}; }
  ;
ranks: rank { $$ = nst_args_add(p, (nst_ast_arg_list){0}, $rank); } | ranks[l] ',' rank { $$ = nst_args_add(p, $l, $rank); };
rank
  : expr                          { $$ = nst_build_arg(p, @$, (nst_ast_ident){0}, $expr); }
  | '_'                           { $$ = nst_build_arg(p, @$, (nst_ast_ident){0}, NULL); }
  ;
opt_type: %empty { $$ = NULL; } | ':' type { $$ = $type; };
type
  : name                          { $$ = nst_build_type(p, @$, $name, NULL); }
  | name '(' expr ')'             { $$ = nst_build_type(p, @$, $name, $expr); }
  ;
reduce
  : '='                           { $$ = (nst_reduce_op){NST_REDUCE_ASSIGN, @$}; }
  | ADD_ASSIGN                    { $$ = (nst_reduce_op){NST_REDUCE_ADD, @$}; }
  | MAX '='                       { $$ = (nst_reduce_op){NST_REDUCE_MAX, @$}; }
  | MIN '='                       { $$ = (nst_reduce_op){NST_REDUCE_MIN, @$}; }
  ;

/* ---- hardware ---- */

hitems
  : %empty                        { $$ = (nst_ast_hitem_list){0}; }
  | hitems[l] hitem               { $$ = nst_hitems_add($l, $hitem); }
  | hitems ';'
  | hitems[l] ',' attr            { $$ = nst_hitems_add($l, nst_build_hitem_attr(p, @attr, $attr)); }
  | hitems[l] ',' expr            { $$ = nst_hitems_more(p, $l, $expr, @expr); }
  | hitems error                  { RECOVER; }
  ;
hitem
  : attr                          { $$ = nst_build_hitem_attr(p, @$, $attr); }
  | MEMORY name opt_attrs         { $$ = nst_build_level(p, @$, NST_HITEM_MEMORY, $name, NULL, $opt_attrs); }
  | COMPUTE name opt_attrs        { $$ = nst_build_level(p, @$, NST_HITEM_COMPUTE, $name, NULL, $opt_attrs); }
  | ARRAY name '[' axes ']' opt_attrs { $$ = nst_build_level(p, @$, NST_HITEM_ARRAY, $name, $axes.head, $opt_attrs); }
  ;
axes: binding { $$ = nst_params_add((nst_ast_param_list){0}, $binding); } | axes[l] ',' binding { $$ = nst_params_add($l, $binding); };
opt_attrs
  : %empty                        { $$ = (nst_opt_attrs){0}; }
  | '{' { nst_block_enter(p, NST_BLOCK_ATTRS, @1); } attrs opt_comma close { $$ = (nst_opt_attrs){$attrs.head, true, nst_span_join(@1, @close)}; }
  ;
opt_comma: %empty | ',';
attrs
  : %empty                        { $$ = (nst_ast_attr_list){0}; }
  | attrs[l] attr                 { $$ = nst_attrs_add($l, $attr); }
  | attrs ';'
  | attrs[l] ',' attr             { $$ = nst_attrs_add($l, $attr); }
  | attrs[l] ',' expr             { $$ = nst_attrs_more(p, $l, $expr, @expr); }
  | attrs error                   { RECOVER; }
  ;
attr: name '=' expr               { $$ = nst_build_attr(p, @$, $name, $expr); };

/* ---- mapping ---- */

mitems
  : %empty                        { $$ = (nst_ast_mitem_list){0}; }
  | mitems[l] mitem               { $$ = nst_mitems_add($l, $mitem); }
  | mitems ';'
  | mitems error                  { RECOVER; }
  ;
mitem
  : FOR name opt_size opt_body    { $$ = nst_build_for(p, @$, $name, $opt_size, $opt_body); }
  | PAR name opt_size opt_body    { $$ = nst_build_par(p, @$, $name, $opt_size, NULL, false, $opt_body); }
  | PAR name size target opt_body { $$ = nst_build_par(p, @$, $name, $size, $target, false, $opt_body); }
  | PAR name target opt_size opt_body { $$ = nst_build_par(p, @$, $name, $opt_size, $target, true, $opt_body); }
  | KEEP opt_optional ALL IN name { $$ = nst_build_keep(p, @$, $opt_optional, NULL, true, $name); }
  | KEEP opt_optional keep_names IN name { $$ = nst_build_keep(p, @$, $opt_optional, $keep_names.head, false, $name); }
  | COMPUTE                       { $$ = nst_build_compute(p, @$, (nst_ast_ident){0}); }
  | COMPUTE ON name               { $$ = nst_build_compute(p, @$, $name); }
  | LET name '=' expr             { $$ = nst_build_mapping_let(p, @$, $name, $expr); }
  | PERMUTE open { nst_block_enter(p, NST_BLOCK_MAPPING, @open); } mitems close
    { $$ = nst_build_permute(p, @1, nst_span_join(@open, @close), $mitems); }
  | SEQ open { nst_block_enter(p, NST_BLOCK_SEQ, @open); } branches close
    { $$ = nst_build_seq(p, @1, nst_span_join(@open, @close), $branches); }
  ;
opt_size: %empty { $$ = (nst_split_size){0}; } | size;
size
  : BY expr                       { $$ = (nst_split_size){NST_SPLIT_BY, $expr}; }
  | INTO expr                     { $$ = (nst_split_size){NST_SPLIT_INTO, $expr}; }
  ;
target: ON name { $$ = nst_build_target(p, $name, (nst_ast_ident){0}); } | ON name '.' word { $$ = nst_build_target(p, $name, $word); };
opt_body
  : %empty                        { $$ = (nst_opt_body){0}; }
  | '{' { nst_block_enter(p, NST_BLOCK_MAPPING, @1); } mitems close { $$ = (nst_opt_body){$mitems.head, true, nst_span_join(@1, @close)}; }
  ;
opt_optional: %empty { $$ = false; } | '?' { $$ = true; };
keep_names
  : keep_name                     { $$ = nst_idents_add(p, (nst_ast_idents_list){0}, $keep_name); }
  | keep_names[l] ',' keep_name   { $$ = nst_idents_add(p, $l, $keep_name); }
  ;
branches
  : %empty                        { $$ = (nst_ast_branch_list){0}; }
  | branches[l] branch            { $$ = nst_branches_add($l, $branch); }
  | branches ';'
  | branches error                { RECOVER; }
  ;
branch: DO names open { nst_block_enter(p, NST_BLOCK_MAPPING, @open); } mitems close
  { $$ = nst_build_branch(p, @$, nst_span_join(@open, @close), $names.head, $mitems); };

/* ---- test, model, verify, sweep ---- */

titems_test
  : %empty                        { $$ = (nst_ast_titem_list){0}; }
  | titems_test[l] titem_test     { $$ = nst_titems_add($l, $titem_test); }
  | titems_test ';'
  | titems_test error             { RECOVER; }
  ;
titem_test
  : LET name '=' expr             { $$ = nst_build_let(p, @$, $name, $expr, false); }
  | EXPECT condition              { $$ = nst_build_item(p, @$, NST_TITEM_EXPECT, $condition); }
  ;
titems_model
  : %empty                        { $$ = (nst_ast_titem_list){0}; }
  | titems_model[l] titem_model   { $$ = nst_titems_add($l, $titem_model); }
  | titems_model ';'
  | titems_model error            { RECOVER; }
  ;
titem_model
  : LET name '=' expr             { $$ = nst_build_let(p, @$, $name, $expr, false); }
  | name '=' expr                 { $$ = nst_build_let(p, @$, $name, $expr, true); }
  | OUT name '=' expr             { $$ = nst_build_out(p, @$, $name, $expr); }
  ;
titems_verify
  : %empty                        { $$ = (nst_ast_titem_list){0}; }
  | titems_verify[l] titem_verify { $$ = nst_titems_add($l, $titem_verify); }
  | titems_verify ';'
  | titems_verify error           { RECOVER; }
  ;
titem_verify
  : name EQ rhs                   { $$ = nst_build_check(p, @$, $name, $rhs); }
  | name '=' rhs                  { nst_build_equal_hint(p, @2); $$ = nst_build_check(p, @$, $name, $rhs); }
  | OVER points                   { $$ = nst_build_over(p, @$, $points); }
  ;
rhs: arith | IF condition THEN expr ELSE expr[b] { $$ = nst_build_if(p, @$, $condition, $4, $b); };
points: point { $$ = nst_titems_add((nst_ast_titem_list){0}, $point); } | points[l] ',' point { $$ = nst_titems_add($l, $point); };
point: name IN set                { $$ = nst_build_in(p, @$, $name, $set); };
titems_sweep
  : %empty                        { $$ = (nst_ast_titem_list){0}; }
  | titems_sweep[l] titem_sweep   { $$ = nst_titems_add($l, $titem_sweep); }
  | titems_sweep ';'
  | titems_sweep error            { RECOVER; }
  ;
titem_sweep
  : sweep_name IN set             { $$ = nst_build_in(p, @$, $sweep_name, $set); }
  | WHERE condition               { $$ = nst_build_where(p, @$, @1, $condition); }
  | MINIMIZE exprs                { $$ = nst_build_goal(p, @$, @1, NST_TITEM_MINIMIZE, $exprs); }
  | MAXIMIZE exprs                { $$ = nst_build_goal(p, @$, @1, NST_TITEM_MAXIMIZE, $exprs); }
  | PARETO exprs                  { $$ = nst_build_goal(p, @$, @1, NST_TITEM_PARETO, $exprs); }
  | TOP expr                      { $$ = nst_build_top(p, @$, @1, $expr); }
  ;
set
  : '[' ']'                       { $$ = nst_build_set_list(p, @$, (nst_ast_arg_list){0}); }
  | '[' exprs ']'                 { $$ = nst_build_set_list(p, @$, $exprs); }
  | arith[a] DOTDOT arith[b]      { $$ = nst_build_set_range(p, @$, $a, $b, NULL); }
  | arith[a] DOTDOT arith[b] STEP arith[s] { $$ = nst_build_set_range(p, @$, $a, $b, $s); }
  | arith                         { $$ = nst_build_set_call(p, @$, $arith); }
  ;

/* ---- expressions ---- */

condition: expr | expr[a] '=' expr[b] { nst_build_equal_hint(p, @2); $$ = nst_build_equal(p, @$, $a, @2, $b); };

expr: or_expr | IF condition THEN expr[a] ELSE expr[b] { $$ = nst_build_if(p, @$, $condition, $a, $b); };
or_expr: and_expr | or_expr[a] OR and_expr[b]    { $$ = nst_build_binary(p, @$, NST_OP_OR, $a, $b); };
and_expr: not_expr | and_expr[a] AND not_expr[b] { $$ = nst_build_binary(p, @$, NST_OP_AND, $a, $b); };
not_expr: comparison | NOT not_expr[a]           { $$ = nst_build_unary(p, @$, NST_OP_NOT, $a); };
comparison: arith | arith[a] links               { $$ = nst_build_compare(p, @$, $a, $links); };
links: link { $$ = nst_links_add((nst_ast_link_list){0}, $link); } | links[l] link { $$ = nst_links_add($l, $link); };
link: cmp arith                   { $$ = nst_build_link(p, $cmp, @cmp, $arith); };
cmp: EQ { $$ = NST_OP_EQ; } | NE { $$ = NST_OP_NE; } | '<' { $$ = NST_OP_LT; } | LE { $$ = NST_OP_LE; }
  | '>' { $$ = NST_OP_GT; } | GE  { $$ = NST_OP_GE; };
arith: term
  | arith[a] '+' term[b]          { $$ = nst_build_binary(p, @$, NST_OP_ADD, $a, $b); }
  | arith[a] '-' term[b]          { $$ = nst_build_binary(p, @$, NST_OP_SUB, $a, $b); }
  ;
term: unary
  | term[a] '*' unary[b]          { $$ = nst_build_binary(p, @$, NST_OP_MUL, $a, $b); }
  | term[a] '/' unary[b]          { $$ = nst_build_binary(p, @$, NST_OP_DIV, $a, $b); }
  | term[a] FLOORDIV unary[b]     { $$ = nst_build_binary(p, @$, NST_OP_FLOORDIV, $a, $b); }
  | term[a] '%' unary[b]          { $$ = nst_build_binary(p, @$, NST_OP_MOD, $a, $b); }
  ;
unary: power
  | '-' unary[a]                  { $$ = nst_build_unary(p, @$, NST_OP_NEG, $a); }
  | '+' unary[a]                  { $$ = nst_build_unary(p, @$, NST_OP_POS, $a); }
  ;
power: primary | primary[a] POW unary[b] { $$ = nst_build_binary(p, @$, NST_OP_POW, $a, $b); };
primary
  : NUMBER                        { $$ = nst_build_number(p, @$); }
  | QUANTITY                      { $$ = nst_build_quantity(p, @$); }
  | TRUE                          { $$ = nst_build_bool(p, @$, true); }
  | FALSE                         { $$ = nst_build_bool(p, @$, false); }
  | '(' condition ')'             { $$ = nst_build_paren(p, @$, $condition); }
  | name                          { $$ = nst_build_name(p, @$, $name); }
  | name '(' ')'                  { $$ = nst_build_call(p, @$, NULL, $name, NULL); }
  | name '(' args ')'             { $$ = nst_build_call(p, @$, NULL, $name, $args.head); }
  | name '(' expr FOR name[i] IN set ')' { $$ = nst_build_sum(p, @$, $1, $expr, $i, $set); }
  | access
  | primary[a] '.' word           { $$ = nst_build_member(p, @$, $a, $word); }
  | primary[a] '.' word '(' ')'   { $$ = nst_build_call(p, @$, $a, $word, NULL); }
  | primary[a] '.' word '(' args ')' { $$ = nst_build_call(p, @$, $a, $word, $args.head); }
  ;
access
  : name '[' ']'                  { $$ = nst_build_access(p, @$, $name, NULL); }
  | name '[' ranks ']'            { $$ = nst_build_access(p, @$, $name, $ranks.head); }
  | access[a] '[' ranks ']'       { $$ = nst_build_access_more(p, @$, $a, @2, $ranks.head); }
  ;

/* ---- names ---- */

name0: NAME | soft;
soft: USE | CONST | WORKLOAD | HARDWARE | MAPPING | TEST | MODEL | VERIFY | SWEEP | AS | DIM | TENSOR | MAX | MIN | MEMORY
  | ARRAY | COMPUTE | FOR | PAR | BY | INTO | ON | KEEP | LET | PERMUTE | SEQ | DO | OF | EXPECT | OUT | AGAINST | OVER;
special: WHERE | MINIMIZE | MAXIMIZE | PARETO | TOP | IN;
name: name0 | special | ALL;
keep_name: name0 | special;
sweep_name: name0 | ALL;
word: name | IF | THEN | ELSE | AND | OR | NOT | TRUE | FALSE | STEP;

%%

static int nst_parse_lex(NST_PARSE_STYPE *value, nst_span *span, nst_parser *p) {
  if (nst_diags_errors(p->diags) > NST_DIAG_MAX) p->stop = true;
  const nst_token *t = &p->tokens.items[p->stop ? p->tokens.len - 1 : p->next];
  *span = nst_parse_span(p, t->begin, t->end);
  if (p->inject_open || p->injected) {
    int kind = p->inject_open ? '{' : '}';
    if (p->inject_open) p->inject_open = false;
    else p->injected--;
    span->end = span->begin;
    return kind;
  }
  if (p->stop) {
    p->current = (uint32_t)p->tokens.len - 1;
    return NST_TOK_END;
  }
  p->current = p->next;
  if (t->kind != NST_TOK_END) p->next++;
  value->id = (nst_ast_ident){t->name, *span};
  return t->kind;
}

/* Bison calls this only when its stack is exhausted: messages are made below. */
static void nst_parse_error(const nst_span *span, nst_parser *p, const char *message) {
  (void)message;
  nst_message_too_deep(p, *span);
}

static int yyreport_syntax_error(const yypcontext_t *context, nst_parser *p) {
  yysymbol_kind_t symbols[YYNTOKENS];
  int kinds[YYNTOKENS];
  int n = yypcontext_expected_tokens(context, symbols, YYNTOKENS);
  if (n < 0) return n;
  int m = 0;
  for (int kind = 0; kind < NST_TOK_POW + 1; kind++) {
    yysymbol_kind_t symbol = YYTRANSLATE(kind);
    for (int i = 0; i < n; i++)
      if (symbols[i] == symbol && symbol != YYSYMBOL_YYUNDEF) kinds[m++] = kind;
  }
  nst_message_syntax(p, kinds, m);
  return 0;
}

const char *nst_token_text(int kind) { return yysymbol_name(YYTRANSLATE(kind)); }
bool nst_token_is_name(int kind) { return kind == NST_TOK_NAME || (kind >= NST_TOK_USE && kind < NST_TOK_LAST_SOFT); }
bool nst_token_is_reserved(int kind) { return kind >= NST_TOK_IF && kind <= NST_TOK_STEP; }
size_t nst_parse_rule_count(void) { return YYNRULES + 1; }
