/* See object_cache.h. A file: a head of four numbers (magic, length of the
 * description, length of the object, checksum of both), description, object. */
#include "backend/object_cache.h"
#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20, MOST_ENTRIES = 512, NAME = 64 };
#define MAGIC UINT64_C(0x31656863616e7473) /* "stnache1" */
#define SUFFIX ".o1"

typedef struct { uint64_t magic, description, object, checksum; } head;
struct nst_object_cache {
  int directory;
  atomic_uint written; /* by this cache: numbers the files on their way */
};

static uint64_t hash_bytes(uint64_t h, const char *bytes, size_t len) { /* FNV-1a over words, then bytes */
  for (; len >= 8; bytes += 8, len -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
  }
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  return h ^ h >> 32;
}

static uint64_t checksum_of(const char *description, size_t len, const char *object, size_t size) {
  return hash_bytes(hash_bytes(0xcbf29ce484222325u ^ size, description, len), object, size);
}

/* ---- the directory ---- */

/* Makes the last part of the path, and what leads to it, for the user alone. */
static bool make_directory(const char *path) {
  char *copy = strdup(path);
  if (!copy) nst_out_of_memory();
  for (char *p = copy + 1; *p; p++) {
    if (*p != '/') continue;
    *p = '\0';
    (void)mkdir(copy, 0700);
    *p = '/';
  }
  const bool good = mkdir(copy, 0700) == 0 || errno == EEXIST;
  free(copy);
  return good;
}

static bool usual_directory(nst_buffer *path) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (base && *base == '/') nst_buffer_puts(path, base);
  else if (home && *home == '/') nst_buffer_printf(path, "%s/.cache", home);
  else return false;
  nst_buffer_puts(path, "/nestor");
  return true;
}

nst_object_cache *nst_object_cache_open(const char *directory) {
  nst_buffer path = {0};
  nst_object_cache *c = NULL;
  struct stat st;
  if (directory) nst_buffer_puts(&path, directory);
  else if (!usual_directory(&path)) return NULL;
  int fd = path.len && make_directory(path.text) ? open(path.text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  nst_buffer_fini(&path);
  if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 0077) == 0) {
    c = calloc(1, sizeof *c);
    if (!c) nst_out_of_memory();
    c->directory = fd;
  } else if (fd >= 0) {
    close(fd);
  }
  return c;
}

void nst_object_cache_close(nst_object_cache *c) {
  if (!c) return;
  close(c->directory);
  free(c);
}

/* ---- entries ---- */

static void name_entry(char *name, const char *description, size_t len) {
  snprintf(name, NAME, "%016" PRIx64 "%08" PRIx64 SUFFIX, hash_bytes(0xcbf29ce484222325u, description, len),
           hash_bytes(0x9e3779b97f4a7c15u, description, len) >> 32);
}

static bool read_all(int fd, char *bytes, size_t n) {
  while (n) {
    const ssize_t got = read(fd, bytes, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    n -= (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n) {
    const ssize_t put = write(fd, bytes, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    n -= (size_t)put;
  }
  return true;
}

/* Only what this user wrote and nobody else could. */
static bool is_own_file(const struct stat *st) {
  return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 0022) == 0;
}

bool nst_object_cache_get(nst_object_cache *c, const char *description, size_t len, nst_buffer *object) {
  char name[NAME];
  struct stat st;
  head h;
  name_entry(name, description, len);
  const int fd = openat(c->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = fstat(fd, &st) == 0 && is_own_file(&st) && st.st_size > (off_t)sizeof h && st.st_size <= MOST_BYTES &&
              read_all(fd, (char *)&h, sizeof h) && h.magic == MAGIC && h.description == len &&
              h.object == (uint64_t)st.st_size - sizeof h - len && (uint64_t)st.st_size > sizeof h + len;
  char *bytes = NULL;
  if (good) {
    bytes = malloc(len + (size_t)h.object);
    if (!bytes) nst_out_of_memory();
    good = read_all(fd, bytes, len + (size_t)h.object) && !memcmp(bytes, description, len) &&
           h.checksum == checksum_of(bytes, len, bytes + len, (size_t)h.object);
  }
  if (good) nst_buffer_add(object, bytes + len, (size_t)h.object);
  free(bytes);
  close(fd);
  return good;
}

typedef struct { char name[NAME]; struct timespec time; } entry;

static int compare_times(const void *a, const void *b) {
  const struct timespec *x = &((const entry *)a)->time, *y = &((const entry *)b)->time;
  if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Keeps the newer half of too many entries. */
static void thin_out(const nst_object_cache *c) {
  const int fd = openat(c->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
  if (!d) {
    if (fd >= 0) close(fd);
    return;
  }
  entry *all = NULL;
  size_t n = 0, cap = 0;
  struct stat st;
  for (const struct dirent *e; (e = readdir(d));) {
    if (*e->d_name == '.' || strlen(e->d_name) >= NAME || !strstr(e->d_name, SUFFIX)) continue;
    if (fstatat(c->directory, e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
    if (n == cap) {
      cap = cap ? 2 * cap : 64;
      all = realloc(all, cap * sizeof *all);
      if (!all) nst_out_of_memory();
    }
    memcpy(all[n].name, e->d_name, strlen(e->d_name) + 1);
    all[n++].time = st.st_mtim;
  }
  closedir(d);
  if (n > MOST_ENTRIES) {
    qsort(all, n, sizeof *all, compare_times);
    for (size_t i = 0; i < n / 2; i++) unlinkat(c->directory, all[i].name, 0);
  }
  free(all);
}

void nst_object_cache_put(nst_object_cache *c, const char *description, size_t len, const char *object, size_t size) {
  char name[NAME], way[2 * NAME];
  const head h = {MAGIC, len, size, checksum_of(description, len, object, size)};
  if (!size || sizeof h + len + size > MOST_BYTES) return;
  name_entry(name, description, len);
  snprintf(way, sizeof way, "%s.%ld.%u", name, (long)getpid(), atomic_fetch_add(&c->written, 1));
  const int fd = openat(c->directory, way, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  bool good = write_all(fd, (const char *)&h, sizeof h) && write_all(fd, description, len) && write_all(fd, object, size);
  good = close(fd) == 0 && good;
  if (!good || renameat(c->directory, way, c->directory, name)) unlinkat(c->directory, way, 0);
  else thin_out(c);
}
