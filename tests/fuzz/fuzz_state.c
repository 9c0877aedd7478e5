/* Hostile bytes as the state of a sweep: checkpoints and parts come from files.
 *
 * Checksums keep blind changes out, so an input is a list of changes: to the state
 * that a small sweep really had, after which both checksums are made right again.
 * (An input whose first byte is even is taken as the state itself, too.) What is
 * loaded is shown in every way, merged with the other part and gone on from; it may
 * be refused or say nonsense, but nothing may break. */
#include <nestor/nestor.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char program_text[] =
  "workload g(M = 6, N = 4) { dim m = M, n = N tensor A, B, C : int8 C[m] += A[m, n] * B[n] }\n"
  "hardware h { memory D { energy = 3 pJ/B } memory L { capacity = 30 B } compute c }\n"
  "mapping x(tm = 2, tn = 2) of g on h { permute { for m by tm for n by tn } keep? A in L keep B, C in L }\n"
  "sweep s of x { tm in 1 .. M tn in divisors(N) where fits minimize energy, offchip / 3 pareto usage(L), offchip top "
  "4 }\n";

enum { STATES = 3, MOST = 1 << 16, CHANGES = 8 };

typedef struct {
  nestor_program *program;
  nestor_buffer *states[STATES]; /* the whole, and two parts */
} base;

static nestor_sweep *sweep_of(const nestor_program *p, uint64_t shard, uint64_t shards) {
  const nestor_sweep_options options = {.shard = shard, .shards = shards, .threads = 1, .no_kernel = true};
  return nestor_sweep_new(p, 0, &options);
}

static base make_base(void) {
  base b = {0};
  nestor_session *session = nestor_session_new();
  b.program = nestor_program_new(session, "p.nest", program_text, strlen(program_text), NESTOR_STAGE_CHECK);
  nestor_session_free(session);
  for (uint64_t i = 0; i < STATES; i++) {
    nestor_sweep *s = sweep_of(b.program, i ? i - 1 : 0, i ? 2 : 0);
    if (!s || nestor_sweep_run(s) != NESTOR_OK) abort();
    b.states[i] = nestor_buffer_new();
    nestor_sweep_save(s, b.states[i]);
    nestor_sweep_free(s);
  }
  return b;
}

/* ---- changes ---- */

static uint64_t get(const uint8_t *at) {
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v |= (uint64_t)at[i] << 8 * i;
  return v;
}

static void put(uint8_t *at, uint64_t v) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t checksum(const uint8_t *bytes, size_t size) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* Where what was found begins: it has a mark, its length before that, and a checksum of its own. */
static size_t result_at(const uint8_t *state, size_t size) {
  static const char mark[] = "NSTSWR1\n";
  for (size_t i = 8; i + 8 <= size; i++)
    if (!memcmp(state + i, mark, 8)) return i;
  return size;
}

static void make_right(uint8_t *state, size_t size) {
  const size_t at = result_at(state, size);
  if (at < size) {
    const uint64_t len = get(state + at - 8);
    if (len >= 16 && len <= size - at) put(state + at + len - 8, checksum(state + at, (size_t)len - 8));
  }
  if (size >= 8) put(state + size - 8, checksum(state, size - 8));
}

/* One change a five bytes: where (from the end or in what was found, where numbers are), what, with which value. */
static size_t change(uint8_t *state, size_t size, const uint8_t *d) {
  static const uint64_t odd[] = {0, 1, 2, 255, 1 << 16, UINT32_MAX, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
  const size_t from = d[0] & 1 ? 0 : result_at(state, size) % size;
  const size_t at = from + ((size_t)d[1] | (size_t)d[2] << 8) % (size - from);
  const size_t most = size - at, some = 1 + (size_t)d[4] % 64, len = some < most ? some : most;
  switch (d[3] % 6) {
  case 0: state[at] = d[4]; break;
  case 1: state[at] = (uint8_t)(state[at] + d[4]); break;
  case 2:
  case 3:
    if (at - at % 8 + 8 + from % 8 <= size) put(state + at - at % 8 + from % 8, odd[d[4] % (sizeof odd / sizeof *odd)]);
    break;
  case 4:
    if (size - len > 64) memmove(state + at, state + at + len, size - at - len);
    return size - len > 64 ? size - len : size;
  default:
    if (size + len > MOST) break;
    memmove(state + at + len, state + at, size - at);
    return size + len;
  }
  return size;
}

/* ---- use ---- */

static void show(nestor_sweep *s, nestor_buffer *out) {
  for (int f = 0; f < 3; f++) nestor_sweep_write(s, (nestor_format)f, f == 0, true, out);
  for (int list = 0; list < 2; list++)
    for (size_t i = 0; i < nestor_sweep_found(s, (nestor_found)list) && i < 8; i++) {
      nestor_sweep_mapping(s, (nestor_found)list, i, "y", out);
      nestor_sweep_param(s, (nestor_found)list, i, "tm");
    }
  nestor_sweep_emit(s, NULL, out);
  nestor_plot *plot = nestor_plot_new();
  if (nestor_plot_add(plot, s) == NESTOR_OK) nestor_plot_write(plot, out);
  nestor_plot_free(plot);
}

static void use(const base *b, const char *bytes, size_t size) {
  nestor_buffer *out = nestor_buffer_new();
  nestor_sweep *s = nestor_sweep_load(bytes, size, out);
  if (s) {
    show(s, out);
    for (int i = 0; i < STATES; i++)
      nestor_sweep_merge(s, nestor_buffer_data(b->states[i]), nestor_buffer_size(b->states[i]), out);
    nestor_buffer_clear(out);
    show(s, out);
  }
  nestor_sweep_free(s);
  for (uint64_t i = 0; i < STATES; i++) {
    s = sweep_of(b->program, i ? i - 1 : 0, i ? 2 : 0);
    nestor_buffer_clear(out);
    if (nestor_sweep_resume(s, bytes, size, out) == NESTOR_OK && nestor_sweep_run(s) == NESTOR_OK) show(s, out);
    nestor_sweep_free(s);
  }
  nestor_buffer_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static base b;
  if (!b.program) b = make_base();
  if (!size || size > MOST) return 0;
  if (data[0] % 2 == 0) use(&b, (const char *)data, size);
  const nestor_buffer *from = b.states[data[0] / 2 % STATES];
  uint8_t *state = malloc(MOST);
  if (!state) return 0;
  size_t n = nestor_buffer_size(from);
  memcpy(state, nestor_buffer_data(from), n);
  const size_t changes = size > 1 ? 1 + data[1] % CHANGES : 0;
  for (size_t i = 2, k = 0; i + 5 <= size && k < changes; i += 5, k++) n = change(state, n, data + i);
  make_right(state, n);
  uint8_t *exact = malloc(n); /* a sanitizer sees a read past the end */
  if (exact) {
    memcpy(exact, state, n);
    use(&b, (const char *)exact, n);
  }
  free(exact);
  free(state);
  return 0;
}
