/* Reasons, found again by their text without its figures. */
#include "bench/record/reasons.h"

#include "bench/record/memory.h"
#include "bench/record/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 240 };

/* In place: '#' for each run of digits, with what stands between digits. */
static void drop_figures(char *text) {
  char *to = text;
  for (const char *c = text; *c;) {
    if (!isdigit((unsigned char)*c)) {
      *to++ = *c++;
      continue;
    }
    while (isdigit((unsigned char)*c) || ((*c == '.' || *c == ',') && isdigit((unsigned char)c[1]))) c++;
    *to++ = '#';
  }
  *to = '\0';
}

void nst_reasons_add(nst_reasons *all, const char *text) {
  char shown[LONGEST], key[LONGEST];
  nst_text_quote(shown, sizeof shown, text);
  strcpy(key, shown);
  drop_figures(key);
  if (!all->index) all->index = json_object();
  const json_t *known = json_object_get(all->index, key);
  if (known) {
    all->items[json_integer_value(known)].n++;
    return;
  }
  if ((all->n & (all->n - 1)) == 0)
    all->items = nst_memory_grow(all->items, all->n ? 2 * all->n : 1, sizeof *all->items);
  json_object_set_new(all->index, key, json_integer((json_int_t)all->n));
  all->items[all->n++] = (nst_reason){nst_memory_text(shown, strlen(shown)), 1};
}

static int by_count(const void *a, const void *b) {
  const nst_reason *x = a, *y = b;
  return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->text, y->text);
}

void nst_reasons_sort(nst_reasons *all) {
  if (all->n) qsort(all->items, all->n, sizeof *all->items, by_count);
  json_decref(all->index);
  all->index = NULL;
}

void nst_reasons_fini(nst_reasons *all) {
  for (size_t i = 0; i < all->n; i++) free(all->items[i].text);
  free(all->items);
  json_decref(all->index);
  *all = (nst_reasons){0};
}
