/* A ring of episodes; the number in an id says where in the ring it was. */
#include "bench/serve/episodes.h"

#include "bench/record/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

struct nst_episodes { nst_episode ring[MOST]; uint64_t begun; };

nst_episodes *nst_episodes_new(void) { return nst_memory_new(1, sizeof(nst_episodes)); }
void nst_episodes_free(nst_episodes *e) { free(e); }

nst_episode *nst_episodes_begin(nst_episodes *e, const char *task_id) {
  nst_episode *episode = &e->ring[e->begun++ % MOST];
  *episode = (nst_episode){.task_id = task_id};
  snprintf(episode->id, sizeof episode->id, "%" PRIu64, e->begun);
  return episode;
}

nst_episode *nst_episodes_find(nst_episodes *e, const char *id) {
  uint64_t number = e->begun;
  if (id) {
    char *end;
    number = strtoull(id, &end, 10);
    if (*end) return NULL;
  }
  if (!number || number > e->begun) return NULL;
  nst_episode *episode = &e->ring[(number - 1) % MOST];
  return id && strcmp(episode->id, id) ? NULL : episode;
}
