/* A worker that misbehaves as the candidate says: what a supervisor must survive, done on purpose. Anything else is answered as a
 * syntax error with the message "fake". */
#include "bench/grade/wire.h"
#include "bench/record/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void send_bytes(const void *bytes, size_t size) {
  if (write(0, bytes, size) < 0) _exit(9);
}

static bool says(const char *text, size_t size, const char *word) { return memmem(text, size, word, strlen(word)) != NULL; }

static void reply(uint32_t number, uint8_t outcome, uint8_t kind) {
  nst_wire w = {0};
  const size_t begin = nst_wire_begin(&w, number);
  nst_wire_u8(&w, outcome);
  nst_wire_u8(&w, NST_STAGE_COMPILE);
  nst_wire_u8(&w, 0);
  nst_wire_u64(&w, 1);
  nst_wire_u32(&w, (uint32_t)NST_WIRE_NOWHERE);
  nst_wire_u32(&w, 1);
  nst_wire_u8(&w, outcome);
  nst_wire_text(&w, "E0101", 5);
  nst_wire_u32(&w, 1);
  nst_wire_u32(&w, 1);
  nst_wire_text(&w, "fake \xff", 6);
  nst_wire_text(&w, "", 0);
  nst_wire_u8(&w, kind);
  nst_wire_end(&w, begin);
  send_bytes(w.bytes, w.size);
  nst_wire_fini(&w);
}

static void misbehave(uint32_t number, const char *text, size_t size) {
  if (says(text, size, "SEGV")) signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
  else if (says(text, size, "ABORT")) abort();
  else if (says(text, size, "EXIT")) _exit(0);
  else if (says(text, size, "HANG")) for (;;) pause();
  else if (says(text, size, "GARBAGE")) send_bytes("{\"passed\":true}\n{\"passed\":true}\n", 32);
  else if (says(text, size, "OTHER")) reply(number + 1, NST_OUTCOME_SYNTAX, 0);
  else if (says(text, size, "PASSED")) reply(number, NST_OUTCOME_PASSED, 0);
  else if (says(text, size, "FIGURES")) reply(number, NST_OUTCOME_PASSED, 1);
  else if (says(text, size, "OUTCOME")) reply(number, 200, 0);
  else if (says(text, size, "FLOOD")) {
    static const char zeros[1 << 16];
    for (;;) send_bytes(zeros, sizeof zeros);
  } else if (says(text, size, "ENDLESS")) {
    static const uint32_t head[2] = {1 << 26, 0};
    static const char bytes[1 << 16];
    send_bytes(head, sizeof head);
    for (;;) send_bytes(bytes, sizeof bytes);
  } else reply(number, NST_OUTCOME_SYNTAX, 0);
}

int main(void) {
  nst_wire hello = {0}, in = {0};
  const size_t begin = nst_wire_begin(&hello, 0);
  nst_wire_u32(&hello, NST_WIRE_VERSION);
  nst_wire_text(&hello, "0.0.0", 5);
  nst_wire_u32(&hello, 1);
  nst_wire_text(&hello, "", 0);
  nst_wire_end(&hello, begin);
  send_bytes(hello.bytes, hello.size);
  nst_wire_fini(&hello);
  for (;;) {
    char *room = nst_wire_room(&in, 1 << 16);
    const ssize_t n = read(0, room, 1 << 16);
    if (n <= 0) return nst_wire_fini(&in), 0;
    in.size -= (1 << 16) - (size_t)n;
    nst_wire_reader r;
    uint32_t number;
    for (size_t whole; (whole = nst_wire_frame(&r, &number, in.bytes, in.size)) != 0; nst_wire_drop(&in, whole)) {
      size_t size;
      nst_wire_get(&r, 3 + 2 * sizeof(uint64_t));
      const char *text = nst_wire_get_text(&r, &size);
      misbehave(number, text, size);
    }
  }
}
