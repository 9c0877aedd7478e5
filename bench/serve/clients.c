/* Clients in one list for each state in which they may give way, the longest in it first. */
#include "bench/serve/clients.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { LISTS = NST_CLIENT_READING + 1 };

struct nst_client {
  int socket;
  nst_client_state state;
  bool beyond; /* came when nobody could be closed */
  nst_client *before, *after;
};

struct nst_clients {
  size_t places, n; /* n: who is not closed */
  nst_client *first[LISTS], *last[LISTS];
};

nst_clients *nst_clients_new(size_t places) {
  nst_clients *all = nst_memory_new(1, sizeof *all);
  all->places = places;
  return all;
}

void nst_clients_free(nst_clients *all) { free(all); }

static void take_out(nst_clients *all, nst_client *c) {
  if ((int)c->state >= LISTS) return;
  *(c->before ? &c->before->after : &all->first[c->state]) = c->after;
  *(c->after ? &c->after->before : &all->last[c->state]) = c->before;
}

static void put_last(nst_clients *all, nst_client *c, nst_client_state state) {
  c->state = state;
  if ((int)state >= LISTS) return;
  c->before = all->last[state];
  c->after = NULL;
  *(c->before ? &c->before->after : &all->first[state]) = c;
  all->last[state] = c;
}

void nst_clients_note(nst_clients *all, nst_client *client, nst_client_state state) {
  if (client->state == NST_CLIENT_CLOSED) return;
  take_out(all, client);
  put_last(all, client, state);
  if (state == NST_CLIENT_CLOSED) all->n--;
}

/* Who owns the socket sees its end and closes it. */
static bool close_one(nst_clients *all) {
  for (int i = 0; i < LISTS; i++) {
    nst_client *c = all->first[i];
    if (!c) continue;
    shutdown(c->socket, SHUT_RDWR);
    nst_clients_note(all, c, NST_CLIENT_CLOSED);
    return true;
  }
  return false;
}

nst_client *nst_clients_add(nst_clients *all, int socket) {
  nst_client *c = nst_memory_new(1, sizeof *c);
  c->socket = socket;
  c->beyond = ++all->n > all->places && !close_one(all);
  put_last(all, c, NST_CLIENT_SENDING);
  return c;
}

void nst_clients_remove(nst_clients *all, nst_client *client) {
  nst_clients_note(all, client, NST_CLIENT_CLOSED);
  free(client);
}

bool nst_clients_has_no_place(const nst_clients *all, const nst_client *client) {
  return client->beyond && all->n > all->places;
}
