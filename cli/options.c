/* Options: a table (options.def), one loop, and messages that help.
 *
 * Options and files may be mixed; "--" ends the options; "--name=value" and
 * "--name value" are the same. A command accepts the options of its mask only. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *name;
  char letter;
  const char *value, *help;
} options[] = {
#define CLI_OPTION(id, name, letter, value, help) {name, letter, value, help},
#include "cli/options.def"
#undef CLI_OPTION
};

void cli_command_help(const cli_command *command, nestor_buffer *out) {
  char line[256];
  int n = snprintf(line, sizeof line, "usage: nestor %s%s%s\n\n", command->name, *command->usage ? " " : "",
                   command->usage);
  nestor_buffer_append(out, line, (size_t)n);
  nestor_buffer_append(out, command->help, strlen(command->help));
  nestor_buffer_append(out, "\noptions:\n", 10);
  for (unsigned i = 0; i < CLI_O_COUNT; i++) {
    if (!(command->options >> i & 1)) continue;
    char left[64];
    snprintf(left, sizeof left, "%s%c%s --%s%s%s", options[i].letter ? "-" : " ",
             options[i].letter ? options[i].letter : ' ', options[i].letter ? "," : " ", options[i].name,
             options[i].value ? " " : "", options[i].value ? options[i].value : "");
    n = snprintf(line, sizeof line, "  %-26s %s\n", left, options[i].help);
    nestor_buffer_append(out, line, (size_t)n);
  }
}

static bool wrong_word(const char *option, const char *value, const char *const *words) {
  char list[128] = "";
  for (size_t i = 0; words[i]; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
  }
  const char *near = cli_nearest(value, words);
  if (near) cli_say("--%s does not know \"%s\"; did you mean \"%s\"? It takes %s", option, value, near, list);
  else cli_say("--%s does not know \"%s\"; it takes %s", option, value, list);
  return false;
}

/* Digits, with "_" between them as in the language. */
static bool read_number(const char *text, uint64_t *out) {
  uint64_t v = 0;
  bool digits = false;
  for (; *text; text++) {
    if (*text == '_' && digits) continue;
    if (*text < '0' || *text > '9') return false;
    digits = true;
    if (__builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v)) return false;
  }
  *out = v;
  return digits;
}

static bool take_number(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *out) {
  if (read_number(value, out) && *out >= least && *out <= most) return true;
  cli_say("--%s takes a whole number%s, not \"%s\"", option, least ? " above zero" : "", value);
  return false;
}

static bool take_jobs(const char *value, int *out) {
  uint64_t n;
  if (!take_number("jobs", value, 1, 4096, &n)) return false;
  *out = (int)n;
  return true;
}

static bool take_file(const char *option, const char *value, const char **out) {
  if (!*value) cli_say("--%s takes the name of a file", option);
  *out = value;
  return *value;
}

/* A device or a pipe has no ending that could be wrong; what cannot be written at all is told where it is tried. */
static bool check_picture(const char *path) {
  struct stat info;
  const size_t n = strlen(path);
  if ((n > 4 && !strcmp(path + n - 4, ".svg")) || (stat(path, &info) == 0 && !S_ISREG(info.st_mode))) return true;
  cli_say("--plot draws FILE.svg, and \"%s\" is none", path);
  return false;
}

static bool take_shard(cli_args *args, const char *value) {
  char part[32];
  const char *slash = strchr(value, '/');
  args->sharded = true;
  if (slash && (size_t)(slash - value) < sizeof part) {
    memcpy(part, value, (size_t)(slash - value));
    part[slash - value] = '\0';
    if (read_number(part, &args->sweep.shard) && read_number(slash + 1, &args->sweep.shards) && args->sweep.shards <= 1 << 20 &&
        args->sweep.shard < args->sweep.shards)
      return true;
  }
  cli_say("--shard takes I/N, a part from 0 to N - 1 of N parts, not \"%s\"", value);
  return false;
}

static bool take(cli_args *args, cli_option option, const char *value) {
  static const char *const formats[] = {"table", "json", "csv", NULL};
  static const char *const test_formats[] = {"table", "json", NULL};
  static const char *const notations[] = {"ebnf", "gbnf", "lark", NULL};
  static const char *const engines[] = {"analysis", "simulate", "jit", "all", NULL};
  static const char *const hows[] = {"text", "json", NULL};
  static const char *const whens[] = {"auto", "always", "never", NULL};
  static const char *const stages[] = {"ast", "ir", "expr", "llvm", NULL};
  switch (option) {
    case CLI_O_MAPPING: args->mappings[args->nmappings++] = value; return true;
    case CLI_O_SET:
      if (!strchr(value, '=') || *value == '=' || strchr(value, '=')[1] == '\0') {
        cli_say("--set takes P=V, the name of a parameter and a number, not \"%s\"", value);
        return false;
      }
      args->sets[args->nsets++] = value;
      return true;
    case CLI_O_FORMAT: return nestor_format_parse(value, &args->format) || wrong_word("format", value, formats);
    case CLI_O_TEST_FORMAT:
      return (strcmp(value, "csv") && nestor_format_parse(value, &args->format)) || wrong_word("format", value, test_formats);
    case CLI_O_ENGINE: return nestor_engine_parse(value, &args->engine) || wrong_word("engine", value, engines);
    case CLI_O_REQUIRE_FIT: args->require_fit = true; return true;
    case CLI_O_CHECK: args->check = true; return true;
    case CLI_O_WRITE: args->write = true; return true;
    case CLI_O_EMIT:
      for (size_t i = 0; stages[i]; i++)
        if (!strcmp(stages[i], value)) return args->emit = value, true;
      return wrong_word("emit", value, stages);
    case CLI_O_OUTPUT:
      if (!*value) {
        cli_say("-o takes the name of a file");
        return false;
      }
      args->output = strcmp(value, "-") ? value : NULL;
      return true;
    case CLI_O_QUIET: args->quiet = true; return true;
    case CLI_O_DIAGNOSTICS:
      if (strcmp(value, "text") && strcmp(value, "json")) return wrong_word("diagnostics", value, hows);
      args->json_diagnostics = !strcmp(value, "json");
      return true;
    case CLI_O_COLOR:
      for (int i = 0; whens[i]; i++)
        if (!strcmp(whens[i], value)) return args->color = (cli_color)i, true;
      return wrong_word("color", value, whens);
    case CLI_O_NOTATION:
      return nestor_grammar_format_parse(value, &args->grammar) || wrong_word("format", value, notations);
    case CLI_O_SWEEP: args->mappings[args->nmappings++] = value; return true;
    case CLI_O_DRY_RUN: args->dry_run = true; return true;
    case CLI_O_LIMIT: return take_number("limit", value, 1, UINT64_MAX, &args->sweep.limit);
    case CLI_O_SAMPLE: return take_number("sample", value, 1, UINT64_MAX, &args->sweep.sample);
    case CLI_O_SEED: return take_number("seed", value, 0, UINT64_MAX, &args->sweep.seed);
    case CLI_O_JOBS: return take_jobs(value, &args->sweep.threads);
    case CLI_O_NO_PRUNE: args->sweep.no_prune = true; return true;
    case CLI_O_NO_KERNEL: args->sweep.no_kernel = true; return true;
    case CLI_O_NO_CACHE: args->no_cache = true; return true;
    case CLI_O_CHECKPOINT: return take_file("checkpoint", value, &args->checkpoint);
    case CLI_O_RESUME: args->resume = true; return true;
    case CLI_O_SHARD: return take_shard(args, value);
    case CLI_O_POINTS: return take_file("points", value, &args->points);
    case CLI_O_ALL: return take_file("all", value, &args->all);
    case CLI_O_BEST: return take_file("emit", value, &args->best);
    case CLI_O_PLOT: return take_file("plot", value, &args->plot) && check_picture(value);
    case CLI_O_MAPPINGS: args->all_mappings = true; return true;
    case CLI_O_TIMING: args->timing = true; return true;
    case CLI_O_PROGRESS: args->progress = true; return true;
    case CLI_O_HELP: args->help = true; return true;
    case CLI_O_COUNT: break;
  }
  return false;
}

static bool unknown_option(const cli_command *command, const char *text) {
  const char *words[CLI_O_COUNT + 1];
  size_t n = 0;
  for (unsigned i = 0; i < CLI_O_COUNT; i++)
    if (command->options >> i & 1) words[n++] = options[i].name;
  words[n] = NULL;
  const char *near = text[1] == '-' ? cli_nearest(text + 2, words) : NULL;
  if (near) cli_say("nestor %s has no option \"%s\"; did you mean \"--%s\"?", command->name, text, near);
  else cli_say("nestor %s has no option \"%s\"; `nestor %s --help` lists them", command->name, text, command->name);
  return false;
}

/* Commands may share a name or a letter and mean different things by it. */
static bool accepts(const cli_args *args, int option) { return args->command->options >> option & 1; }

/* One argument that begins with "-"; *i moves past a value taken from the next. */
static bool parse_option(cli_args *args, int argc, char **argv, int *i) {
  const char *text = argv[*i];
  const char *value = NULL;
  int found = -1;
  if (text[1] == '-') {
    const char *equals = strchr(text, '=');
    const size_t len = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
    for (int o = 0; o < CLI_O_COUNT; o++)
      if (strlen(options[o].name) == len && !strncmp(options[o].name, text + 2, len) && accepts(args, o)) found = o;
    if (equals) value = equals + 1;
  } else {
    for (int o = 0; o < CLI_O_COUNT; o++)
      if (options[o].letter && options[o].letter == text[1] && accepts(args, o)) found = o;
    if (found >= 0 && text[2]) {
      if (!options[found].value) found = -1; /* letters do not combine */
      value = text + 2;
    }
  }
  if (found < 0) return unknown_option(args->command, text);
  if (!options[found].value && value) {
    cli_say("--%s takes no value", options[found].name);
    return false;
  }
  if (options[found].value && !value) {
    if (*i + 1 >= argc) {
      cli_say("--%s takes a value: --%s %s", options[found].name, options[found].name, options[found].value);
      return false;
    }
    value = argv[++*i];
  }
  return take(args, (cli_option)found, value);
}

bool cli_parse(cli_args *out, const cli_command *command, int argc, char **argv) {
  *out = (cli_args){.command = command, .format = NESTOR_FORMAT_TABLE, .engine = NESTOR_ENGINE_ANALYSIS};
  /* No list is longer than the command line: one block serves the three. */
  const size_t n = (size_t)argc + 1;
  const char **lists = calloc(3 * n, sizeof *lists);
  if (!lists) abort();
  out->files = lists;
  out->mappings = lists + n;
  out->sets = lists + 2 * n;
  bool only_files = false;
  for (int i = 0; i < argc; i++) {
    if (only_files || argv[i][0] != '-' || !argv[i][1]) out->files[out->nfiles++] = argv[i];
    else if (!strcmp(argv[i], "--")) only_files = true;
    else if (!parse_option(out, argc, argv, &i)) return false;
  }
  if (out->help) return true;
  if (command->needs_files && !out->nfiles) {
    cli_say("nestor %s needs a file; \"-\" is standard input", command->name);
    return false;
  }
  size_t stdins = 0;
  for (size_t i = 0; i < out->nfiles; i++) stdins += !strcmp(out->files[i], "-");
  if (stdins > 1) {
    cli_say("standard input (\"-\") can be read only once");
    return false;
  }
  return true;
}

void cli_args_fini(cli_args *args) { free(args->files); }
