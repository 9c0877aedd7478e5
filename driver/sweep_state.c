/* A sweep as bytes: for checkpoints, for the parts of a job, to look at later.
 *
 * The bytes hold the texts of the program (those of the standard library belong
 * to the version), the options that decide which units there are, the units done
 * and what they found; a checksum ends them. So they say for themselves what
 * they belong to: a sweep goes on only from its own, refuses others by name, and
 * parts become an answer without the files they came from. */
#include "base/bytes.h"
#include "driver/sweep.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 200 };
static const char magic[] = "nestor.sweep.part/1\n";

/* ---- writing ---- */

static void put_text(nst_buffer *out, const char *text, size_t len) {
  nst_bytes_put(out, len);
  nst_buffer_add(out, text, len);
}

static void put_units(nst_buffer *out, const nst_unit_set *s) {
  nst_bytes_put(out, s->n);
  for (size_t i = 0; i < s->n; i++) {
    nst_bytes_put(out, s->items[i].begin);
    nst_bytes_put(out, s->items[i].end);
  }
}

static bool is_own_text(const nst_source *source) { return strncmp(source->name, "std.", 4) != 0; }

static void put_sources(nst_buffer *out, const nestor_program *p) {
  uint64_t n = 0;
  for (uint32_t i = 1; nst_sources_get(p->sources, i); i++) n += is_own_text(nst_sources_get(p->sources, i));
  nst_bytes_put(out, n);
  for (uint32_t i = 1; nst_sources_get(p->sources, i); i++) {
    const nst_source *source = nst_sources_get(p->sources, i);
    if (!is_own_text(source)) continue;
    put_text(out, source->name, strlen(source->name));
    put_text(out, source->text, source->len);
  }
}

/* What the units belong to. */
static void put_head(nst_buffer *out, const nestor_sweep *s) {
  nst_buffer_add(out, magic, sizeof magic - 1);
  put_text(out, nestor_version(), strlen(nestor_version()));
  nst_bytes_put(out, (uint64_t)nestor_semantics());
  put_sources(out, s->program);
  put_text(out, s->ir->name, strlen(s->ir->name));
  nst_bytes_put(out, s->options.no_prune);
  nst_bytes_put(out, s->options.limit);
  nst_bytes_put(out, s->options.sample);
  nst_bytes_put(out, s->options.seed);
  nst_bytes_put(out, s->options.shard);
  nst_bytes_put(out, s->options.shards);
  const char *engine = s->engine_name ? s->engine_name : "";
  put_text(out, engine, strlen(engine));
  nst_bytes_put(out, s->engine_units);
  nst_bytes_put(out, s->engine_space);
  nst_bytes_put(out, s->whole);
  nst_bytes_put(out, s->job.count);
}

uint64_t nst_sweep_fingerprint(const nestor_sweep *s) {
  nst_buffer head = {0};
  put_head(&head, s);
  const uint64_t h = nst_bytes_checksum(head.text, head.len);
  nst_buffer_fini(&head);
  return h ? h : 1;
}

void nestor_sweep_save(nestor_sweep *s, nestor_buffer *buffer) {
  nst_buffer *out = &buffer->text;
  const size_t begin = out->len;
  put_head(out, s);
  put_units(out, &s->done);
  nst_buffer result = {0};
  nst_sweep_result_save(s->found, &result);
  put_text(out, result.text, result.len);
  nst_buffer_fini(&result);
  nst_bytes_put(out, nst_bytes_checksum(out->text + begin, out->len - begin));
}

/* ---- reading ---- */

typedef struct {
  const char *text;
  size_t len;
} piece;
typedef struct {
  piece version, sweep, engine, result;
  uint64_t semantics, nsources, no_prune, limit, sample, seed, shard, shards, units, space, whole, count;
  piece *names, *texts; /* [nsources] */
  nst_unit_set done;
} state;

static piece get_text(nst_reader *in) {
  const uint64_t len = nst_reader_get(in);
  if (in->bad || len > in->left) {
    in->bad = true;
    return (piece){"", 0};
  }
  const piece p = {(const char *)in->at, (size_t)len};
  in->at += len;
  in->left -= (size_t)len;
  return p;
}

static void state_fini(state *st) {
  free(st->names);
  free(st->texts);
  nst_unit_set_fini(&st->done);
}

static void read_body(state *st, nst_reader *in) {
  st->version = get_text(in);
  st->semantics = nst_reader_get(in);
  st->nsources = nst_reader_get(in);
  if (in->bad || st->nsources > in->left / 16) {
    in->bad = true;
    return;
  }
  st->names = calloc((size_t)st->nsources + 1, sizeof *st->names);
  st->texts = calloc((size_t)st->nsources + 1, sizeof *st->texts);
  if (!st->names || !st->texts) nst_out_of_memory();
  for (uint64_t i = 0; i < st->nsources; i++) {
    st->names[i] = get_text(in);
    st->texts[i] = get_text(in);
  }
  st->sweep = get_text(in);
  st->no_prune = nst_reader_get(in);
  st->limit = nst_reader_get(in);
  st->sample = nst_reader_get(in);
  st->seed = nst_reader_get(in);
  st->shard = nst_reader_get(in);
  st->shards = nst_reader_get(in);
  st->engine = get_text(in);
  st->units = nst_reader_get(in);
  st->space = nst_reader_get(in);
  st->whole = nst_reader_get(in);
  st->count = nst_reader_get(in);
  const uint64_t n = nst_reader_get(in);
  if (in->bad || n > in->left / 16) {
    in->bad = true;
    return;
  }
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t begin = nst_reader_get(in), end = nst_reader_get(in);
    in->bad = in->bad || begin >= end || end > st->count;
    if (!in->bad) nst_unit_set_add(&st->done, begin, end);
  }
  st->result = get_text(in);
  in->bad = in->bad || in->left || (st->shards ? st->shard >= st->shards : st->shard != 0);
}

static bool refuse(nestor_buffer *error, const char *text) {
  if (error) nst_buffer_puts(&error->text, text);
  return false;
}

static bool is_piece(piece p, const char *text) { return p.len == strlen(text) && !memcmp(p.text, text, p.len); }

/* Text of a foreign file as it may be shown to people: not too long, and nothing that a terminal obeys. */
static const char *shown(char out[static SHOWN], piece p) {
  size_t n = 0;
  for (; n < p.len && n + 1 < SHOWN; n++) out[n] = p.text[n] >= ' ' && p.text[n] < 127 ? p.text[n] : '?';
  out[n] = '\0';
  return out;
}

/* false: the reason in `error`. */
static bool read_state(state *st, const char *bytes, size_t size, nestor_buffer *error) {
  char text[SHOWN];
  *st = (state){0};
  if (size < sizeof magic - 1 || memcmp(bytes, magic, sizeof magic - 1))
    return refuse(error, size && size < sizeof magic && !memcmp(bytes, magic, size) ? "it is torn"
                                                                                    : "it is not the state of a sweep");
  nst_reader tail = nst_reader_make(bytes + size - 8, 8);
  if (size < sizeof magic + 8 || nst_reader_get(&tail) != nst_bytes_checksum(bytes, size - 8))
    return refuse(error, "it is torn or damaged");
  nst_reader in = nst_reader_make(bytes + sizeof magic - 1, size - 8 - (sizeof magic - 1));
  read_body(st, &in);
  if (in.bad) {
    state_fini(st);
    return refuse(error, "it is damaged");
  }
  if (is_piece(st->version, nestor_version()) && st->semantics == (uint64_t)nestor_semantics()) return true;
  if (error)
    nst_buffer_printf(&error->text, "it is of version %s, and this is nestor %s", shown(text, st->version),
                      nestor_version());
  state_fini(st);
  return false;
}

/* ---- what belongs to what ---- */

static const nst_source *own_source(const nestor_program *p, piece name) {
  for (uint32_t i = 1; nst_sources_get(p->sources, i); i++)
    if (is_piece(name, nst_sources_get(p->sources, i)->name)) return nst_sources_get(p->sources, i);
  return NULL;
}

/* Main texts may have been given under different names; what is used may not. */
static bool same_program(const nestor_program *p, const state *st, nestor_buffer *error) {
  char text[SHOWN];
  uint64_t own = 0;
  for (uint32_t i = 1; nst_sources_get(p->sources, i); i++) own += is_own_text(nst_sources_get(p->sources, i));
  for (uint64_t i = 0; i < st->nsources; i++) {
    const nst_source *source = i ? own_source(p, st->names[i]) : nst_sources_get(p->sources, p->source);
    if (source && own == st->nsources && source->len == st->texts[i].len &&
        !memcmp(source->text, st->texts[i].text, source->len))
      continue;
    if (error) nst_buffer_printf(&error->text, "it is of another program: %s differs", shown(text, st->names[i]));
    return false;
  }
  return own == st->nsources || refuse(error, "it is of another program");
}

static bool same_sweep(const nestor_sweep *s, const state *st, nestor_buffer *error) {
  char text[SHOWN];
  if (!same_program(s->program, st, error)) return false;
  if (!is_piece(st->sweep, s->ir->name)) {
    if (error) nst_buffer_printf(&error->text, "it is of the sweep %s", shown(text, st->sweep));
    return false;
  }
  const nestor_sweep_options *o = &s->options;
  if (st->no_prune != o->no_prune)
    return refuse(error, st->no_prune ? "it was made without pruning" : "it was made with pruning");
  if (st->limit != o->limit) return refuse(error, "it was made with another limit");
  if (st->sample != o->sample || (o->sample && st->seed != o->seed))
    return refuse(error, "it was made with another sample");
  return true;
}

static nst_sweep_result *result_of(const nestor_sweep *s, const state *st, nestor_buffer *error) {
  nst_sweep_result *r = nst_sweep_result_load(s->shape, st->result.text, st->result.len);
  if (!r) refuse(error, "it is damaged");
  return r;
}

nestor_status nestor_sweep_resume(nestor_sweep *s, const char *bytes, size_t size, nestor_buffer *error) {
  state st;
  char text[SHOWN];
  if (!nst_sweep_make_engine(s)) {
    refuse(error, "the sweep itself is wrong");
    return s->status;
  }
  if (!read_state(&st, bytes, size, error)) return NESTOR_USAGE;
  bool good = same_sweep(s, &st, error);
  const uint64_t shards = st.shards > 1 ? st.shards : 0, own = s->options.shards > 1 ? s->options.shards : 0;
  if (good && (shards != own || (shards && st.shard != s->options.shard)))
    good = refuse(error, "it is of another shard");
  if (good && (!is_piece(st.engine, s->engine_name) || st.units != s->engine_units || st.count != s->job.count)) {
    if (error)
      nst_buffer_printf(&error->text, "it was made by the engine %s with %llu units, and this is %s with %llu",
                        shown(text, st.engine), (unsigned long long)st.units, s->engine_name,
                        (unsigned long long)s->engine_units);
    good = false;
  }
  nst_sweep_result *found = good ? result_of(s, &st, error) : NULL;
  if (found) {
    nst_sweep_result_free(s->found);
    s->found = found;
    nst_unit_set_fini(&s->done);
    nst_unit_set_merge(&s->done, &st.done);
  }
  state_fini(&st);
  return found ? NESTOR_OK : NESTOR_USAGE;
}

/* ---- sweeps from bytes ---- */

/* Gives a program the texts that came with the bytes. */
static bool load_text(void *context, const char *path, nestor_buffer *out) {
  const state *st = context;
  for (uint64_t i = 0; i < st->nsources; i++) {
    if (!is_piece(st->names[i], path)) continue;
    nestor_buffer_append(out, st->texts[i].text, st->texts[i].len);
    return true;
  }
  return refuse(out, "it is not among the texts");
}

static nestor_sweep *sweep_of(state *st, nestor_buffer *error) {
  nestor_session *session = nestor_session_new();
  nestor_session_set_loader(session, load_text, st);
  nestor_buffer name = {{0}};
  nst_buffer_add(&name.text, st->names[0].text, st->names[0].len);
  nestor_program *p =
    nestor_program_new(session, name.text.text, st->texts[0].text, st->texts[0].len, NESTOR_STAGE_CHECK);
  nst_buffer_fini(&name.text);
  p->settings.loader = NULL;
  nestor_session_free(session);
  nst_buffer sweep = {0};
  nst_buffer_add(&sweep, st->sweep.text, st->sweep.len);
  const size_t index = nestor_program_find_sweep(p, sweep.text ? sweep.text : "");
  nst_buffer_fini(&sweep);
  const nestor_sweep_options options = {.no_prune = st->no_prune != 0,
                                        .limit = st->limit,
                                        .sample = st->sample,
                                        .seed = st->seed,
                                        .shards = st->shards > 1 ? st->shards : 1};
  nestor_sweep *s = nestor_sweep_new(p, index, &options);
  if (!s || s->status != NESTOR_OK) {
    refuse(error, "its program is wrong");
    if (s)
      s->own = p;
    else
      nestor_program_free(p);
    nestor_sweep_free(s);
    return NULL;
  }
  s->own = p;
  s->engine_name = nst_arena_strndup(s->arena, st->engine.text, st->engine.len);
  s->engine_units = st->units;
  s->engine_space = st->space;
  s->whole = st->whole != 0;
  s->shards_done = calloc((size_t)options.shards, sizeof *s->shards_done);
  s->shards_there = calloc((size_t)options.shards, sizeof *s->shards_there);
  if (!s->shards_done || !s->shards_there) nst_out_of_memory();
  return s;
}

static bool add_part(nestor_sweep *s, const state *st, nestor_buffer *error) {
  const uint64_t shards = st->shards > 1 ? st->shards : 1;
  if (!same_sweep(s, st, error)) return false;
  if (shards != s->options.shards) {
    if (error)
      nst_buffer_printf(&error->text, "it is one of %llu parts, and the others are of %llu", (unsigned long long)shards,
                        (unsigned long long)s->options.shards);
    return false;
  }
  if (!is_piece(st->engine, s->engine_name) || st->units != s->engine_units)
    return refuse(error, "it was made by another engine than the others");
  if (s->shards_there[st->shard]) {
    if (error)
      nst_buffer_printf(&error->text, "part %llu/%llu is there already", (unsigned long long)st->shard,
                        (unsigned long long)shards);
    return false;
  }
  nst_sweep_result *found = result_of(s, st, error);
  if (!found) return false;
  nst_sweep_result_merge(s->found, found);
  nst_sweep_result_free(found);
  nst_unit_set_merge(&s->shards_done[st->shard], &st->done);
  s->shards_there[st->shard] = true;
  return true;
}

enum { SHARDS_MAX = 1 << 20 };

nestor_sweep *nestor_sweep_load(const char *bytes, size_t size, nestor_buffer *error) {
  state st;
  if (!read_state(&st, bytes, size, error)) return NULL;
  nestor_sweep *s = NULL;
  if (st.nsources && st.shards <= SHARDS_MAX)
    s = sweep_of(&st, error);
  else
    refuse(error, "it is damaged");
  if (s && !add_part(s, &st, error)) {
    nestor_sweep_free(s);
    s = NULL;
  }
  state_fini(&st);
  return s;
}

nestor_status nestor_sweep_merge(nestor_sweep *s, const char *bytes, size_t size, nestor_buffer *error) {
  state st;
  if (!s->shards_done || !read_state(&st, bytes, size, error)) return NESTOR_USAGE;
  const bool good = add_part(s, &st, error);
  state_fini(&st);
  return good ? NESTOR_OK : NESTOR_USAGE;
}
