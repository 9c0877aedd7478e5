/* hand_tasks DIRECTORY: writes the tasks of hand.h as DIRECTORY/tasks.jsonl and DIRECTORY/key.jsonl. */
#include "tests/bench/hand.h"

typedef struct { FILE *tasks, *keys; } files;

static void write_line(FILE *to, json_t *json) {
  char *text = nst_record_text(json, NULL);
  fprintf(to, "%s\n", text);
  free(text);
  json_decref(json);
}

static void take(void *context, json_t *task, json_t *key) {
  files *f = context;
  write_line(f->tasks, task);
  write_line(f->keys, key);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  char path[4096];
  snprintf(path, sizeof path, "%s/tasks.jsonl", argv[1]);
  files f = {fopen(path, "w"), NULL};
  snprintf(path, sizeof path, "%s/key.jsonl", argv[1]);
  f.keys = fopen(path, "w");
  if (!f.tasks || !f.keys) return 3;
  hand_tasks(take, &f);
  return fclose(f.tasks) || fclose(f.keys) ? 3 : 0;
}
