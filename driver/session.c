/* Sessions: settings, with their defaults; and the loader that reads files.
 *
 * Nothing is opened or looked up here: making a session costs two allocations,
 * so that `nestor check` starts in no time. */
#include "driver/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const nestor_limits defaults = {
  .source_bytes = UINT64_C(16) << 20,
  .simulate_work = UINT64_C(1) << 26,
  .verify_points = 100000000,
};

const char *nestor_version(void) { return NST_VERSION; }
int nestor_semantics(void) { return 1; }

nestor_session *nestor_session_new(void) {
  nestor_session *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  s->settings = (nst_settings){.stdlib = true, .limits = defaults};
  return s;
}

void nestor_session_free(nestor_session *session) {
  if (!session) return;
  free(session->settings.code_generator);
  free(session->settings.cache);
  free(session);
}

void nestor_session_set_stdlib(nestor_session *session, bool on) { session->settings.stdlib = on; }

void nestor_session_set_loader(nestor_session *session, nestor_loader *loader, void *context) {
  session->settings.loader = loader;
  session->settings.loader_context = context;
}

void nestor_session_set_limits(nestor_session *session, nestor_limits limits) {
  nestor_limits *own = &session->settings.limits;
  *own = limits;
  if (!own->source_bytes || own->source_bytes > defaults.source_bytes) own->source_bytes = defaults.source_bytes;
  if (!own->simulate_work) own->simulate_work = defaults.simulate_work;
  if (!own->verify_points) own->verify_points = defaults.verify_points;
}

void nestor_session_set_code_generator(nestor_session *session, const char *path) {
  free(session->settings.code_generator);
  session->settings.code_generator = path ? strdup(path) : NULL;
  if (path && !session->settings.code_generator) nst_out_of_memory();
}

void nestor_session_set_cache(nestor_session *session, const char *directory) {
  free(session->settings.cache);
  session->settings.cache = directory ? strdup(directory) : NULL;
  session->settings.user_cache = !directory;
  if (directory && !session->settings.cache) nst_out_of_memory();
}

nst_jit_status nst_settings_jit(nst_jit **out, const nst_settings *settings, nst_buffer *error) {
  const nst_jit_status status = nst_jit_new(out, settings->code_generator, error);
  if (status == NST_JIT_OK && (settings->user_cache || settings->cache)) nst_jit_use_cache(*out, settings->cache);
  return status;
}

static bool refuse(nestor_buffer *out, const char *reason) {
  nestor_buffer_clear(out);
  nestor_buffer_append(out, reason, strlen(reason));
  return false;
}

bool nestor_load_file(void *context, const char *path, nestor_buffer *out) {
  (void)context;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return refuse(out, strerror(errno));
  struct stat info;
  int error = fstat(fd, &info) == 0 ? 0 : errno;
  if (!error && S_ISDIR(info.st_mode)) error = EISDIR;
  if (!error && !S_ISREG(info.st_mode)) {
    close(fd);
    return refuse(out, "not a regular file");
  }
  char chunk[1 << 14];
  while (!error) {
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n == 0) break;
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) nestor_buffer_append(out, chunk, (size_t)n);
    if (nestor_buffer_size(out) > defaults.source_bytes) error = EFBIG;
  }
  close(fd);
  return error ? refuse(out, strerror(error)) : true;
}
