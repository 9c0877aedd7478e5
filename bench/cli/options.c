/* Options of a command, from its table: parsing by getopt_long, --help. */
#include "bench/cli/bench.h"

#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 48, HELP = 256 };

static void show_help(const char *command, const bench_usage *usage) {
  printf("usage: nestor bench %s %s\n\n%s\n", command, usage->usage, usage->help);
  for (const bench_option *o = usage->options; o->name; o++) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    if (o->letter) printf("  -%c, %-28s %s\n", o->letter, left, o->help);
    else printf("      %-28s %s\n", left, o->help);
  }
  printf("  -h, %-28s %s\n", "--help", "show this");
}

static bool whole(uint64_t *out, const char *text) {
  char *end;
  errno = 0;
  if (*text < '0' || *text > '9') return false;
  *out = strtoull(text, &end, 10);
  return !*end && !errno && *out <= INT64_MAX;
}

static bool number(double *out, const char *text) {
  char *end;
  *out = strtod(text, &end); /* the command runs in the C locale */
  return end != text && !*end && *out - *out == 0;
}

static bool set(const bench_option *option, const char *text) {
  switch (option->kind) {
  case BENCH_FLAG: *(bool *)option->into = true; return true;
  case BENCH_TEXT: *(const char **)option->into = text; return true;
  case BENCH_TEXTS: {
    bench_texts *list = option->into;
    list->items = realloc(list->items, (list->n + 1) * sizeof *list->items);
    if (!list->items) abort();
    list->items[list->n++] = text;
    return true;
  }
  case BENCH_WHOLE:
    if (whole(option->into, text)) return true;
    cli_say("--%s takes a whole number, not \"%s\"", option->name, text);
    return false;
  case BENCH_NUMBER:
    if (number(option->into, text)) return true;
    cli_say("--%s takes a number, not \"%s\"", option->name, text);
    return false;
  }
  return false;
}

static int wrong(const char *command, const bench_usage *usage, char *const *argv, int option) {
  char given[64]; /* without its value, which may be a secret */
  snprintf(given, sizeof given, "%.*s", (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
  if (option == ':') cli_say("%s wants a value", given);
  else if (optopt > 0 && optopt < 256) cli_say("there is no option -%c of `nestor bench %s`", optopt, command);
  else {
    const char *words[MOST_OPTIONS + 1];
    size_t n = 0;
    for (const bench_option *o = usage->options; o->name; o++) words[n++] = o->name;
    words[n] = NULL;
    const char *near = cli_nearest(given + strspn(given, "-"), words);
    if (near) cli_say("there is no option %s of `nestor bench %s`; did you mean --%s?", given, command, near);
    else cli_say("there is no option %s; `nestor bench %s --help` lists them", given, command);
  }
  return CLI_WRONG_USAGE;
}

int bench_options(const char *command, const bench_usage *usage, int argc, char **argv, bench_texts *rest) {
  struct option table[MOST_OPTIONS + 2] = {0};
  char letters[2 * MOST_OPTIONS + 8] = ":h";
  size_t n = 0, nletters = 2;
  for (const bench_option *o = usage->options; o->name; o++, n++) {
    if (n == MOST_OPTIONS) abort(); /* the table above wants to grow */
    table[n] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL, HELP + 1 + (int)n};
    if (!o->letter) continue;
    letters[nletters++] = o->letter;
    if (o->argument) letters[nletters++] = ':';
  }
  letters[nletters] = '\0';
  table[n] = (struct option){"help", no_argument, NULL, HELP};
  /* getopt wants a program name before the arguments. */
  char **args = calloc((size_t)argc + 2, sizeof *args);
  if (!args) abort();
  args[0] = (char *)command;
  memcpy(args + 1, argv, (size_t)argc * sizeof *args);
  int code = -1, got;
  optind = 0;
  opterr = 0;
  while (code < 0 && (got = getopt_long(argc + 1, args, letters, table, NULL)) != -1) {
    if (got == HELP || got == 'h') {
      show_help(command, usage);
      code = fflush(stdout) ? cli_output_failed(errno) : CLI_GOOD;
    } else if (got == '?' || got == ':') code = wrong(command, usage, args, got);
    else {
      const bench_option *o = usage->options;
      if (got > HELP) o += got - HELP - 1;
      else while (o->letter != got) o++;
      if (!set(o, optarg)) code = CLI_WRONG_USAGE;
    }
  }
  *rest = (bench_texts){NULL, 0};
  for (int i = optind; code < 0 && i <= argc; i++)
    set(&(bench_option){.kind = BENCH_TEXTS, .into = rest}, args[i]);
  free(args);
  return code;
}
