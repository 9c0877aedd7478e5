/* The build as the bytes of the program and the library: there are no other names that a build from an archive has. */
#include "bench/run/build.h"

#include "bench/record/memory.h"

#include <dlfcn.h>
#include <nestor/nestor.h>
#include <stdio.h>
#include <stdlib.h>

/* All bytes of a file; NULL: it cannot be read. The caller frees. */
static void *bytes_of(const char *path, size_t *size) {
  FILE *file = path ? fopen(path, "rb") : NULL;
  char *bytes = NULL;
  size_t room = 0, n = 0, got;
  *size = 0;
  if (!file) return NULL;
  do {
    if (n == room) bytes = nst_memory_grow(bytes, room = 2 * room + (1 << 20), 1);
    n += got = fread(bytes + n, 1, room - n, file);
  } while (got);
  const bool good = !ferror(file) && n;
  fclose(file);
  if (good) return *size = n, bytes;
  free(bytes);
  return NULL;
}

bool nst_build_hash(char out[NST_DIGEST_TEXT]) {
  union {
    const char *(*function)(void);
    const void *address;
  } in_library = {.function = nestor_version};
  Dl_info library;
  nst_digest_part parts[2];
  parts[0].bytes = bytes_of("/proc/self/exe", &parts[0].size);
  parts[1].bytes = dladdr(in_library.address, &library) ? bytes_of(library.dli_fname, &parts[1].size) : NULL;
  const bool good = parts[0].bytes && parts[1].bytes;
  if (good) nst_digest_text(out, parts, 2);
  for (int i = 0; i < 2; i++) free((void *)parts[i].bytes);
  return good;
}
