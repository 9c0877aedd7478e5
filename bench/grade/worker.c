/* Starting by posix_spawn, which shares no state of the host with the child: an empty environment, no signal blocked or ignored, a process group of
 * its own, the socket as its only descriptor that is not closed on exec or by the worker itself. */
#include "bench/grade/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

enum { HELLO_MS = 30000, CHUNK = 1 << 16, MOST_CHUNKS = 16 };

/* ---- finding -------------------------------------------------------------- */

static bool is_program(const char *path) { return access(path, X_OK) == 0; }

static bool beside(char *path, size_t size, const char *file) {
  static const char *const places[] = {"nestor-grade-worker", "nestor/nestor-grade-worker", "../lib/nestor/nestor-grade-worker",
                                       "../../lib/nestor/nestor-grade-worker"};
  const char *slash = strrchr(file, '/');
  if (!slash) return false;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const int n = snprintf(path, size, "%.*s/%s", (int)(slash - file), file, places[i]);
    if (n > 0 && (size_t)n < size && is_program(path)) return true;
  }
  return false;
}

bool nst_worker_find(char *path, size_t size) {
  char self[PATH_MAX];
  Dl_info info;
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (dladdr((void *)(uintptr_t)&nst_worker_find, &info) && info.dli_fname && beside(path, size, info.dli_fname)) return true;
  if (n > 0) {
    self[n] = '\0';
    if (beside(path, size, self)) return true;
  }
  snprintf(path, size, "%s/nestor-grade-worker", NST_WORKER_DIRECTORY);
  return is_program(path);
}

/* ---- starting ------------------------------------------------------------- */

static int spawn(pid_t *pid, const char *path, int fd) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, fd, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  /* A signal on the parent's death comes when the thread that started the child ends: only the main thread may ask for it. */
  char name[] = "nestor-grade-worker", with_parent[] = "-p";
  char *const argv[] = {name, gettid() == getpid() ? with_parent : NULL, NULL}, *const environment[] = {NULL};
  const int fail = posix_spawn(pid, path, &files, &attributes, argv, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return fail;
}

static bool read_hello(nst_worker *w, nst_worker_hello *hello, char *error) {
  nst_wire_reader r;
  uint32_t number;
  size_t whole;
  while (!(whole = nst_wire_frame(&r, &number, w->in.bytes, w->in.size))) {
    struct pollfd p = {w->fd, POLLIN, 0};
    const int n = poll(&p, 1, HELLO_MS);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0 && nst_worker_receive(w)) continue;
    snprintf(error, NST_RECORD_ERROR, n ? "the worker ended before it said anything" : "the worker says nothing");
    return false;
  }
  size_t size = 0, nversion = 0;
  const uint32_t wire = whole == SIZE_MAX ? 0 : nst_wire_get_u32(&r);
  const char *version = wire ? nst_wire_get_text(&r, &nversion) : "";
  hello->rules = wire ? nst_wire_get_u32(&r) : 0;
  const char *why = wire ? nst_wire_get_text(&r, &size) : "";
  snprintf(hello->version, sizeof hello->version, "%.*s", (int)(nversion < 31 ? nversion : 31), version);
  if (size) snprintf(error, NST_RECORD_ERROR, "%.*s", (int)(size < 200 ? size : 200), why);
  else if (wire != NST_WIRE_VERSION || !r.ok) snprintf(error, NST_RECORD_ERROR, "the worker is of another version");
  else return nst_wire_drop(&w->in, whole), true;
  return false;
}

bool nst_worker_start(nst_worker *w, nst_worker_hello *hello, const char *path, char error[NST_RECORD_ERROR]) {
  int ends[2];
  w->in.size = w->out.size = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    snprintf(error, NST_RECORD_ERROR, "cannot make a socket: %s", strerror(errno));
    return false;
  }
  /* Larger buffers mean fewer turns; what the system refuses is not needed. */
  const int bytes = 1 << 20;
  for (int i = 0; i < 2; i++) setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  const int fail = spawn(&w->pid, path, ends[1]);
  close(ends[1]);
  w->fd = ends[0];
  if (fail) {
    w->pid = 0;
    close(w->fd);
    snprintf(error, NST_RECORD_ERROR, "cannot start %.150s: %s", path, strerror(fail));
    return false;
  }
  fcntl(w->fd, F_SETFL, O_NONBLOCK);
  if (read_hello(w, hello, error)) return true;
  nst_worker_stop(w);
  return false;
}

int nst_worker_stop(nst_worker *w) {
  if (!w->pid) return 0;
  close(w->fd);
  int status = 0, signal_before = 0;
  /* Before it is told to end: did it end already? Its socket may close a moment before it can be waited for. */
  siginfo_t info = {0};
  const bool ended = waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == w->pid;
  if (!ended) kill(-w->pid, SIGKILL), kill(w->pid, SIGKILL);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status)) signal_before = WTERMSIG(status);
  if (ended) kill(-w->pid, SIGKILL); /* what it may have started, though it can start nothing */
  w->pid = 0;
  return signal_before;
}

void nst_worker_leave(nst_worker *w) {
  if (w->pid) close(w->fd);
  w->pid = 0;
}

/* ---- the socket ----------------------------------------------------------- */

bool nst_worker_send(nst_worker *w) {
  size_t done = 0;
  while (done < w->out.size) {
    const ssize_t n = send(w->fd, w->out.bytes + done, w->out.size - done, MSG_NOSIGNAL);
    if (n >= 0) done += (size_t)n;
    else if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    else if (errno != EINTR) return false;
  }
  nst_wire_drop(&w->out, done);
  return true;
}

bool nst_worker_receive(nst_worker *w) {
  for (int chunks = 0; chunks < MOST_CHUNKS; chunks++) { /* then what has come is looked at: a flood is no frame */
    uint8_t *room = nst_wire_room(&w->in, CHUNK);
    const ssize_t n = recv(w->fd, room, CHUNK, 0);
    w->in.size -= CHUNK - (n > 0 ? (size_t)n : 0);
    if (n == CHUNK) continue;
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
    if (errno != EINTR) return false;
  }
  return true;
}
