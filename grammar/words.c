/* The tables behind words.h. The first two columns of `starters` say which
 * keyword starts an item of which block; everything else follows from it. */
#include "grammar/words.h"

#include "grammar/parser.h"
#include <string.h>

typedef struct { nst_block_kind block; int kind; } starter;
static const starter starters[] = {
  {NST_BLOCK_FILE, NST_TOK_USE},         {NST_BLOCK_FILE, NST_TOK_CONST},      {NST_BLOCK_FILE, NST_TOK_WORKLOAD},
  {NST_BLOCK_FILE, NST_TOK_HARDWARE},    {NST_BLOCK_FILE, NST_TOK_MAPPING},    {NST_BLOCK_FILE, NST_TOK_TEST},
  {NST_BLOCK_FILE, NST_TOK_MODEL},       {NST_BLOCK_FILE, NST_TOK_VERIFY},     {NST_BLOCK_FILE, NST_TOK_SWEEP},
  {NST_BLOCK_WORKLOAD, NST_TOK_DIM},     {NST_BLOCK_WORKLOAD, NST_TOK_TENSOR}, {NST_BLOCK_HARDWARE, NST_TOK_MEMORY},
  {NST_BLOCK_HARDWARE, NST_TOK_ARRAY},   {NST_BLOCK_HARDWARE, NST_TOK_COMPUTE}, {NST_BLOCK_MAPPING, NST_TOK_FOR},
  {NST_BLOCK_MAPPING, NST_TOK_PAR},      {NST_BLOCK_MAPPING, NST_TOK_KEEP},    {NST_BLOCK_MAPPING, NST_TOK_COMPUTE},
  {NST_BLOCK_MAPPING, NST_TOK_LET},      {NST_BLOCK_MAPPING, NST_TOK_PERMUTE}, {NST_BLOCK_MAPPING, NST_TOK_SEQ},
  {NST_BLOCK_SEQ, NST_TOK_DO},           {NST_BLOCK_TEST, NST_TOK_LET},        {NST_BLOCK_TEST, NST_TOK_EXPECT},
  {NST_BLOCK_MODEL, NST_TOK_LET},        {NST_BLOCK_MODEL, NST_TOK_OUT},       {NST_BLOCK_VERIFY, NST_TOK_OVER},
  {NST_BLOCK_SWEEP, NST_TOK_WHERE},      {NST_BLOCK_SWEEP, NST_TOK_MINIMIZE},  {NST_BLOCK_SWEEP, NST_TOK_MAXIMIZE},
  {NST_BLOCK_SWEEP, NST_TOK_PARETO},     {NST_BLOCK_SWEEP, NST_TOK_TOP},
};
enum { STARTERS = sizeof starters / sizeof *starters };

bool nst_word_starts_item(nst_block_kind block, int kind) {
  for (size_t i = 0; i < STARTERS; i++)
    if (starters[i].block == block && starters[i].kind == kind) return true;
  return false;
}

const char *nst_word_items(nst_block_kind block) {
  switch (block) {
    case NST_BLOCK_FILE: return "a declaration (`use`, `const`, `workload`, `hardware`, `mapping`, `test`, `model`, `verify`, `sweep`)";
    case NST_BLOCK_WORKLOAD: return "`dim`, `tensor`, a statement or `}`";
    case NST_BLOCK_HARDWARE: return "`memory`, `array`, `compute`, an attribute or `}`";
    case NST_BLOCK_ATTRS: return "an attribute or `}`";
    case NST_BLOCK_MAPPING: return "`for`, `par`, `keep`, `let`, `permute`, `seq`, `compute` or `}`";
    case NST_BLOCK_SEQ: return "`do` or `}`";
    case NST_BLOCK_TEST: return "`expect`, `let` or `}`";
    case NST_BLOCK_MODEL: return "`let`, `out` or `}`";
    case NST_BLOCK_VERIFY: return "a check like `name == METRIC`, `over` or `}`";
    case NST_BLOCK_SWEEP: return "`name in SET`, `where`, `minimize`, `maximize`, `pareto`, `top` or `}`";
  }
  return NULL;
}

typedef struct { nst_block_kind block; const char *word; int kind; const char *help; } foreign;
static const foreign foreigns[] = {
  {NST_BLOCK_FILE, "import", NST_TOK_USE, "other files are named with `use`"},
  {NST_BLOCK_FILE, "include", NST_TOK_USE, "other files are named with `use`"},
  {NST_BLOCK_FILE, "require", NST_TOK_USE, "other files are named with `use`"},
  {NST_BLOCK_FILE, "from", NST_TOK_USE, "other files are named with `use`"},
  {NST_BLOCK_FILE, "let", NST_TOK_CONST, "values at the top of a file are named with `const`"},
  {NST_BLOCK_FILE, "var", NST_TOK_CONST, "values are named with `const`, and never change"},
  {NST_BLOCK_FILE, "val", NST_TOK_CONST, "values are named with `const`"},
  {NST_BLOCK_FILE, "define", NST_TOK_CONST, "values are named with `const`"},
  {NST_BLOCK_FILE, "param", NST_TOK_CONST, "values are named with `const`; parameters stand behind a declaration's name"},
  {NST_BLOCK_FILE, "problem", NST_TOK_WORKLOAD, "a computation is a `workload`"},
  {NST_BLOCK_FILE, "layer", NST_TOK_WORKLOAD, "a computation is a `workload`"},
  {NST_BLOCK_FILE, "kernel", NST_TOK_WORKLOAD, "a computation is a `workload`"},
  {NST_BLOCK_FILE, "operator", NST_TOK_WORKLOAD, "a computation is a `workload`"},
  {NST_BLOCK_FILE, "arch", NST_TOK_HARDWARE, "a machine is `hardware`"},
  {NST_BLOCK_FILE, "architecture", NST_TOK_HARDWARE, "a machine is `hardware`"},
  {NST_BLOCK_FILE, "accelerator", NST_TOK_HARDWARE, "a machine is `hardware`"},
  {NST_BLOCK_FILE, "machine", NST_TOK_HARDWARE, "a machine is `hardware`"},
  {NST_BLOCK_FILE, "schedule", NST_TOK_MAPPING, "how a workload runs is a `mapping`"},
  {NST_BLOCK_FILE, "dataflow", NST_TOK_MAPPING, "how a workload runs is a `mapping`"},
  {NST_BLOCK_FILE, "def", NST_TOK_MODEL, "there are no functions; closed forms are a `model`"},
  {NST_BLOCK_FILE, "func", NST_TOK_MODEL, "there are no functions; closed forms are a `model`"},
  {NST_BLOCK_FILE, "fn", NST_TOK_MODEL, "there are no functions; closed forms are a `model`"},
  {NST_BLOCK_FILE, "function", NST_TOK_MODEL, "there are no functions; closed forms are a `model`"},
  {NST_BLOCK_FILE, "search", NST_TOK_SWEEP, "a search over mappings is a `sweep`"},
  {NST_BLOCK_FILE, "explore", NST_TOK_SWEEP, "a search over mappings is a `sweep`"},
  {NST_BLOCK_WORKLOAD, "dimension", NST_TOK_DIM, "dimensions are declared with `dim`"},
  {NST_BLOCK_WORKLOAD, "dims", NST_TOK_DIM, "dimensions are declared with `dim`"},
  {NST_BLOCK_WORKLOAD, "index", NST_TOK_DIM, "dimensions are declared with `dim`"},
  {NST_BLOCK_WORKLOAD, "iter", NST_TOK_DIM, "dimensions are declared with `dim`"},
  {NST_BLOCK_WORKLOAD, "let", NST_TOK_DIM, "a workload has no `let`; give sizes to dimensions or name a `const`"},
  {NST_BLOCK_WORKLOAD, "data", NST_TOK_TENSOR, "data is declared with `tensor`"},
  {NST_BLOCK_WORKLOAD, "input", NST_TOK_TENSOR, "data is declared with `tensor`, inputs and outputs alike"},
  {NST_BLOCK_WORKLOAD, "output", NST_TOK_TENSOR, "data is declared with `tensor`, inputs and outputs alike"},
  {NST_BLOCK_WORKLOAD, "array", NST_TOK_TENSOR, "data is declared with `tensor`"},
  {NST_BLOCK_HARDWARE, "buffer", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "cache", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "storage", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "level", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "sram", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "dram", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "register", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "regfile", NST_TOK_MEMORY, "every store is a `memory`"},
  {NST_BLOCK_HARDWARE, "grid", NST_TOK_ARRAY, "units side by side are an `array`"},
  {NST_BLOCK_HARDWARE, "mesh", NST_TOK_ARRAY, "units side by side are an `array`"},
  {NST_BLOCK_HARDWARE, "spatial", NST_TOK_ARRAY, "units side by side are an `array`"},
  {NST_BLOCK_HARDWARE, "pe", NST_TOK_ARRAY, "units side by side are an `array`, as in array PE[x = 16]"},
  {NST_BLOCK_HARDWARE, "mac", NST_TOK_COMPUTE, "a unit that computes is `compute`, as in compute MAC"},
  {NST_BLOCK_HARDWARE, "unit", NST_TOK_COMPUTE, "a unit that computes is `compute`"},
  {NST_BLOCK_HARDWARE, "alu", NST_TOK_COMPUTE, "a unit that computes is `compute`"},
  {NST_BLOCK_MAPPING, "temporal", NST_TOK_FOR, "tiles one after another are a `for`"},
  {NST_BLOCK_MAPPING, "loop", NST_TOK_FOR, "tiles one after another are a `for`"},
  {NST_BLOCK_MAPPING, "while", NST_TOK_FOR, "tiles one after another are a `for`"},
  {NST_BLOCK_MAPPING, "tile", NST_TOK_FOR, "tiles one after another are a `for d by T`"},
  {NST_BLOCK_MAPPING, "spatial", NST_TOK_PAR, "tiles side by side are a `par`"},
  {NST_BLOCK_MAPPING, "parallel", NST_TOK_PAR, "tiles side by side are a `par`"},
  {NST_BLOCK_MAPPING, "forall", NST_TOK_PAR, "tiles side by side are a `par`"},
  {NST_BLOCK_MAPPING, "foreach", NST_TOK_PAR, "tiles side by side are a `par`"},
  {NST_BLOCK_MAPPING, "unroll", NST_TOK_PAR, "tiles side by side are a `par`"},
  {NST_BLOCK_MAPPING, "hold", NST_TOK_KEEP, "tensors are held with `keep T in LEVEL`"},
  {NST_BLOCK_MAPPING, "store", NST_TOK_KEEP, "tensors are held with `keep T in LEVEL`"},
  {NST_BLOCK_MAPPING, "cache", NST_TOK_KEEP, "tensors are held with `keep T in LEVEL`"},
  {NST_BLOCK_MAPPING, "buffer", NST_TOK_KEEP, "tensors are held with `keep T in LEVEL`"},
  {NST_BLOCK_MAPPING, "bypass", 0, "a tensor bypasses a level when no `keep` names it there"},
  {NST_BLOCK_MAPPING, "const", NST_TOK_LET, "values inside a mapping are named with `let`"},
  {NST_BLOCK_MAPPING, "var", NST_TOK_LET, "values inside a mapping are named with `let`"},
  {NST_BLOCK_TEST, "assert", NST_TOK_EXPECT, "what must hold is written `expect`"},
  {NST_BLOCK_TEST, "check", NST_TOK_EXPECT, "what must hold is written `expect`"},
  {NST_BLOCK_TEST, "require", NST_TOK_EXPECT, "what must hold is written `expect`"},
  {NST_BLOCK_TEST, "var", NST_TOK_LET, "values inside a test are named with `let`"},
  {NST_BLOCK_MODEL, "return", NST_TOK_OUT, "results are named: out NAME = EXPR"},
  {NST_BLOCK_MODEL, "output", NST_TOK_OUT, "results are named with `out`"},
  {NST_BLOCK_MODEL, "var", NST_TOK_LET, "values inside a model are named with `let`"},
  {NST_BLOCK_VERIFY, "for", NST_TOK_OVER, "the points to check are given with `over`"},
  {NST_BLOCK_SWEEP, "constraint", NST_TOK_WHERE, "conditions are written `where`"},
  {NST_BLOCK_SWEEP, "filter", NST_TOK_WHERE, "conditions are written `where`"},
  {NST_BLOCK_SWEEP, "sort", NST_TOK_MINIMIZE, "the order is given with `minimize` or `maximize`"},
  {NST_BLOCK_SWEEP, "limit", NST_TOK_TOP, "the number of results is given with `top`"},
};

static const char *belongs(nst_block_kind block) {
  switch (block) {
    case NST_BLOCK_FILE: return "it starts a declaration, at the top of a file";
    case NST_BLOCK_WORKLOAD: return "it belongs in a workload";
    case NST_BLOCK_HARDWARE: return "it belongs in hardware";
    case NST_BLOCK_MAPPING: return "it belongs in a mapping";
    case NST_BLOCK_SEQ: return "it belongs in a `seq` of a mapping";
    case NST_BLOCK_TEST: return "it belongs in a test";
    case NST_BLOCK_MODEL: return "it belongs in a model";
    case NST_BLOCK_VERIFY: return "it belongs in a verify block";
    case NST_BLOCK_SWEEP: return "it belongs in a sweep";
    case NST_BLOCK_ATTRS: break;
  }
  return NULL;
}

nst_word_hint nst_word_for(nst_interner *interner, nst_block_kind block, int kind, nst_name word) {
  nst_name lower = word;
  size_t len = strlen(word);
  char folded[32];
  if (len < sizeof folded) {
    for (size_t i = 0; i < len; i++) folded[i] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] + 32 : word[i]);
    lower = nst_intern(interner, folded, len);
  }
  for (size_t i = 0; i < sizeof foreigns / sizeof *foreigns; i++) {
    const foreign *f = &foreigns[i];
    if (f->block == block && strcmp(f->word, lower) == 0) return (nst_word_hint){.kind = f->kind, .help = f->help};
  }
  if (kind == NST_TOK_NAME) {
    nst_name candidates[STARTERS];
    size_t n = 0;
    for (size_t i = 0; i < STARTERS; i++)
      if (starters[i].block == block) candidates[n++] = nst_intern_cstr(interner, nst_token_text(starters[i].kind));
    nst_name near = nst_name_nearest(word, candidates, n);
    for (size_t i = 0; near && i < STARTERS; i++)
      if (starters[i].block == block && strcmp(nst_token_text(starters[i].kind), near) == 0)
        return (nst_word_hint){.kind = starters[i].kind, .misspelt = true};
    return (nst_word_hint){0};
  }
  for (size_t i = 0; i < STARTERS; i++)
    if (starters[i].kind == kind && starters[i].block != block) return (nst_word_hint){.help = belongs(starters[i].block)};
  return (nst_word_hint){0};
}
