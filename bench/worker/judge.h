/* What a worker does with a request: compile the candidate between what is given and what probes it, evaluate, write a reply.
 *
 * The candidate is text of somebody else. It is compiled without files and without the standard library, within the fuel of the request; every
 * name is looked up, nothing it declares is believed. What is expected is not here. */
#ifndef NST_BENCH_WORKER_JUDGE_H
#define NST_BENCH_WORKER_JUDGE_H
#include "bench/grade/wire.h"

typedef struct nst_judge nst_judge;
nst_judge *nst_judge_new(void);
void nst_judge_free(nst_judge *judge);
/* Appends the frame of a reply. false: the request is no request, which only a broken supervisor sends. */
bool nst_judge_request(nst_judge *judge, nst_wire *out, nst_wire_reader request, uint32_t number, bool retire);
#endif
