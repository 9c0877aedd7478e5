/* The program nestor-bench: finds the command and runs it. `nestor bench` starts it. */
#include "bench/cli/bench.h"

#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct { int (*run)(int argc, char **argv); const char *name, *summary; } commands[] = {
#define BENCH_COMMAND(function, name, summary) {function, name, summary},
#include "bench/cli/commands.def"
#undef BENCH_COMMAND
  {NULL, NULL, NULL},
};

static void overview(FILE *out) {
  fputs("nestor bench measures how well models of language write mappings and performance models\n\n"
        "usage: nestor bench COMMAND [OPTIONS]\n\ncommands:\n", out);
  for (int i = 0; commands[i].name; i++) fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].summary);
  fputs("\n    nestor bench gen --count 200 -o tasks.jsonl --key key.jsonl\n"
        "    nestor bench run tasks.jsonl --key key.jsonl --base-url http://localhost:8080/v1 --model M --run m.run\n"
        "    nestor bench report m.run --html m.html\n", out);
  fputs("\n`nestor bench COMMAND --help` shows options. Exit codes: 0 good, 1 a check failed, 2 wrong usage,\n"
        "3 a file, server or worker could not be used, 4 stopped (the same command goes on).\n", out);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  cli_guard_descriptors();
  cli_use_color(CLI_COLOR_AUTO);
  if (argc < 2) return overview(stderr), CLI_WRONG_USAGE;
  const bool help = !strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
  if (help && argc < 3) return overview(stdout), fflush(stdout) ? cli_output_failed(errno) : CLI_GOOD;
  const char *name = argv[help ? 2 : 1], *words[sizeof commands / sizeof *commands];
  char option[] = "--help", *ask[] = {option, NULL};
  int n = 0;
  for (; commands[n].name; n++) {
    if (!strcmp(name, commands[n].name)) return help ? commands[n].run(1, ask) : commands[n].run(argc - 2, argv + 2);
    words[n] = commands[n].name;
  }
  words[n] = NULL;
  const char *near = cli_nearest(name, words);
  if (near) cli_say("unknown command \"%s\"; did you mean \"nestor bench %s\"?", name, near);
  else cli_say("unknown command \"%s\"; `nestor bench help` lists them", name);
  return CLI_WRONG_USAGE;
}
