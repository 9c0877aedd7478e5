/* Hostile text through the frontend: parse, check, lower, verify, print. Neither
 * files nor the standard library can be used. Whatever compiles without an
 * error must satisfy the invariants of the IR. */
#include "base/buffer.h"
#include "frontend/compile.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 << 16) return 0;
  nst_arena *arena = nst_arena_new();
  nst_interner *interner = nst_interner_new(arena);
  nst_sources *sources = nst_sources_new(arena);
  nst_diags *diags = nst_diags_new(arena, sources);
  uint32_t source = nst_sources_add(sources, "fuzz", (const char *)data, size);
  const nst_ir_program *p = nst_frontend_compile(arena, interner, sources, diags, NULL, source);
  nst_buffer out = {0};
  for (int i = 0; p && i < p->nmappings; i++)
    if (nst_ir_verify_mapping(arena, p->mappings[i])) abort();
  if (p)
    nst_ir_print(&out, p);
  else if (!nst_diags_errors(diags))
    abort();
  nst_diags_sort(diags);
  nst_diags_render(diags, &out, false);
  nst_diags_render_json(diags, &out);
  nst_buffer_fini(&out);
  nst_interner_free(interner);
  nst_arena_free(arena);
  return 0;
}
