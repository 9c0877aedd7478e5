/* The HTTP side: reads whole requests, hands them to the judging thread, writes its answers.
 *
 * A request that wants judging is suspended and put in a queue; the judging thread takes the whole queue, answers every request in
 * it (judge.c) and resumes them. What needs no judging is answered at once. Only requests to a loopback name are served, so that a page in a browser
 * cannot reach the grader under a name of its own. */
#include "bench/serve/serve.h"

#include "bench/record/memory.h"
#include "bench/serve/judge.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_BODY = 1 << 28, CONNECTIONS = 1024, IDLE_SECONDS = 600 };

typedef struct request request;
struct request {
  struct MHD_Connection *connection;
  char *body;
  size_t size, capacity;
  nst_judge_path path;
  bool judged, too_large;
  nst_judge_reply reply;
  request *next;
};

struct nst_serve {
  struct MHD_Daemon *daemon;
  nst_judge *judge;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more;
  request *first, **last;
  bool ending;
};

/* ---- the judging thread --------------------------------------------------- */

static void *judging(void *context) {
  nst_serve *s = context;
  for (;;) {
    pthread_mutex_lock(&s->lock);
    while (!s->first && !s->ending) pthread_cond_wait(&s->more, &s->lock);
    request *all = s->first;
    s->first = NULL;
    s->last = &s->first;
    pthread_mutex_unlock(&s->lock);
    if (!all) return NULL;
    size_t n = 0;
    for (request *r = all; r; r = r->next) n++;
    nst_judge_request *requests = nst_memory_new(n, sizeof *requests);
    size_t i = 0;
    for (request *r = all; r; r = r->next) requests[i++] = (nst_judge_request){r->path, r->body, r->size, &r->reply};
    nst_judge_run(s->judge, requests, n);
    free(requests);
    for (request *r = all, *next; r; r = next) {
      next = r->next; /* once resumed the request is the other thread's */
      r->judged = true;
      MHD_resume_connection(r->connection);
    }
  }
}

static void enqueue(nst_serve *s, request *r) {
  MHD_suspend_connection(r->connection);
  pthread_mutex_lock(&s->lock);
  r->next = NULL;
  *s->last = r;
  s->last = &r->next;
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
}

/* ---- requests ------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type, char *text, size_t size) {
  struct MHD_Response *response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
  if (!response) return free(text), MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  const enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why) {
  json_t *json = json_pack("{s:s}", "error", why);
  size_t size;
  char *text = nst_record_text(json, &size);
  json_decref(json);
  return answer(connection, status, "application/json", text, size);
}

static bool is_loopback(const char *host) {
  if (!host) return true; /* HTTP/1.0: no browser */
  static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
  for (int i = 0; i < 3; i++) {
    const size_t n = strlen(names[i]);
    if (!strncmp(host, names[i], n) && (!host[n] || host[n] == ':')) return true;
  }
  return false;
}

static enum MHD_Result begin(struct MHD_Connection *connection, const char *url, const char *method, void **state, bool *refused) {
  static const struct { const char *url, *method; nst_judge_path path; } paths[] = {
    {"/grade", "POST", NST_JUDGE_GRADE}, {"/health", "GET", NST_JUDGE_HEALTH}, {"/reset", "POST", NST_JUDGE_RESET},
    {"/step", "POST", NST_JUDGE_STEP},   {"/state", "GET", NST_JUDGE_STATE}};
  *refused = true;
  if (!is_loopback(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
    return refuse(connection, MHD_HTTP_FORBIDDEN, "only requests to localhost are served");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (strcmp(paths[i].url, url)) continue;
    if (strcmp(paths[i].method, method))
      return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "POST /grade, /reset and /step; GET /health and /state");
    request *r = nst_memory_new(1, sizeof *r);
    r->connection = connection;
    r->path = paths[i].path;
    *state = r;
    *refused = false;
    return MHD_YES;
  }
  return refuse(connection, MHD_HTTP_NOT_FOUND, "there are /grade, /health, /reset, /step and /state");
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

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state) {
  (void)version;
  nst_serve *s = context;
  if (!*state) {
    bool refused;
    return begin(connection, url, method, state, &refused);
  }
  request *r = *state;
  if (*upload_size) {
    take(r, upload, *upload_size);
    *upload_size = 0;
    return MHD_YES;
  }
  if (r->too_large) return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "the body is larger than 256 MiB; send smaller batches");
  if (!r->judged) {
    if (r->path == NST_JUDGE_STATE && !r->size) {
      const char *id = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "episode_id");
      if (id) take(r, id, strlen(id));
    }
    enqueue(s, r);
    return MHD_YES;
  }
  char *text = r->reply.text;
  r->reply.text = NULL;
  return answer(connection, r->reply.status, r->reply.lines ? "application/x-ndjson" : "application/json", text, r->reply.size);
}

static void completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
  (void)context;
  (void)connection;
  (void)code;
  request *r = *state;
  if (!r) return;
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
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->more, NULL);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(options->port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, options->port, NULL, NULL, handle, s,
                               MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                               (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(256 << 10), MHD_OPTION_END);
  if (!s->daemon) snprintf(error, NST_RECORD_ERROR, "port %u of 127.0.0.1 cannot be listened on: it may be in use", options->port);
  else if (pthread_create(&s->thread, NULL, judging, s) == 0) return s;
  else {
    snprintf(error, NST_RECORD_ERROR, "no thread can be started");
    MHD_stop_daemon(s->daemon);
  }
  nst_judge_free(s->judge);
  free(s);
  return NULL;
}

void nst_serve_free(nst_serve *s) {
  if (!s) return;
  MHD_quiesce_daemon(s->daemon); /* no new connections; the listening socket is closed with the daemon */
  pthread_mutex_lock(&s->lock);
  s->ending = true;
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL); /* nothing is suspended any more */
  MHD_stop_daemon(s->daemon);
  nst_judge_free(s->judge);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->more);
  free(s);
}

uint16_t nst_serve_port(const nst_serve *s) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
