/* Generated code on disk, so that the same code is generated once.
 *
 * An entry is the object of one compilation under everything that it depends on,
 * its description; the file's name is a hash of that, and the whole description
 * stands in the file and is compared. What is damaged, cut short, of another
 * version or somebody else's is as good as not there, and replaced by the next
 * compilation. Entries are written beside their place and renamed, so readers and
 * any number of writers never meet half of one. The code in it is run: so the
 * directory must belong to the user and be closed to everyone else (mode 0700; it
 * is made so), or there is no cache. */
#ifndef NST_BACKEND_OBJECT_CACHE_H
#define NST_BACKEND_OBJECT_CACHE_H
#include "base/buffer.h"
#include <stdbool.h>

typedef struct nst_object_cache nst_object_cache;
/* directory: NULL: $XDG_CACHE_HOME/nestor, else ~/.cache/nestor. NULL: there is no such directory, or it is not safe. */
nst_object_cache *nst_object_cache_open(const char *directory);
void nst_object_cache_close(nst_object_cache *c); /* NULL is fine */
/* Any number of threads and processes at once, both. false: there is none. */
bool nst_object_cache_get(nst_object_cache *c, const char *description, size_t len, nst_buffer *object);
/* Fails silently. The oldest entries go when there are many. */
void nst_object_cache_put(nst_object_cache *c, const char *description, size_t len, const char *object, size_t size);
#endif
