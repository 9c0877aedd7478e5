/* Counting through the library: compiles a program from memory and prints what
 * its mapping moves for a few tile sizes. Built in a test against the installed
 * package, both by CMake (CMakeLists.txt here) and by hand:
 *
 *   cc count.c $(pkg-config --cflags --libs nestor) -o count */
#include <nestor/nestor.h>
#include <stdio.h>
#include <string.h>

static const char program_text[] = "workload gemm(M = 64, N = 64, K = 64) {\n"
                                   "  dim m = M, n = N, k = K\n"
                                   "  tensor A, B : int8, C : int32\n"
                                   "  C[m, n] += A[m, k] * B[k, n]\n"
                                   "}\n"
                                   "hardware chip {\n"
                                   "  memory DRAM\n"
                                   "  memory GLB { capacity = 16 KiB }\n"
                                   "  compute MAC\n"
                                   "}\n"
                                   "mapping tiled(t = 16) of gemm on chip {\n"
                                   "  for m by t\n"
                                   "  for n by t\n"
                                   "  keep A, B, C in GLB\n"
                                   "}\n";

int main(void) {
  int failed = 1;
  nestor_session *session = nestor_session_new();
  nestor_program *program =
    nestor_program_new(session, "count.c", program_text, strlen(program_text), NESTOR_STAGE_CHECK);
  if (nestor_program_status(program) == NESTOR_OK) {
    nestor_eval *eval = nestor_eval_new(program, 0);
    failed = 0;
    for (int64_t t = 8; t <= 32; t *= 2) {
      if (nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, &t) != NESTOR_OK)
        failed = 1;
      else
        printf("t = %2lld: %lld bytes off chip\n", (long long)t, (long long)nestor_eval_metrics(eval).offchip_bytes);
    }
    nestor_eval_free(eval);
  } else {
    nestor_buffer *text = nestor_buffer_new();
    nestor_diagnostics_text(nestor_program_diagnostics(program), false, text);
    fputs(nestor_buffer_data(text), stderr);
    nestor_buffer_free(text);
  }
  nestor_program_free(program);
  nestor_session_free(session);
  return failed;
}
