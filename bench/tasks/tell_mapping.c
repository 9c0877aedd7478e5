/* Mappings in words, as loops in pseudo-code, and as a table. */
#include "bench/tasks/draft.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  char text[160];
} phrase;

static phrase tensors(const nst_draft *d, unsigned set) {
  phrase p = {""};
  if (set == ~0u) return (phrase){"all tensors"};
  for (int t = 0; t < d->ntensors; t++) {
    if (!(set >> t & 1)) continue;
    const size_t n = strlen(p.text);
    snprintf(p.text + n, sizeof p.text - n, "%s%s", n ? ", " : "", d->tensors[t].name);
  }
  return p;
}

static phrase outs(const nst_draft *d, unsigned statements) {
  unsigned set = 0;
  for (int s = 0; s < d->nstatements; s++)
    if (statements >> s & 1) set |= 1u << d->statements[s].out;
  return tensors(d, set);
}

static phrase tile(const nst_draft_mapping *m, nst_draft_tile t) {
  phrase p;
  if (t.param >= 0)
    snprintf(p.text, sizeof p.text, "%s", m->params[t.param].name);
  else
    snprintf(p.text, sizeof p.text, "%lld", (long long)t.value);
  return p;
}

static phrase place(const nst_draft *d, const nst_draft_node *node) {
  phrase p;
  snprintf(p.text, sizeof p.text, "%s.%s", d->levels[node->level].name, d->levels[node->level].axis[node->axis]);
  return p;
}

/* In a cascade, keep all means all but what is kept further in above the branches. */
static const char *everything(const nst_draft *d, unsigned set) {
  return set == ~0u && nst_draft_is_cascade(d) ? " (but no intermediate that stays on chip)" : "";
}

static void in_prose(const nst_draft *d, const nst_draft_mapping *m, nestor_buffer *b) {
  bool first = true, branch = false;
  for (int i = 0; i < m->nnodes; i++) {
    const nst_draft_node *node = &m->nodes[i];
    const char *then = first ? (branch ? "In it," : "Outermost,") : "Inside that,";
    switch (node->kind) {
    case NST_NODE_FOR:
      if (node->into)
        nst_text_add(b, "%s a loop splits %s into %s tiles, one after another.\n", then, d->dims[node->dim].name,
                     tile(m, node->tile).text);
      else
        nst_text_add(b, "%s a loop goes over %s in tiles of %s.\n", then, d->dims[node->dim].name,
                     tile(m, node->tile).text);
      break;
    case NST_NODE_PAR:
      nst_text_add(b, "%s %s is spread in equal parts over all places of the axis %s.\n", then, d->dims[node->dim].name,
                   place(d, node).text);
      break;
    case NST_NODE_KEEP:
      nst_text_add(b, "%s %s%s %s held in %s.\n", then, tensors(d, node->tensors).text, everything(d, node->tensors),
                   strchr(tensors(d, node->tensors).text, ',') || node->tensors == ~0u ? "are" : "is",
                   d->levels[node->level].name);
      break;
    case NST_NODE_SEQ:
      nst_text_add(b, "Inside that, in every iteration, these branches run one after another:\n");
      break;
    case NST_NODE_DO:
      nst_text_add(b, "- The branch that computes %s. ", outs(d, node->statements).text);
      first = branch = true;
      continue;
    case NST_NODE_END: continue;
    case NST_NODE_COMPUTE: nst_text_add(b, "%s what is left is computed.\n", first ? "In it," : "Inside that,"); break;
    }
    first = false;
  }
}

static void as_loops(const nst_draft *d, const nst_draft_mapping *m, nestor_buffer *b) {
  nst_text_add(b, "```\n# tiles(d, t): what is left of dimension d in pieces of t; pieces(d, n): in n equal pieces; "
                  "the last may be smaller\n");
  int depth = 0, kept_depth[8], n = 0, used[NST_DRAFT_DIMS] = {0}, used_above[NST_DRAFT_DIMS] = {0};
  for (int i = 0; i < m->nnodes; i++) {
    const nst_draft_node *node = &m->nodes[i];
    switch (node->kind) {
    case NST_NODE_FOR:
      nst_text_add(b, "%*sfor %s%d in %s(%s, %s):\n", 2 * depth++, "", d->dims[node->dim].name, used[node->dim]++,
                   node->into ? "pieces" : "tiles", d->dims[node->dim].name, tile(m, node->tile).text);
      break;
    case NST_NODE_PAR:
      nst_text_add(b, "%*sparallel for %s%d in pieces(%s, places of %s):  # one piece a place of %s\n", 2 * depth++, "",
                   d->dims[node->dim].name, used[node->dim]++, d->dims[node->dim].name, place(d, node).text,
                   place(d, node).text);
      break;
    case NST_NODE_KEEP:
      nst_text_add(b, "%*shold(%s%s) in %s\n", 2 * depth, "", tensors(d, node->tensors).text,
                   everything(d, node->tensors), d->levels[node->level].name);
      break;
    case NST_NODE_SEQ:
      nst_text_add(b, "%*sone after another:\n", 2 * depth++, "");
      kept_depth[n++] = depth;
      memcpy(used_above, used, sizeof used);
      break;
    case NST_NODE_DO:
      depth = kept_depth[n - 1];
      memcpy(used, used_above, sizeof used);
      nst_text_add(b, "%*sbranch %s:\n", 2 * depth++, "", outs(d, node->statements).text);
      break;
    case NST_NODE_END: break;
    case NST_NODE_COMPUTE: nst_text_add(b, "%*scompute\n", 2 * depth, ""); break;
    }
  }
  nst_text_add(b, "```\n");
}

static void as_table(const nst_draft *d, const nst_draft_mapping *m, nestor_buffer *b) {
  const bool cascade = nst_draft_is_cascade(d);
  nst_text_add(b, "Rows from outermost to innermost%s.\n\n| %swhat | of | how | where |\n| %s--- | --- | --- | --- |\n",
               cascade ? "; the branches run one after another inside the rows above them" : "",
               cascade ? "branch | " : "", cascade ? "--- | " : "");
  phrase branch = {"-"};
  for (int i = 0; i < m->nnodes; i++) {
    const nst_draft_node *node = &m->nodes[i];
    if (node->kind == NST_NODE_DO) branch = outs(d, node->statements);
    if (node->kind == NST_NODE_SEQ || node->kind == NST_NODE_DO || node->kind == NST_NODE_END) continue;
    nst_text_add(b, "| ");
    if (cascade) nst_text_add(b, "%s | ", branch.text);
    switch (node->kind) {
    case NST_NODE_FOR:
      nst_text_add(b, "loop | %s | %s %s | |\n", d->dims[node->dim].name, node->into ? "number of tiles" : "tiles of",
                   tile(m, node->tile).text);
      break;
    case NST_NODE_PAR:
      nst_text_add(b, "parallel loop | %s | equal parts, one a place | %s |\n", d->dims[node->dim].name,
                   place(d, node).text);
      break;
    case NST_NODE_KEEP:
      nst_text_add(b, "hold | %s%s | current tile | %s |\n", tensors(d, node->tensors).text,
                   everything(d, node->tensors), d->levels[node->level].name);
      break;
    case NST_NODE_COMPUTE: nst_text_add(b, "compute | what is left | | |\n"); break;
    case NST_NODE_SEQ:
    case NST_NODE_DO:
    case NST_NODE_END: break;
    }
  }
}

void nst_draft_tell_mapping(const nst_draft *d, int index, nst_draft_style style, nestor_buffer *out) {
  const nst_draft_mapping *m = &d->mappings[index];
  switch (style) {
  case NST_STYLE_PROSE: in_prose(d, m, out); return;
  case NST_STYLE_LOOPS: as_loops(d, m, out); return;
  case NST_STYLE_TABLE: as_table(d, m, out); return;
  }
}
