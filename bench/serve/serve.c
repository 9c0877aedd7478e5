/* The HTTP side: reads whole requests, hands them to the judging thread, writes its answers.
 *
 * A request that wants judging is suspended and put in a queue; the judging thread takes in what is queued, judges some samples of each (judge.c), resumes
 * those that are done, and so on in turns. Who has gone is dropped before a turn; who has only ended what it sends gets its answer. What needs no judging is answered at once. Once the server ends,
 * nothing is suspended any more: the turn is finished, and what is not done then is answered with 503. Connections that wait for their client give
 * way to new ones where there are too many (clients.c). Only requests to a loopback name are
 * served, so that a page in a browser cannot reach the grader under a name of its own. */
#include "bench/serve/serve.h"

#include "bench/record/memory.h"
#include "bench/serve/clients.h"
#include "bench/serve/judge.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum {
  LARGEST_BODY = 1 << 28,
  CONNECTIONS = 1024,
  IDLE_SECONDS = 600,   /* between requests */
  ARRIVE_SECONDS = 10,  /* without a byte of a request that is not yet whole */
  GOODBYE_SECONDS = 5,  /* for writing the last answers */
  TURN = 256            /* samples */
};

typedef struct request request;
struct request {
  struct MHD_Connection *connection;
  int socket;
  char *body;
  size_t size, capacity;
  nst_judge_path path;
  bool too_large, old, queued, judged, gone;
  bool asked; /* whether somebody is there who sends no more */
  nst_judge_reply reply;
  nst_judge_job *job; /* of the judging thread */
  request *next;
};

struct nst_serve {
  struct MHD_Daemon *daemon;
  nst_judge *judge;
  nst_clients *clients; /* of libmicrohttpd's thread */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more, fewer;
  request *first, **last;
  size_t unwritten; /* requests that were queued and are not yet completed */
  bool ending;
};

/* ---- clients -------------------------------------------------------------- */

static nst_client *client_of(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static int socket_of(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void come_and_go(void *context, struct MHD_Connection *connection, void **client, enum MHD_ConnectionNotificationCode what) {
  nst_serve *s = context;
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    *client = nst_clients_add(s->clients, socket_of(connection));
  else
    nst_clients_remove(s->clients, *client);
}

/* How many may be connected. Each has a file descriptor; half of those are left to the workers, and to an eighth more connections that are being
 * closed or are told that there is no place. */
static size_t places(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 2 >= CONNECTIONS) return CONNECTIONS;
  return files.rlim_cur / 2;
}

/* ---- the judging thread --------------------------------------------------- */

static const char ending_text[] = "the server is ending";

/* Requests that are being judged, in the order they came. */
typedef struct { request **items; size_t n, capacity; } under_way;

/* Once resumed the request is the other thread's. */
static void let_go(request *r) {
  r->judged = true;
  MHD_resume_connection(r->connection);
}

static short happened(const request *r) {
  struct pollfd p = {r->socket, POLLRDHUP, 0};
  return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

/* The end of what a client sends looks the same whether it has gone or waits for its answer (shutdown(SHUT_WR)). So something is sent that any client
 * of HTTP/1.1 passes over: where nobody is there the connection is reset, and that is seen now or before the next turn. HTTP/1.0 knows nothing
 * of the kind; its clients count as being there. Nobody else writes to the connection: it is suspended. */
static bool has_gone(request *r) {
  static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
  short seen = happened(r);
  if (seen == POLLRDHUP && !r->asked && !r->old) {
    r->asked = true;
    send(r->socket, interim, sizeof interim - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    seen = happened(r);
  }
  return seen & (POLLHUP | POLLERR | POLLNVAL);
}

static void drop(request *r) {
  if (r->job) nst_judge_end(NULL, r->job);
  r->job = NULL;
  r->gone = true;
  let_go(r);
}

/* false: the server ends. */
static bool take_in(nst_serve *s, under_way *u) {
  pthread_mutex_lock(&s->lock);
  while (!u->n && !s->first && !s->ending) pthread_cond_wait(&s->more, &s->lock);
  request *all = s->first;
  s->first = NULL;
  s->last = &s->first;
  const bool goes_on = !s->ending;
  pthread_mutex_unlock(&s->lock);
  for (request *r = all, *next; r; r = next) {
    next = r->next;
    if (u->n == u->capacity) {
      u->capacity = 2 * u->capacity + 16;
      u->items = nst_memory_grow(u->items, u->capacity, sizeof(request *));
    }
    u->items[u->n++] = r;
  }
  return goes_on;
}

static void settle(nst_serve *s, under_way *u, nst_judge_job **jobs, bool goes_on) {
  size_t n = 0;
  for (size_t i = 0; i < u->n; i++) {
    request *r = u->items[i];
    if (has_gone(r)) {
      drop(r);
      continue;
    }
    if (!r->job && goes_on) {
      r->job = nst_judge_begin(s->judge, r->path, r->body, r->size);
      free(r->body);
      r->body = NULL;
    }
    const bool done = r->job && !nst_judge_left(r->job);
    if (done || !goes_on) {
      if (done) nst_judge_end(&r->reply, r->job);
      else {
        if (r->job) nst_judge_end(NULL, r->job);
        nst_judge_refuse(&r->reply, MHD_HTTP_SERVICE_UNAVAILABLE, ending_text);
      }
      r->job = NULL;
      let_go(r);
      continue;
    }
    jobs[n] = r->job;
    u->items[n++] = r;
  }
  u->n = n;
}

static void *judging(void *context) {
  nst_serve *s = context;
  under_way u = {0};
  for (bool goes_on = true; goes_on;) {
    goes_on = take_in(s, &u);
    nst_judge_job **jobs = nst_memory_new(u.n, sizeof *jobs);
    settle(s, &u, jobs, goes_on);
    if (u.n) nst_judge_turn(s->judge, jobs, u.n, TURN);
    free(jobs);
  }
  free(u.items);
  return NULL;
}

/* false: the server ends, and the request is still the caller's. */
static bool enqueue(nst_serve *s, request *r) {
  pthread_mutex_lock(&s->lock);
  const bool ending = s->ending;
  if (!ending) {
    nst_clients_note(s->clients, client_of(r->connection), NST_CLIENT_SERVED);
    MHD_suspend_connection(r->connection);
    r->queued = true;
    r->next = NULL;
    *s->last = r;
    s->last = &r->next;
    s->unwritten++;
    pthread_cond_signal(&s->more);
  }
  pthread_mutex_unlock(&s->lock);
  return !ending;
}

/* ---- requests ------------------------------------------------------------- */

static enum MHD_Result answer(nst_serve *s, struct MHD_Connection *connection, unsigned status, const char *type, char *text, size_t size) {
  struct MHD_Response *response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
  if (!response) return free(text), MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (status == MHD_HTTP_SERVICE_UNAVAILABLE) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  nst_clients_note(s->clients, client_of(connection), NST_CLIENT_READING);
  const enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result reply(nst_serve *s, struct MHD_Connection *connection, nst_judge_reply *r) {
  char *text = r->text;
  r->text = NULL;
  return answer(s, connection, r->status, r->lines ? "application/x-ndjson" : "application/json", text, r->size);
}

static enum MHD_Result refuse(nst_serve *s, struct MHD_Connection *connection, unsigned status, const char *why) {
  nst_judge_reply r;
  nst_judge_refuse(&r, status, why);
  return reply(s, connection, &r);
}

static bool is_loopback(const char *host) {
  if (!host) return true; /* HTTP/1.0: no browser */
  static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
  for (int i = 0; i < 3; i++) {
    const size_t n = strlen(names[i]);
    if (!strncasecmp(host, names[i], n) && (!host[n] || host[n] == ':')) return true;
  }
  return false;
}

static enum MHD_Result begin(nst_serve *s, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                             void **state) {
  static const struct { const char *url, *method; nst_judge_path path; } paths[] = {
    {"/grade", "POST", NST_JUDGE_GRADE}, {"/health", "GET", NST_JUDGE_HEALTH}, {"/reset", "POST", NST_JUDGE_RESET},
    {"/step", "POST", NST_JUDGE_STEP},   {"/state", "GET", NST_JUDGE_STATE}};
  if (!is_loopback(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
    return refuse(s, connection, MHD_HTTP_FORBIDDEN, "only requests to localhost are served");
  if (nst_clients_has_no_place(s->clients, client_of(connection)))
    return refuse(s, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests are being judged; send fewer at once, or later");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (strcmp(paths[i].url, url)) continue;
    if (strcmp(paths[i].method, method))
      return refuse(s, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "POST /grade, /reset and /step; GET /health and /state");
    request *r = nst_memory_new(1, sizeof *r);
    r->connection = connection;
    r->path = paths[i].path;
    r->socket = socket_of(connection);
    r->old = !strcmp(version, MHD_HTTP_VERSION_1_0);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)ARRIVE_SECONDS);
    *state = r;
    return MHD_YES;
  }
  return refuse(s, connection, MHD_HTTP_NOT_FOUND, "there are /grade, /health, /reset, /step and /state");
}

static void take(request *r, const char *bytes, size_t size) {
  if (r->too_large || r->size + size > LARGEST_BODY) {
    r->too_large = true;
    return;
  }
  if (r->size + size > r->capacity) {
    r->capacity = 2 * (r->size + size);
    r->body = nst_memory_grow(r->body, r->capacity, 1);
  }
  memcpy(r->body + r->size, bytes, size);
  r->size += size;
}

/* The request is whole. */
static enum MHD_Result act(nst_serve *s, request *r) {
  struct MHD_Connection *c = r->connection;
  MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
  if (r->gone) return MHD_NO;
  if (r->too_large) return refuse(s, c, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than 256 MiB; send smaller batches");
  if (r->judged) return reply(s, c, &r->reply);
  switch (r->path) {
    case NST_JUDGE_HEALTH: nst_judge_health(&r->reply, s->judge); return reply(s, c, &r->reply);
    case NST_JUDGE_STATE:
      nst_judge_state(&r->reply, s->judge, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "episode_id"));
      return reply(s, c, &r->reply);
    case NST_JUDGE_GRADE:
    case NST_JUDGE_RESET:
    case NST_JUDGE_STEP: break;
  }
  return enqueue(s, r) ? MHD_YES : refuse(s, c, MHD_HTTP_SERVICE_UNAVAILABLE, ending_text);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
  nst_serve *s = context;
  if (!*state) return begin(s, connection, url, method, version, state);
  request *r = *state;
  if (!*upload_size) return act(s, r);
  nst_clients_note(s->clients, client_of(connection), NST_CLIENT_SENDING);
  take(r, upload, *upload_size);
  *upload_size = 0;
  return MHD_YES;
}

static void completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
  (void)code;
  nst_serve *s = context;
  request *r = *state;
  nst_clients_note(s->clients, client_of(connection), NST_CLIENT_IDLE);
  if (!r) return;
  if (r->queued) {
    pthread_mutex_lock(&s->lock);
    s->unwritten--;
    pthread_cond_signal(&s->fewer);
    pthread_mutex_unlock(&s->lock);
  }
  free(r->reply.text);
  free(r->body);
  free(r);
  *state = NULL;
}

/* ---- the server ----------------------------------------------------------- */

nst_serve *nst_serve_new(nst_grading *grading, const nst_serve_options *options, char error[NST_RECORD_ERROR]) {
  nst_serve *s = nst_memory_new(1, sizeof *s);
  s->last = &s->first;
  s->judge = nst_judge_new(grading, options->task_ids, options->ntask_ids);
  const size_t room = places();
  s->clients = nst_clients_new(room);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->more, NULL);
  pthread_cond_init(&s->fewer, NULL);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options->port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, options->port, NULL, NULL, handle, s,
                               MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed, s,
                               MHD_OPTION_NOTIFY_CONNECTION, come_and_go, s,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)(room + room / 8), MHD_OPTION_CONNECTION_TIMEOUT,
                               (unsigned)ARRIVE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(256 << 10), MHD_OPTION_END);
  if (!s->daemon) snprintf(error, NST_RECORD_ERROR, "port %u of 127.0.0.1 cannot be listened on: it may be in use", options->port);
  else if (pthread_create(&s->thread, NULL, judging, s) == 0) return s;
  else {
    snprintf(error, NST_RECORD_ERROR, "no thread can be started");
    MHD_stop_daemon(s->daemon);
  }
  nst_judge_free(s->judge);
  nst_clients_free(s->clients);
  free(s);
  return NULL;
}

/* Answers are given to the other thread; this waits until it has written them, or somebody does not read. */
static void wait_until_written(nst_serve *s) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += GOODBYE_SECONDS;
  pthread_mutex_lock(&s->lock);
  while (s->unwritten && !pthread_cond_clockwait(&s->fewer, &s->lock, CLOCK_MONOTONIC, &end)) {}
  pthread_mutex_unlock(&s->lock);
}

void nst_serve_free(nst_serve *s) {
  if (!s) return;
  MHD_quiesce_daemon(s->daemon); /* no new connections; the listening socket is closed with the daemon */
  pthread_mutex_lock(&s->lock);
  s->ending = true;
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL); /* nothing is suspended any more, and nothing will be */
  wait_until_written(s);
  MHD_stop_daemon(s->daemon);
  nst_judge_free(s->judge);
  nst_clients_free(s->clients);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->more);
  pthread_cond_destroy(&s->fewer);
  free(s);
}

uint16_t nst_serve_port(const nst_serve *s) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
