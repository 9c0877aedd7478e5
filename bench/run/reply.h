/* What a server's answer means: samples, or what to do instead.
 *
 * Thinking (reasoning_content, reasoning, thinking blocks, <think>) never stays in the completion. Ways of ending are
 * stop, length, refusal, content_filter, tool_calls and empty (no choice at all); others keep the server's word. Texts
 * for people are one line, without control characters. */
#ifndef NST_BENCH_RUN_REPLY_H
#define NST_BENCH_RUN_REPLY_H
#include "bench/run/settings.h"

typedef enum {
  NST_REPLY_ANSWERED, /* choices are there */
  NST_REPLY_AGAIN,    /* the server's trouble: to be tried again, slower */
  NST_REPLY_LIMITED,  /* 429: to be tried again when it says */
  NST_REPLY_BAD,      /* this request is refused, repeating it is no use */
  NST_REPLY_STOP,     /* all requests will be refused */
} nst_reply_kind;

enum { NST_REPLY_TEXT = 400 };
typedef struct {
  nst_reply_kind kind;
  json_t *choices; /* an array of the members completion, raw, reasoning, refusal, finish_reason; the owner ends it */
  json_t *usage;   /* input_tokens, output_tokens, reasoning_tokens where known, or NULL */
  char served[96], fingerprint[96]; /* the model that answered, what it runs on ("system_fingerprint"), or "" */
  char text[NST_REPLY_TEXT], param[64], code[64]; /* what a refusal says */
} nst_reply;

/* status: of HTTP. secret: what may stand in no text of it; NULL: nothing. The body's bytes are struck already. */
void nst_reply_read(nst_reply *out, nst_dialect dialect, long status, const char *body, size_t size,
                    const char *secret);
void nst_reply_fini(nst_reply *reply);
/* One line without control characters and broken UTF-8, cut with "..". */
void nst_reply_line(char *out, size_t room, const char *text, size_t size);
#endif
