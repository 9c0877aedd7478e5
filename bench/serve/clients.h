/* Who is connected, and who is closed to make room.
 *
 * A client holds one of a bounded number of places. Where a new one finds none, who has kept the server waiting longest
 * is closed: of those of whom a request is not yet whole, else of those between requests, else of those that do not
 * read their answer. Whose request is being judged is never closed; where all are, the new one has no place and is to
 * be told so. Used by one thread. */
#ifndef NST_BENCH_SERVE_CLIENTS_H
#define NST_BENCH_SERVE_CLIENTS_H
#include <stdbool.h>
#include <stddef.h>

/* The first three in the order in which they give way. */
typedef enum {
  NST_CLIENT_SENDING,
  NST_CLIENT_IDLE,
  NST_CLIENT_READING,
  NST_CLIENT_SERVED,
  NST_CLIENT_CLOSED
} nst_client_state;

typedef struct nst_clients nst_clients;
typedef struct nst_client nst_client;

nst_clients *nst_clients_new(size_t places);
void nst_clients_free(nst_clients *all);
/* A new one, sending; the socket is the caller's, who removes the client before it closes it. */
nst_client *nst_clients_add(nst_clients *all, int socket);
void nst_clients_remove(nst_clients *all, nst_client *client);
/* What it does from now on; the same again when it goes on with it. */
void nst_clients_note(nst_clients *all, nst_client *client, nst_client_state state);
/* Whether it came when nobody could be closed, and there is still no place. */
bool nst_clients_has_no_place(const nst_clients *all, const nst_client *client);
#endif
