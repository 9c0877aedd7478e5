/* The measured convolution: 64 channels of 56 by 56, 64 filters of 3 by 3, on sixteen by sixteen units with two
 * memories; eight tile sizes. */
#ifndef NST_BENCHMARKS_CONV_H
#define NST_BENCHMARKS_CONV_H
#define CONV_TEXT                                                                                                      \
  "workload conv(K, C, P, Q, R = 3, S = 3, pad = 1) {\n"                                                               \
  "  dim k = K, c = C, p = P, q = Q, r = R, s = S\n"                                                                   \
  "  tensor I[C, P, Q], W : int8, O : int32\n"                                                                         \
  "  O[k, p, q] += I[c, p + r - pad, q + s - pad] * W[k, c, r, s]\n"                                                   \
  "}\n"                                                                                                                \
  "hardware acc {\n"                                                                                                   \
  "  clock = 1 GHz\n"                                                                                                  \
  "  memory DRAM { bandwidth = 16 B/cycle  energy = 100 pJ/B }\n"                                                      \
  "  memory GLB  { capacity = 128 KiB  bandwidth = 64 B/cycle  energy = 3 pJ/B }\n"                                    \
  "  array  PE[x = 16, y = 16]\n"                                                                                      \
  "  memory RF   { capacity = 512 B  energy = 0.2 pJ/B }\n"                                                            \
  "  compute MAC { energy = 0.4 pJ }\n"                                                                                \
  "}\n"                                                                                                                \
  "mapping tiled(k1 = 64, c1 = 16, p1 = 28, q1 = 56, k2 = 16, c2 = 16, p2 = 1, q2 = 7) of conv(64, 64, 56, 56) on "    \
  "acc {\n"                                                                                                            \
  "  permute { for k by k1  for c by c1  for p by p1  for q by q1 }\n"                                                 \
  "  keep all in GLB\n"                                                                                                \
  "  permute { for k by k2  for c by c2  for p by p2  for q by q2 }\n"                                                 \
  "  par k on PE.y\n"                                                                                                  \
  "  par c on PE.x\n"                                                                                                  \
  "  keep all in RF\n"                                                                                                 \
  "}\n"
#endif
