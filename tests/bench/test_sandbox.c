/* The worker's sandbox from inside: each way out ends the process that tries it, and what judging needs goes on working. */
#include "tests/unit/test.h"

#include "bench/worker/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_file(void) { open("/etc/passwd", O_RDONLY); }
static void make_file(void) { open("/tmp/nestor-sandbox-test", O_CREAT | O_WRONLY, 0600); }
static void make_process(void) { syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }
static void run_program(void) { execl("/bin/true", "true", (char *)NULL); }
static void make_socket(void) { socket(AF_INET, SOCK_STREAM, 0); }
static void kill_parent(void) { kill(getppid(), SIGTERM); }
static void kill_thread_of_parent(void) { syscall(SYS_tgkill, getppid(), getppid(), SIGTERM); }
static void trace_parent(void) { syscall(SYS_ptrace, 16, getppid(), 0, 0); }
static void write_elsewhere(void) { if (write(1, "passed\n", 7)) {} }
static void read_elsewhere(void) { char c; if (read(3, &c, 1)) {} }
static void run_memory(void) { mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void map_file(void) { mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0); }
static void raise_limit(void) { syscall(SYS_prlimit64, 0, 9, NULL, NULL); }
static void leave_root(void) { syscall(SYS_chroot, "/tmp"); }
static void mount_something(void) { syscall(SYS_mount, "a", "/tmp", "b", 0, NULL); }
static void load_code_into_kernel(void) { syscall(SYS_bpf, 0, NULL, 0); }
static void make_ring(void) { syscall(SYS_io_uring_setup, 1, NULL); }

static void use_memory(void) {
  char *p = malloc(64 << 20);
  if (!p) _exit(1);
  memset(p, 1, 64 << 20);
  free(p);
  p = malloc(100);
  if (!p) _exit(1);
  free(p);
}
static void use_socket(void) {
  char c = 'x';
  if (write(0, &c, 1) != 1) _exit(1);
}
static void sort(void) {
  uint64_t *many = calloc(4096, sizeof *many);
  if (!many) _exit(1);
  snprintf((char *)many, 64, "%.17g %d", 0.1, 7);
  free(many);
}
static void give_up(void) { abort(); }
static void eat_memory(void) {
  for (;;) {
    char *p = malloc(64 << 20);
    if (!p) abort();
    memset(p, 1, 4096);
  }
}

static const struct { const char *name; void (*act)(void); int signal; /* 0: it goes on and exits with 42 */ } acts[] = {
  {"open a file", open_file, SIGSYS}, {"make a file", make_file, SIGSYS}, {"make a process", make_process, SIGSYS},
  {"run a program", run_program, SIGSYS}, {"make a socket", make_socket, SIGSYS}, {"kill the supervisor", kill_parent, SIGSYS},
  {"kill a thread of the supervisor", kill_thread_of_parent, SIGSYS}, {"trace the supervisor", trace_parent, SIGSYS},
  {"write elsewhere", write_elsewhere, SIGSYS}, {"read elsewhere", read_elsewhere, SIGSYS}, {"make memory executable", run_memory, SIGSYS},
  {"map a file", map_file, SIGSYS}, {"ask for limits", raise_limit, SIGSYS}, {"change its root", leave_root, SIGSYS},
  {"mount", mount_something, SIGSYS}, {"load into the kernel", load_code_into_kernel, SIGSYS}, {"make a ring", make_ring, SIGSYS},
  {"use memory", use_memory, 0}, {"use its socket", use_socket, 0}, {"sort and print into memory", sort, 0},
  {"give up", give_up, SIGABRT}, {"eat memory", eat_memory, SIGABRT},
};

static void ways_out_are_closed(void **state) {
  (void)state;
  if (TEST_SANITIZED) return skip();
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const pid_t child = fork();
    if (!child) {
      char error[256];
      dup2(ends[1], 0);
      if (!nst_sandbox_enter(0, error, sizeof error)) _exit(41);
      acts[i].act();
      _exit(42);
    }
    int status;
    waitpid(child, &status, 0);
    close(ends[0]), close(ends[1]);
    if (acts[i].signal && (!WIFSIGNALED(status) || WTERMSIG(status) != acts[i].signal)) fail_msg("%s: status %d", acts[i].name, status);
    if (!acts[i].signal && (!WIFEXITED(status) || WEXITSTATUS(status) != 42)) fail_msg("%s: status %d", acts[i].name, status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ways_out_are_closed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
