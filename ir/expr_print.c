/* Printing value expressions: the language's own notation, with as few
 * parentheses as it needs, so that what is printed can be read back.
 *
 * Constants print exactly: an integer, a decimal where one exists, else a
 * quotient. Variables of sums have no names in the IR and print as i0, i1, …,
 * outermost first; parameters, values, levels and tensors whose names the
 * caller does not give print as $n, %n, L<n> and T<n>. Units are gone: a
 * printed quantity is in base units. */
#include "ir/expr.h"

enum { P_IF = 1, P_OR, P_AND, P_NOT, P_COMPARE, P_ADD, P_MUL, P_NEG, P_POW, P_ATOM };

typedef struct {
  nst_buffer *out;
  const nst_expr_names *names;
  int depth; /* of sums around the node */
} printer;

static void print(printer *p, const nst_expr *e, int need);

static void print_digits(nst_buffer *out, unsigned __int128 v, int at_least) {
  char text[48];
  int n = (int)sizeof text;
  do {
    text[--n] = (char)('0' + (int)(v % 10));
    v /= 10;
    at_least--;
  } while (v || at_least > 0);
  nst_buffer_add(out, text + n, sizeof text - (size_t)n);
}

/* Digits after the point that a fraction of denominator den needs; -1: none are enough, or too many. */
static int decimals(nst_i128 den) {
  int twos = 0, fives = 0;
  while (den % 2 == 0) den /= 2, twos++;
  while (den % 5 == 0) den /= 5, fives++;
  int n = twos > fives ? twos : fives;
  return den == 1 && n <= 18 ? n : -1;
}

void nst_expr_print_number(nst_buffer *out, nst_rat r) {
  unsigned __int128 num = r.num < 0 ? 0 - (unsigned __int128)r.num : (unsigned __int128)r.num;
  unsigned __int128 den = (unsigned __int128)r.den;
  int n = decimals(r.den);
  if (r.num < 0) nst_buffer_putc(out, '-');
  if (n < 0) {
    print_digits(out, num, 1);
    nst_buffer_putc(out, '/');
    print_digits(out, den, 1);
    return;
  }
  print_digits(out, num / den, 1);
  if (n == 0) return;
  unsigned __int128 scale = 1; /* the remainder is below den <= 10^18: the product fits */
  for (int i = 0; i < n; i++) scale *= 10;
  nst_buffer_putc(out, '.');
  print_digits(out, num % den * scale / den, n);
}

static void print_name(printer *p, nst_name const *names, char sigil, int index) {
  if (names && names[index])
    nst_buffer_puts(p->out, names[index]);
  else
    nst_buffer_printf(p->out, "%c%d", sigil, index);
}

static const char *infix(nst_expr_kind kind, int *prec) {
  switch ((int)kind) {
  case NST_X_OR: *prec = P_OR; return " or ";
  case NST_X_AND: *prec = P_AND; return " and ";
  case NST_X_EQ: *prec = P_COMPARE; return " == ";
  case NST_X_NE: *prec = P_COMPARE; return " != ";
  case NST_X_LT: *prec = P_COMPARE; return " < ";
  case NST_X_LE: *prec = P_COMPARE; return " <= ";
  case NST_X_GT: *prec = P_COMPARE; return " > ";
  case NST_X_GE: *prec = P_COMPARE; return " >= ";
  case NST_X_ADD: *prec = P_ADD; return " + ";
  case NST_X_SUB: *prec = P_ADD; return " - ";
  case NST_X_MUL: *prec = P_MUL; return " * ";
  case NST_X_DIV: *prec = P_MUL; return " / ";
  case NST_X_FLOORDIV: *prec = P_MUL; return " // ";
  case NST_X_MOD: *prec = P_MUL; return " % ";
  case NST_X_POW: *prec = P_POW; return " ** ";
  }
  return NULL;
}

static const char *function(nst_expr_kind kind) {
  switch ((int)kind) {
  case NST_X_MIN: return "min";
  case NST_X_MAX: return "max";
  case NST_X_CEILDIV: return "ceildiv";
  case NST_X_GCD: return "gcd";
  case NST_X_ABS: return "abs";
  case NST_X_CEIL: return "ceil";
  case NST_X_FLOOR: return "floor";
  case NST_X_LOG2: return "log2";
  case NST_X_SQRT: return "sqrt";
  }
  return NULL;
}

static int precedence(const nst_expr *e) {
  int prec = P_ATOM;
  if (e->kind == NST_X_CONST) {
    if (e->value.den != 1 && decimals(e->value.den) < 0) return P_MUL;
    return e->value.num < 0 ? P_NEG : P_ATOM;
  }
  if (e->kind == NST_X_IF) return P_IF;
  if (e->kind == NST_X_NOT) return P_NOT;
  if (e->kind == NST_X_NEG) return P_NEG;
  infix(e->kind, &prec);
  return prec;
}

static void print_metric(printer *p, const nst_expr *e) {
  const nst_expr_names *n = p->names;
  nst_buffer_puts(p->out, nst_metric_name(e->metric));
  if (e->level < 0) return;
  nst_buffer_putc(p->out, '(');
  print_name(p, n ? n->levels : NULL, 'L', e->level);
  if (e->tensor >= 0) {
    nst_buffer_puts(p->out, ", ");
    print_name(p, n ? n->tensors : NULL, 'T', e->tensor);
  }
  nst_buffer_putc(p->out, ')');
}

static void print_open(printer *p, const nst_expr *e) {
  int prec = 0;
  const char *op = infix(e->kind, &prec), *name = function(e->kind);
  if (op) {
    /* Left-associative, but comparisons do not nest and ** groups to the right. */
    print(p, e->a, prec == P_COMPARE || prec == P_POW ? prec + 1 : prec);
    nst_buffer_puts(p->out, op);
    print(p, e->b, prec == P_POW ? prec : prec + 1);
    return;
  }
  if (name) {
    nst_buffer_printf(p->out, "%s(", name);
    print(p, e->a, P_IF);
    if (e->b) {
      nst_buffer_puts(p->out, ", ");
      print(p, e->b, P_IF);
    }
    nst_buffer_putc(p->out, ')');
    return;
  }
  switch ((int)e->kind) {
  case NST_X_CONST: nst_expr_print_number(p->out, e->value); break;
  case NST_X_BOOL: nst_buffer_puts(p->out, e->truth ? "true" : "false"); break;
  case NST_X_PARAM: print_name(p, p->names ? p->names->params : NULL, '$', e->index); break;
  case NST_X_VALUE: print_name(p, p->names ? p->names->values : NULL, '%', e->index); break;
  case NST_X_INDEX: nst_buffer_printf(p->out, "i%d", p->depth - 1 - e->index); break;
  case NST_X_METRIC: print_metric(p, e); break;
  case NST_X_NEG:
    nst_buffer_putc(p->out, '-');
    print(p, e->a, P_POW);
    break;
  case NST_X_NOT:
    nst_buffer_puts(p->out, "not ");
    print(p, e->a, P_NOT);
    break;
  case NST_X_IF:
    nst_buffer_puts(p->out, "if ");
    print(p, e->a, P_OR);
    nst_buffer_puts(p->out, " then ");
    print(p, e->b, P_OR);
    nst_buffer_puts(p->out, " else ");
    print(p, e->c, P_IF);
    break;
  case NST_X_SUM:
    nst_buffer_puts(p->out, "sum(");
    p->depth++;
    print(p, e->a, P_IF);
    p->depth--;
    nst_buffer_printf(p->out, " for i%d in ", p->depth);
    print(p, e->b, P_ADD);
    nst_buffer_puts(p->out, " .. ");
    print(p, e->c, P_ADD);
    nst_buffer_putc(p->out, ')');
    break;
  }
}

static void print(printer *p, const nst_expr *e, int need) {
  bool paren = precedence(e) < need;
  if (paren) nst_buffer_putc(p->out, '(');
  print_open(p, e);
  if (paren) nst_buffer_putc(p->out, ')');
}

void nst_expr_print_named(nst_buffer *out, const nst_expr *e, const nst_expr_names *names) {
  printer p = {out, names, 0};
  print(&p, e, P_IF);
}

void nst_expr_print(nst_buffer *out, const nst_expr *e, nst_name const *params, nst_name const *values) {
  nst_expr_names names = {params, values, NULL, NULL};
  nst_expr_print_named(out, e, &names);
}
