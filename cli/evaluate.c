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
  nestor_program **programs; /* [args->nfiles]; NULL: could not be read */
  size_t evaluated, failed;
  int code;
} run;

static bool chosen(const cli_args *args, const char *mapping) {
  for (size_t i = 0; i < args->nmappings; i++)
    if (!strcmp(args->mappings[i], mapping)) return true;
  return !args->nmappings;
}

/* The parameter that a "name=value" sets, or SIZE_MAX. */
static size_t param_of(const nestor_program *program, size_t mapping, const char *set) {
  const size_t len = (size_t)(strchr(set, '=') - set);
  nestor_param_info param;
  for (size_t p = 0; nestor_program_param(program, mapping, p, &param); p++)
    if (strlen(param.name) == len && !strncmp(param.name, set, len)) return p;
  return SIZE_MAX;
}

/* ---- names of the command line ---- */

static bool mapping_exists(const run *r, const char *name) {
  const char *near = NULL;
  for (size_t i = 0; i < r->args->nfiles; i++) {
    if (nestor_program_find(r->programs[i], name) != SIZE_MAX) return true;
    if (!near) near = nestor_program_suggest(r->programs[i], name);
  }
  if (near) cli_say("no mapping is named \"%s\"; did you mean \"%s\"?", name, near);
  else cli_say("no mapping is named \"%s\"", name);
  return false;
}

static bool listed(const char *list, const char *word) {
  const size_t len = strlen(word);
  for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ',')) return true;
  return false;
}

static bool set_exists(const run *r, const char *set) {
  char list[512] = "";
  bool any = false;
  for (size_t i = 0; i < r->args->nfiles; i++) {
    nestor_mapping_info info;
    for (size_t m = 0; nestor_program_mapping(r->programs[i], m, &info); m++) {
      if (!chosen(r->args, info.name)) continue;
      any = true;
      if (param_of(r->programs[i], m, set) != SIZE_MAX) return true;
      nestor_param_info param;
      for (size_t p = 0; nestor_program_param(r->programs[i], m, p, &param); p++) {
        const size_t used = strlen(list);
        if (!listed(list, param.name)) snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", param.name);
      }
    }
  }
  if (!any) return true; /* that there is nothing to evaluate is said elsewhere */
  const int len = (int)(strchr(set, '=') - set);
  if (*list) cli_say("--set %s: no mapping evaluated has a parameter \"%.*s\"; there are %s", set, len, set, list);
  else cli_say("--set %s: the mappings have no parameters", set);
  cli_say("a size of the workload is set through a parameter of the mapping, as in `mapping m(K = 64) of w(K = K)`");
  return false;
}

static bool names_exist(const run *r) {
  bool good = true;
  for (size_t i = 0; i < r->args->nmappings; i++) good &= mapping_exists(r, r->args->mappings[i]);
  for (size_t i = 0; good && i < r->args->nsets; i++) good &= set_exists(r, r->args->sets[i]);
  return good;
}

/* ---- evaluating ---- */

/* Applies --set. false: a value is no number (said). */
static bool apply_sets(const run *r, nestor_eval *eval, const nestor_program *program, size_t mapping) {
  for (size_t i = 0; i < r->args->nsets; i++) {
    nestor_param_info param;
    const char *set = r->args->sets[i], *value = strchr(set, '=') + 1;
    if (!nestor_program_param(program, mapping, param_of(program, mapping, set), &param)) continue;
    if (nestor_eval_set(eval, param.name, value) == NESTOR_OK) continue;
    cli_say("--set %s: \"%s\" is not a number", set, value);
    return false;
  }
  return true;
}

static void each_mapping(run *r, const nestor_program *program) {
  nestor_mapping_info info;
  for (size_t m = 0; nestor_program_mapping(program, m, &info); m++) {
    if (!chosen(r->args, info.name)) continue;
    nestor_eval *eval = nestor_eval_new(program, m);
    if (!apply_sets(r, eval, program, m)) r->code = cli_worse(r->code, CLI_WRONG_USAGE);
    else {
      const nestor_status status = nestor_eval_run(eval, r->engine, NULL);
      cli_diagnostics(r->args, nestor_eval_diagnostics(eval), false);
      r->evaluated++;
      if (status != NESTOR_OK) {
        r->failed++;
        r->code = cli_worse(r->code, CLI_PROGRAM);
      }
      r->code = cli_worse(r->code, r->each(r->context, eval, status));
    }
    nestor_eval_free(eval);
  }
}

/* Compiles every file; how many are good. */
static size_t compile_all(run *r) {
  size_t good = 0;
  for (size_t i = 0; i < r->args->nfiles; i++) {
    nestor_program *p = r->programs[i] = cli_compile(r->args, r->args->files[i], NESTOR_STAGE_CHECK);
    if (!p) {
      r->code = cli_worse(r->code, CLI_IO);
      continue;
    }
    cli_diagnostics(r->args, nestor_program_diagnostics(p), false);
    if (nestor_program_status(p) != NESTOR_OK) r->code = cli_worse(r->code, CLI_PROGRAM);
    else good++;
    if (nestor_program_status(p) != NESTOR_OK || nestor_program_mappings(p)) continue;
    cli_say("%s declares no mapping, so there is nothing to evaluate", cli_display_name(r->args->files[i]));
    r->code = cli_worse(r->code, CLI_PROGRAM);
  }
  return good;
}

int cli_evaluate(const cli_args *args, nestor_engine engine, cli_each_mapping *each, void *context) {
  run r = {.args = args, .engine = engine, .each = each, .context = context};
  r.programs = calloc(args->nfiles, sizeof *r.programs);
  if (!r.programs) abort();
  /* Names are judged only when every file could be read for them, and before anything is evaluated. */
  if (compile_all(&r) == args->nfiles && !names_exist(&r)) r.code = CLI_WRONG_USAGE;
  else
    for (size_t i = 0; i < args->nfiles; i++)
      if (r.programs[i]) each_mapping(&r, r.programs[i]);
  if (r.failed && r.evaluated > 1)
    cli_say("%zu of %zu mappings could not be evaluated; the others are complete", r.failed, r.evaluated);
  for (size_t i = 0; i < args->nfiles; i++) nestor_program_free(r.programs[i]);
  free(r.programs);
  return r.code;
}
