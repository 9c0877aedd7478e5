/* Limits of the kernel first, then the filter, which cannot be taken back. A call outside the filter ends the process with SIGSYS. Under
 * sanitizers, which map much and open files to report, limits on memory and the filter are left out. */
#include "bench/worker/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef NST_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { MEMORY_MIB = 1024, CPU_SECONDS = 600 };

static bool limit(__rlimit_resource_t what, rlim_t value) { return setrlimit(what, &(struct rlimit){value, value}) == 0; }

static bool set_limits(void) {
  return limit(RLIMIT_CORE, 0) && limit(RLIMIT_NPROC, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_CPU, CPU_SECONDS) &&
         limit(RLIMIT_MEMLOCK, 0) && limit(RLIMIT_MSGQUEUE, 0) && (SANITIZED || limit(RLIMIT_NOFILE, 1)) &&
         (SANITIZED || limit(RLIMIT_AS, (rlim_t)MEMORY_MIB << 20));
}

/* Allowed whatever their arguments. tgkill and the rest behind it are what abort() does. */
static const int plain_calls[] = {
  SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(getrandom),
  SCMP_SYS(clock_gettime), SCMP_SYS(getrusage), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
  SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(rt_sigprocmask),
};

static struct scmp_arg_cmp is(unsigned argument, uint64_t value) {
  return (struct scmp_arg_cmp){argument, SCMP_CMP_EQ, value, 0};
}
static struct scmp_arg_cmp has(unsigned argument, uint64_t mask, uint64_t value) {
  return (struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, mask, value};
}

static int filter(scmp_filter_ctx c, int socket) {
  const uint64_t fd = (uint64_t)socket, self = (uint64_t)getpid();
  const struct { int call; unsigned n; struct scmp_arg_cmp when[2]; } calls[] = {
    {SCMP_SYS(read), 1, {is(0, fd)}},
    {SCMP_SYS(write), 1, {is(0, fd)}},
    {SCMP_SYS(tgkill), 1, {is(0, self)}},
    /* Memory of no file, never executable. */
    {SCMP_SYS(mmap), 2, {has(2, PROT_EXEC, 0), has(3, MAP_ANONYMOUS, MAP_ANONYMOUS)}},
    {SCMP_SYS(mprotect), 1, {has(2, PROT_EXEC, 0)}},
  };
  int fail = seccomp_attr_set(c, SCMP_FLTATR_CTL_TSYNC, 1); /* every thread, also the one that waits */
  for (size_t i = 0; !fail && i < sizeof plain_calls / sizeof *plain_calls; i++)
    fail = seccomp_rule_add(c, SCMP_ACT_ALLOW, plain_calls[i], 0);
  for (size_t i = 0; !fail && i < sizeof calls / sizeof *calls; i++)
    fail = seccomp_rule_add_array(c, SCMP_ACT_ALLOW, calls[i].call, calls[i].n, calls[i].when);
  return fail ? fail : seccomp_load(c);
}

bool nst_sandbox_enter(int socket, char *error, size_t size) {
  clearenv();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) || !set_limits()) {
    snprintf(error, size, "the worker cannot limit itself: %s", strerror(errno));
    return false;
  }
  if (SANITIZED) return true;
  scmp_filter_ctx c = seccomp_init(SCMP_ACT_KILL_PROCESS);
  const int fail = c ? filter(c, socket) : -ENOMEM;
  seccomp_release(c);
  if (fail) snprintf(error, size, "the worker cannot filter its system calls: %s", strerror(-fail));
  return !fail;
}
