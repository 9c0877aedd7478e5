/* grade.h: libnestor-grade, the benchmark's grader for C and for everything that can call C.
 *
 *   char *error;
 *   nst_grader *g = nst_grader_new("tasks.jsonl", "key.jsonl", 0, &error);
 *   char *results = nst_grader_grade(g, samples, strlen(samples));   one line for each line
 *   nst_grader_free_text(results);
 *   nst_grader_free(g);
 *
 * Lines are those of docs/benchmark.md: samples {"task_id":..., "completion":...} in, results out. Candidates are judged in
 * processes of their own (the program nestor-grade-worker), which are started without forking this one: a host may have
 * threads. A grader may be called by any number of threads; calls wait for each other. A process
 * that is forked off may go on with the grader: it gets workers of its own with its first call, and nst_grader_free there leaves
 * the other process's alone. The library never prints and never
 * exits; it aborts only when memory runs out. The environment and the locale do not matter. */
#ifndef NESTOR_GRADE_H
#define NESTOR_GRADE_H
#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define NST_GRADER_API __attribute__((visibility("default")))
#else
#define NST_GRADER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nst_grader nst_grader;

/* Reads tasks and keys and starts the workers (0: one per processor). Each task needs its key. NULL on failure: *error (error may be NULL) is the
 * reason, to be freed by nst_grader_free_text. */
NST_GRADER_API nst_grader *nst_grader_new(const char *tasks_path, const char *key_path, int workers, char **error);
/* Judges lines of samples (any bytes) and gives as many lines of results, in their order, each ended by a line feed. A line
 * that is no sample, or is of an unknown task, gives a result with outcome infra_error. Samples without a sample_id are
 * numbered by their line, from 0. Never NULL; free it by nst_grader_free_text. The same samples give the same bytes. */
NST_GRADER_API char *nst_grader_grade(nst_grader *grader, const char *samples, size_t size);
NST_GRADER_API void nst_grader_free_text(char *text);
/* Ends the workers. No call may be running. */
NST_GRADER_API void nst_grader_free(nst_grader *grader);

#ifdef __cplusplus
}
#endif
#endif
