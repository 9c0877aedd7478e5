/* The `nestor` command: finds the subcommand, reads its options, runs it.
 *
 * The table below is all there is to know about a subcommand besides its code;
 * --help, the overview and "did you mean" are made from it. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>

#define COMMON (CLI_BIT(DIAGNOSTICS) | CLI_BIT(COLOR) | CLI_BIT(HELP))
#define CHOICE (CLI_BIT(MAPPING) | CLI_BIT(SET))

static const char exit_codes[] =
  "Exit codes: 0 good, 1 the program is wrong, 2 wrong usage, 3 a file could not\n"
  "be read or written, 4 a sweep was stopped.\n";

static const char eval_help[] =
  "Evaluates every mapping of the files, or those named, and prints per memory\n"
  "level and tensor what is held and what moves.\n\n"
  "Units: tile, fills, reads, updates and drains are elements; usage, capacity,\n"
  "traffic and off-chip are bytes (1 KiB = 1024 B, 1 KB = 1000 B); cycles are clock\n"
  "cycles; energy is picojoules; edp is pJ x cycles; area is mm2; utilization is a\n"
  "share from 0 to 1; intensity is operations per off-chip byte. Bytes and cycles\n"
  "are rounded up. In JSON and CSV the unit is part of the name, and tile, fills,\n"
  "reads, updates and drains are elements.\n\n"
  "A mapping that does not fit is a warning; its figures are printed all the same.\n"
  "When some mappings cannot be evaluated, the others are printed and the exit code\n"
  "is 1.\n\n"
  "With --points FILE.csv one mapping is evaluated at every row of the file, whose\n"
  "header names parameters, through native code; the output is CSV, row by row. A bad\n"
  "row is told by its number, its figures stay empty, and the rest go on.\n\n"
  "  nestor eval gemm.nest --mapping os --set tm=32 --format json\n";

static const char simulate_help[] =
  "Executes the counting rules literally, element by element, and prints what eval\n"
  "prints, in the same units. It is the slow second opinion: nests of more than 2^26\n"
  "points x nodes are refused.\n";

static const char check_help[] =
  "Parses the files and checks names, types, units and the rules of mappings. Mappings\n"
  "whose parameters all have defaults are counted at them, for what only numbers can\n"
  "show, such as pars that are too wide.\n";

static const char fmt_help[] =
  "Prints the files in their one true layout, comments kept. With --check it names\n"
  "the files that would change; with -w it rewrites them. \"-\" formats standard\n"
  "input to standard output.\n";

static const char test_help[] =
  "Runs the test and verify blocks of the files. What fails is printed with the\n"
  "values of both sides and of the metrics in it; a verify prints its first\n"
  "counterexample.\n";

static const char explain_help[] =
  "Says in words what a mapping does: the loop nest with sizes and keeps, per level\n"
  "and tensor which loops give reuse and which force a reload, the closed form of\n"
  "the traffic with the names of the parameters, and the bottleneck. Figures are in\n"
  "elements, bytes, cycles and picojoules, as named beside them.\n";

static const char emit_help[] =
  "Prints what a stage of the compiler makes of a file: ast (the syntax tree), ir\n"
  "(checked and resolved), expr (the counters as formulas over columns) or llvm (the\n"
  "code of the kernels).\n\n"
  "  nestor emit ir gemm.nest        nestor emit --emit=ir gemm.nest\n";

static const char grammar_help[] =
  "Prints the grammar of the language, made from the parser's own: ebnf for people,\n"
  "gbnf for llama.cpp and XGrammar, lark for Python's lark (parser=\"earley\"). It works\n"
  "on characters, white space included, and bounds every repetition, so that a model\n"
  "whose answers it constrains comes to an end. What it accepts parses.\n\n"
  "  nestor grammar --format gbnf -o nestor.gbnf\n"
  "  llama-cli --grammar-file nestor.gbnf ...\n";

static const char sweep_help[] =
  "Searches the mapping space of every sweep block, exactly, and prints the best\n"
  "points and the Pareto front, the first three also as mappings that can be pasted\n"
  "into a file (--mappings: all of them, as JSON has them always). The answer is proven when the whole space was searched, which it is unless\n"
  "--limit, --sample, --shard or Ctrl-C say otherwise; ties go to the first in the\n"
  "order of the parameters.\n\n"
  "  evaluated   points whose metrics were computed\n"
  "  pruned      points proven not to enter any answer\n"
  "  duplicates  orders or keeps that give the same expressions as earlier ones\n"
  "  dropped     tiles that are no positive integers, pars that do not fit\n"
  "  valid       points that satisfy every `where`\n\n"
  "Ctrl-C ends the search; what was found is printed, and --checkpoint FILE --resume\n"
  "goes on from there to the same answer.\n\n"
  "  nestor sweep conv.nest --format json --emit best.nest\n";

static const char merge_help[] =
  "Puts together what `nestor sweep --shard I/N -o PART` wrote, on any machines, and\n"
  "prints the answer of the whole sweep. Checkpoints can be shown in the same way.\n\n"
  "  for i in 0 1 2; do nestor sweep conv.nest --shard $i/3 -o part$i; done\n"
  "  nestor merge part0 part1 part2\n";

const cli_command cli_commands[] = {
  {"check", "FILE...", "check programs", check_help, COMMON | CLI_BIT(QUIET), true,
   cli_check},
  {"fmt", "[--check | -w] FILE...", "format programs", fmt_help,
   COMMON | CLI_BIT(CHECK) | CLI_BIT(WRITE) | CLI_BIT(OUTPUT), true, cli_fmt},
  {"eval", "[OPTIONS] FILE...", "count what mappings move, hold and cost", eval_help,
   COMMON | CHOICE | CLI_BIT(FORMAT) | CLI_BIT(ENGINE) | CLI_BIT(REQUIRE_FIT) | CLI_BIT(POINTS) |
     CLI_BIT(NO_CACHE) | CLI_BIT(OUTPUT),
   true, cli_eval},
  {"simulate", "[OPTIONS] FILE...", "the same by literal execution", simulate_help,
   COMMON | CHOICE | CLI_BIT(FORMAT) | CLI_BIT(REQUIRE_FIT) | CLI_BIT(OUTPUT), true, cli_simulate},
  {"test", "[OPTIONS] FILE...", "run test and verify blocks", test_help,
   COMMON | CLI_BIT(QUIET) | CLI_BIT(TEST_FORMAT) | CLI_BIT(OUTPUT), true, cli_test},
  {"explain", "[OPTIONS] FILE...", "say in words where the traffic comes from", explain_help,
   COMMON | CHOICE | CLI_BIT(OUTPUT), true, cli_explain},
  {"emit", "STAGE FILE", "print a stage of the compiler", emit_help, COMMON | CLI_BIT(EMIT) | CLI_BIT(OUTPUT), true,
   cli_emit},
  {"grammar", "[OPTIONS]", "print the grammar of the language", grammar_help,
   COMMON | CLI_BIT(NOTATION) | CLI_BIT(OUTPUT), false, cli_grammar},
  {"sweep", "[OPTIONS] FILE...", "search mapping spaces for the best", sweep_help,
   COMMON | CLI_BIT(SWEEP) | CLI_BIT(FORMAT) | CLI_BIT(OUTPUT) | CLI_BIT(DRY_RUN) | CLI_BIT(LIMIT) | CLI_BIT(SAMPLE) |
     CLI_BIT(SEED) | CLI_BIT(JOBS) | CLI_BIT(NO_PRUNE) | CLI_BIT(NO_KERNEL) | CLI_BIT(NO_CACHE) | CLI_BIT(CHECKPOINT) | CLI_BIT(RESUME) |
     CLI_BIT(SHARD) | CLI_BIT(ALL) | CLI_BIT(BEST) | CLI_BIT(PLOT) | CLI_BIT(MAPPINGS) | CLI_BIT(TIMING) | CLI_BIT(PROGRESS) | CLI_BIT(QUIET),
   true, cli_sweep},
  {"merge", "[OPTIONS] PART...", "put the parts of a sweep together", merge_help,
   COMMON | CLI_BIT(FORMAT) | CLI_BIT(OUTPUT) | CLI_BIT(BEST) | CLI_BIT(PLOT) | CLI_BIT(MAPPINGS), true, cli_merge},
  {"bench", "COMMAND", "measure how well language models do", "", 0, false, NULL},
  {"version", "", "print the version", "Prints the version of nestor and of the counting rules.\n", CLI_BIT(HELP),
   false, cli_version},
  {"help", "[COMMAND]", "show help", "Shows the overview, or the help of a command.\n", CLI_BIT(HELP), false,
   cli_help},
  {0},
};

const cli_command *cli_find_command(const char *name) {
  for (const cli_command *c = cli_commands; c->name; c++)
    if (!strcmp(c->name, name)) return c;
  return NULL;
}

static void append(nestor_buffer *out, const char *text) { nestor_buffer_append(out, text, strlen(text)); }

void cli_overview(nestor_buffer *out) {
  append(out, "nestor counts exactly what accelerator mappings move, hold and cost\n\n"
              "usage: nestor COMMAND [OPTIONS] FILE...\n\ncommands:\n");
  for (const cli_command *c = cli_commands; c->name; c++) {
    append(out, "  ");
    append(out, c->name);
    for (size_t n = strlen(c->name); n < 10; n++) append(out, " ");
    append(out, c->summary);
    append(out, "\n");
  }
  append(out, "\nA FILE of \"-\" is standard input. `nestor COMMAND --help` shows options and units.\n");
  append(out, exit_codes);
}

static int unknown_command(const char *name) {
  const char *words[24];
  size_t n = 0;
  for (const cli_command *c = cli_commands; c->name && n + 1 < sizeof words / sizeof *words; c++) words[n++] = c->name;
  words[n] = NULL;
  const char *near = cli_nearest(name, words);
  if (near) cli_say("unknown command \"%s\"; did you mean \"%s\"?", name, near);
  else cli_say("unknown command \"%s\"; `nestor help` lists them", name);
  return CLI_WRONG_USAGE;
}

static int show(const cli_command *command) {
  nestor_buffer *out = nestor_buffer_new();
  if (command) {
    cli_command_help(command, out);
    append(out, "\n");
    append(out, exit_codes);
  } else cli_overview(out);
  const int code = cli_output(NULL, out);
  nestor_buffer_free(out);
  return code;
}

int cli_help(const cli_args *args) {
  if (!args->nfiles) return show(NULL);
  const cli_command *command = cli_find_command(args->files[0]);
  if (!command) return unknown_command(args->files[0]);
  if (command->run) return show(command);
  char help[] = "help", *words[] = {help, args->nfiles > 1 ? (char *)args->files[1] : NULL};
  return cli_bench(args->nfiles > 1 ? 2 : 1, words);
}

/* fmt reads all of a file before it writes: it may go back to where it came from. */
static bool outputs_are_apart(const cli_args *args) {
  const char *const written[] = {args->output, args->checkpoint, args->all, args->best, args->plot};
  const size_t n = sizeof written / sizeof *written;
  if (args->command->run == cli_fmt) return true;
  for (size_t i = 0; i < n; i++)
    if (!cli_apart(written[i], args->files, args->nfiles) || !cli_apart(written[i], &args->points, 1) ||
        !cli_apart_outputs(written[i], written + i + 1, n - i - 1))
      return false;
  return true;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN); /* where a reader has left, writing fails and nothing ends midway */
  cli_guard_descriptors();
  if (argc < 2) {
    nestor_buffer *out = nestor_buffer_new();
    cli_overview(out);
    cli_say("no command given\n\n%.*s", (int)nestor_buffer_size(out) - 1, nestor_buffer_data(out));
    nestor_buffer_free(out);
    return CLI_WRONG_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) name = "version";
  const cli_command *command = cli_find_command(name);
  if (!command) return unknown_command(name);
  if (!command->run) return cli_bench(argc - 2, argv + 2);

  cli_args args;
  int code = CLI_WRONG_USAGE;
  if (cli_parse(&args, command, argc - 2, argv + 2)) {
    cli_use_color(args.color);
    if (args.help) code = show(command);
    else if (outputs_are_apart(&args)) code = command->run(&args);
  }
  cli_args_fini(&args);
  return code;
}
