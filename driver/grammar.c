/* The language's grammar behind a public name. */
#include "driver/internal.h"
#include "grammar/export.h"

#include <string.h>

bool nestor_grammar_format_parse(const char *word, nestor_grammar_format *out) {
  static const struct {
    const char *word;
    nestor_grammar_format format;
  } formats[] = {{"ebnf", NESTOR_GRAMMAR_EBNF}, {"gbnf", NESTOR_GRAMMAR_GBNF}, {"lark", NESTOR_GRAMMAR_LARK}};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (!strcmp(word, formats[i].word)) return *out = formats[i].format, true;
  return false;
}

void nestor_grammar(nestor_grammar_format format, nestor_buffer *out) {
  switch (format) {
  case NESTOR_GRAMMAR_EBNF: nst_grammar_export(&out->text, NST_GRAMMAR_EBNF); break;
  case NESTOR_GRAMMAR_GBNF: nst_grammar_export(&out->text, NST_GRAMMAR_GBNF); break;
  case NESTOR_GRAMMAR_LARK: nst_grammar_export(&out->text, NST_GRAMMAR_LARK); break;
  }
}

bool nestor_grammar_rule(const char *rule, nestor_buffer *out) { return nst_grammar_export_rule(&out->text, rule); }
