/* A request as the worker reads it: everything borrowed from the frame but the lists. */
#ifndef NST_BENCH_WORKER_REQUEST_H
#define NST_BENCH_WORKER_REQUEST_H
#include "bench/grade/wire.h"
#include "bench/worker/cut.h"

enum { NST_REQUEST_PROGRAM = 0, NST_REQUEST_MODEL = 1 };

typedef struct { const char **items; size_t n; } nst_names; /* owned list of borrowed texts */
typedef struct { const char *mapping; nst_names params; } nst_request_table;

typedef struct {
  bool model, least;
  nestor_declaration_kind kind;
  uint64_t source_bytes, fuel;
  nst_text candidate, given, probe;
  const char *name;
  nst_request_table *tables; /* of a program; owned */
  size_t ntables;
  nst_names params, outs;    /* of a model */
  size_t npoints;
  nst_wire_reader points;    /* the rest of the frame */
} nst_request;

/* false: it is malformed; nothing needs a fini then either way. */
bool nst_request_read(nst_request *out, nst_wire_reader *r);
void nst_request_fini(nst_request *request);
#endif
