/* What eval, simulate and explain share: every chosen mapping of every file is
 * evaluated once and handed on, whether it succeeded or not.
 *
 * A file that is wrong does not keep the others from being evaluated, and a
 * mapping that is wrong not the other mappings. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const cli_args *args;
  nestor_engine engine;
  cli_each_mapping *each;
  void *context;
  bool *mapping_seen, *set_seen; /* of args->mappings and args->sets */
  size_t evaluated, failed;
  int code;
} run;

static bool chosen(run *r, const char *name) {
  bool all = r->args->nmappings == 0;
  for (size_t i = 0; i < r->args->nmappings; i++)
    if (!strcmp(r->args->mappings[i], name)) all = r->mapping_seen[i] = true;
  return all;
}

/* Applies --set. false: a value is no number (said). */
static bool apply_sets(run *r, nestor_eval *eval, const nestor_program *program, size_t mapping) {
  nestor_mapping_info info = {0};
  nestor_program_mapping(program, mapping, &info);
  for (size_t i = 0; i < r->args->nsets; i++) {
    const char *text = r->args->sets[i], *equals = strchr(text, '=');
    const size_t len = (size_t)(equals - text);
    for (size_t p = 0; p < info.params; p++) {
      nestor_param_info param;
      if (!nestor_program_param(program, mapping, p, &param) || strlen(param.name) != len ||
          strncmp(param.name, text, len))
        continue;
      r->set_seen[i] = true;
      if (nestor_eval_set(eval, param.name, equals + 1) != NESTOR_OK) {
        cli_say("--set %s: \"%s\" is not a number", text, equals + 1);
        return false;
      }
    }
  }
  return true;
}

static void each_mapping(run *r, const nestor_program *program) {
  const size_t n = nestor_program_mappings(program);
  for (size_t m = 0; m < n; m++) {
    nestor_mapping_info info = {0};
    nestor_program_mapping(program, m, &info);
    if (!chosen(r, info.name)) continue;
    nestor_eval *eval = nestor_eval_new(program, m);
    if (!apply_sets(r, eval, program, m)) {
      r->code = cli_worse(r->code, CLI_WRONG_USAGE);
      nestor_eval_free(eval);
      continue;
    }
    const nestor_status status = nestor_eval_run(eval, r->engine, NULL);
    cli_diagnostics(r->args, nestor_eval_diagnostics(eval), false);
    r->evaluated++;
    if (status != NESTOR_OK) {
      r->failed++;
      r->code = cli_worse(r->code, CLI_PROGRAM);
    }
    r->code = cli_worse(r->code, r->each(r->context, eval, status));
    nestor_eval_free(eval);
  }
}

/* The programs stay until all names of the command line have been looked for in them. */
static void say_unknown_mapping(run *r, const char *name, nestor_program *const *programs, size_t n) {
  const char *near = NULL;
  for (size_t i = 0; i < n && !near; i++)
    if (programs[i]) near = nestor_program_suggest(programs[i], name);
  if (near) cli_say("no mapping is named \"%s\"; did you mean \"%s\"?", name, near);
  else cli_say("no mapping is named \"%s\"", name);
  r->code = cli_worse(r->code, CLI_WRONG_USAGE);
}

static void say_unknown_set(run *r, const char *text, nestor_program *const *programs, size_t n) {
  char list[512] = "";
  for (size_t i = 0; i < n; i++)
    for (size_t m = 0; programs[i] && m < nestor_program_mappings(programs[i]); m++) {
      nestor_mapping_info info = {0};
      nestor_program_mapping(programs[i], m, &info);
      for (size_t p = 0; p < info.params; p++) {
        nestor_param_info param;
        const size_t used = strlen(list);
        if (nestor_program_param(programs[i], m, p, &param) && !strstr(list, param.name))
          snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", param.name);
      }
    }
  const int len = (int)(strchr(text, '=') - text);
  if (*list) cli_say("--set %s: no mapping evaluated has a parameter \"%.*s\"; there are %s", text, len, text, list);
  else cli_say("--set %s: the mappings have no parameters", text);
  r->code = cli_worse(r->code, CLI_WRONG_USAGE);
}

int cli_evaluate(const cli_args *args, nestor_engine engine, cli_each_mapping *each, void *context) {
  run r = {.args = args, .engine = engine, .each = each, .context = context};
  nestor_program **programs = calloc(args->nfiles, sizeof *programs);
  bool *seen = calloc(args->nmappings + args->nsets + 1, sizeof *seen);
  if (!programs || !seen) abort();
  r.mapping_seen = seen;
  r.set_seen = seen + args->nmappings;

  size_t wrong = 0;
  for (size_t i = 0; i < args->nfiles; i++) {
    programs[i] = cli_compile(args->files[i], NESTOR_STAGE_CHECK);
    if (!programs[i]) {
      r.code = cli_worse(r.code, CLI_IO);
      wrong++;
      continue;
    }
    cli_diagnostics(args, nestor_program_diagnostics(programs[i]), false);
    if (nestor_program_status(programs[i]) != NESTOR_OK) {
      r.code = cli_worse(r.code, CLI_PROGRAM);
      wrong++;
      continue;
    }
    if (!nestor_program_mappings(programs[i])) {
      cli_say("%s declares no mapping, so there is nothing to evaluate", cli_display_name(args->files[i]));
      r.code = cli_worse(r.code, CLI_PROGRAM);
    }
    each_mapping(&r, programs[i]);
  }

  /* Names are judged only when every file could be read for them. */
  if (!wrong) {
    for (size_t i = 0; i < args->nmappings; i++)
      if (!r.mapping_seen[i]) say_unknown_mapping(&r, args->mappings[i], programs, args->nfiles);
    for (size_t i = 0; i < args->nsets; i++)
      if (!r.set_seen[i] && r.evaluated) say_unknown_set(&r, args->sets[i], programs, args->nfiles);
  }
  if (r.failed && r.evaluated > 1)
    cli_say("%zu of %zu mappings could not be evaluated; the others are complete", r.failed, r.evaluated);
  for (size_t i = 0; i < args->nfiles; i++) nestor_program_free(programs[i]);
  free(programs);
  free(seen);
  return r.code;
}
