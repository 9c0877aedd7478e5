/* Runs a fuzz target without a fuzzer: over every file of the directories given,
 * in order of their names, and over a few mutations of each that depend on nothing
 * but its bytes. A crash prints the input's name by way of the last line.
 *
 *   fuzz_check [--mutations N] FILE-OR-DIRECTORY... */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_SIZE = 4096, LARGEST = 1 << 20 };

static char current[PATH_SIZE + 64];
static unsigned long inputs;

static void crashed(int signal_number) {
  static const char text[] = "\ncrashed on ";
  if (write(2, text, sizeof text - 1) < 0 || write(2, current, strlen(current)) < 0 || write(2, "\n", 1) < 0) _exit(1);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void run(const uint8_t *data, size_t size) {
  /* An exact copy on the heap: a sanitizer sees a read past the end. */
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy) exit(1);
  if (size) memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
  inputs++;
}

static uint64_t next(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

/* One to four small injuries: cut, delete, duplicate, replace a byte or a digit. */
static size_t mutate(uint8_t *out, const uint8_t *data, size_t size, uint64_t *seed) {
  static const char bytes[] = "{}()[],;.:=+-*/%?\"#<>0129 \n\t_eaAZ\0\xff\xc3";
  memcpy(out, data, size);
  for (uint64_t n = 1 + next(seed) % 4; n && size; n--) {
    size_t at = next(seed) % size, len = 1 + next(seed) % 12;
    if (len > size - at) len = size - at;
    switch (next(seed) % 5) {
    case 0: size = at; break;
    case 1:
      memmove(out + at, out + at + len, size - at - len);
      size -= len;
      break;
    case 2:
      memmove(out + at + len, out + at, size - at);
      size += len;
      break;
    default: out[at] = (uint8_t)bytes[next(seed) % (sizeof bytes - 1)]; break;
    }
  }
  return size;
}

static void run_file(const char *path, unsigned mutations) {
  static uint8_t data[LARGEST], mutated[LARGEST + 64];
  FILE *file = fopen(path, "rb");
  if (!file) return;
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  snprintf(current, sizeof current, "%s", path);
  run(data, size);
  uint64_t seed = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) seed = (seed ^ data[i]) * 0x100000001b3u;
  for (unsigned i = 0; i < mutations && size; i++) {
    snprintf(current, sizeof current, "%s, mutation %u", path, i);
    run(mutated, mutate(mutated, data, size, &seed));
  }
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void run_path(const char *path, unsigned mutations) {
  struct stat info;
  if (stat(path, &info) != 0) return;
  if (!S_ISDIR(info.st_mode)) {
    run_file(path, mutations);
    return;
  }
  struct dirent **list;
  int n = scandir(path, &list, visible, by_name);
  for (int i = 0; i < n; i++) {
    char child[PATH_SIZE];
    if ((size_t)snprintf(child, sizeof child, "%s/%s", path, list[i]->d_name) < sizeof child)
      run_path(child, mutations);
    free(list[i]);
  }
  if (n >= 0) free(list);
}

int main(int argc, char **argv) {
  unsigned mutations = 0;
  signal(SIGSEGV, crashed);
  signal(SIGABRT, crashed);
  signal(SIGFPE, crashed);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--mutations") && i + 1 < argc)
      mutations = (unsigned)strtoul(argv[++i], NULL, 10);
    else
      run_path(argv[i], mutations);
  }
  printf("%lu inputs\n", inputs);
  return inputs ? 0 : 1;
}
