/* Reading requests with every length checked. */
#include "bench/worker/request.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

static nst_text get_text(nst_wire_reader *r) {
  nst_text t;
  t.text = nst_wire_get_text(r, &t.size);
  return t;
}

/* A text with a NUL at its end and none before. */
static const char *get_name(nst_wire_reader *r) {
  size_t size;
  const char *text = nst_wire_get_text(r, &size);
  if (size && memchr(text, 0, size) == text + size - 1) return text;
  r->ok = false;
  return "";
}

static nst_names get_names(nst_wire_reader *r) {
  nst_names out = {.n = nst_wire_get_count(r, sizeof(uint32_t))};
  out.items = nst_memory_new(out.n, sizeof *out.items);
  for (size_t i = 0; i < out.n; i++) out.items[i] = get_name(r);
  return out;
}

void nst_request_fini(nst_request *q) {
  for (size_t i = 0; i < q->ntables; i++) free(q->tables[i].params.items);
  free(q->tables);
  free(q->params.items);
  free(q->outs.items);
  *q = (nst_request){0};
}

bool nst_request_read(nst_request *out, nst_wire_reader *r) {
  *out = (nst_request){.model = nst_wire_get_u8(r) == NST_REQUEST_MODEL};
  out->kind = (nestor_declaration_kind)nst_wire_get_u8(r);
  out->least = nst_wire_get_u8(r);
  out->source_bytes = nst_wire_get_u64(r);
  out->fuel = nst_wire_get_u64(r);
  out->candidate = get_text(r);
  out->given = get_text(r);
  out->name = get_name(r);
  size_t each; /* bytes of a point, at least */
  if (out->model) {
    out->params = get_names(r);
    out->outs = get_names(r);
    each = out->params.n * sizeof(int64_t);
  } else {
    out->probe = get_text(r);
    out->ntables = nst_wire_get_count(r, 2 * sizeof(uint32_t));
    out->tables = nst_memory_new(out->ntables, sizeof *out->tables);
    for (size_t i = 0; i < out->ntables; i++) {
      out->tables[i].mapping = get_name(r);
      out->tables[i].params = get_names(r);
    }
    each = sizeof(uint32_t);
  }
  out->npoints = nst_wire_get_count(r, each);
  out->points = *r;
  if (r->ok && out->kind <= NESTOR_DECLARATION_SWEEP) return true;
  nst_request_fini(out);
  return false;
}
