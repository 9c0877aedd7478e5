/* Episodes of OpenEnv: which task each is about and how far it is. A bounded number: the oldest makes room. */
#ifndef NST_BENCH_SERVE_EPISODES_H
#define NST_BENCH_SERVE_EPISODES_H
#include <stddef.h>
#include <stdint.h>

typedef struct { char id[24]; const char *task_id; unsigned steps; } nst_episode;
typedef struct nst_episodes nst_episodes;

nst_episodes *nst_episodes_new(void);
void nst_episodes_free(nst_episodes *episodes);
nst_episode *nst_episodes_begin(nst_episodes *episodes, const char *task_id); /* task_id is borrowed */
/* id NULL: the last begun. NULL: there is none, or it has made room for another. */
nst_episode *nst_episodes_find(nst_episodes *episodes, const char *id);
#endif
