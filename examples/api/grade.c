/* Judges answers to tasks of the benchmark: grade TASKS KEY < samples.jsonl > results.jsonl */
#include <nestor/grade.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: grade TASKS KEY < samples.jsonl\n"), 2;
  char *error, *line = NULL;
  nst_grader *grader = nst_grader_new(argv[1], argv[2], 1, &error);
  if (!grader) {
    fprintf(stderr, "grade: %s\n", error);
    nst_grader_free_text(error);
    return 1;
  }
  size_t room = 0;
  for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
    char *result = nst_grader_grade(grader, line, (size_t)size);
    fputs(result, stdout);
    nst_grader_free_text(result);
  }
  free(line);
  nst_grader_free(grader);
  return 0;
}
