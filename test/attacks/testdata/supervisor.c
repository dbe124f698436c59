/* The supervisor is signalled, traced, read and limited; what it denies stays denied. */
#include "attack.h"
#include <ctype.h>

static int victims[4000], n;

int main(void) {
  int me = getpid(), parent = getppid(), group = getpgid(0);
  setpgid(0, 0); /* the old group holds others alone */
  /* All processes of the machine that are not the tool's. */
  DIR *d = opendir("/proc");
  struct dirent *e;
  while (d && (e = readdir(d))) if (isdigit(e->d_name[0]) && atoi(e->d_name) != me && n < 4000) victims[n++] = atoi(e->d_name);
  if (!n) for (int i = 1; i < 4000; i++) victims[n++] = i;
  victims[n++] = parent;
  char p[128], b[64];
  for (int i = 0; i < n; i++) {
    int v = victims[i];
    if (v == me) continue;
    if (v == parent || getpgid(v) == group) {
      if (!kill(v, SIGSTOP)) leak("SIGSTOP to %d", v);
      if (!kill(v, SIGKILL)) leak("SIGKILL to %d", v);
    }
    if (!kill(v, SIGURG)) leak("SIGURG to %d", v);
    if (!syscall(SYS_tgkill, v, v, SIGURG)) leak("tgkill to %d", v);
    siginfo_t si = {.si_code = -1};
    if (!syscall(SYS_rt_sigqueueinfo, v, SIGURG, &si)) leak("sigqueue to %d", v);
    int pf = syscall(SYS_pidfd_open, v, 0);
    if (pf >= 0) {
      if (!syscall(SYS_pidfd_send_signal, pf, SIGURG, 0, 0)) leak("pidfd signal to %d", v);
      for (int f = 0; f < 8; f++) if (syscall(SYS_pidfd_getfd, pf, f, 0) >= 0) leak("pidfd_getfd of %d", v);
      char c[16]; struct iovec io = {c, 1};
      if (!syscall(440, pf, &io, 1, 4, 0)) leak("process_madvise of %d", v);
      if (!syscall(448, pf, 0)) leak("process_mrelease of %d", v);
      close(pf);
    }
    snprintf(p, sizeof p, "/proc/%d", v);
    pf = open(p, O_DIRECTORY | O_RDONLY);
    if (pf >= 0) { if (!syscall(SYS_pidfd_send_signal, pf, SIGURG, 0, 0)) leak("signal by /proc to %d", v); close(pf); }
    if (!ptrace(PTRACE_ATTACH, v, 0, 0)) leak("ptrace of %d", v);
    if (!ptrace(PTRACE_SEIZE, v, 0, 0)) leak("seize of %d", v);
    struct iovec l = {b, 8}, r = {(void *)0x400000, 8};
    if (process_vm_readv(v, &l, 1, &r, 1, 0) > 0) leak("memory of %d", v);
    struct rlimit rl = {0, 0};
    if (!prlimit(v, RLIMIT_NOFILE, &rl, 0)) leak("prlimit of %d", v);
    if (!prlimit(v, RLIMIT_CPU, 0, &rl)) leak("limits of %d are read", v);
    if (!setpriority(PRIO_PROCESS, v, 19)) leak("priority of %d", v);
    struct sched_param sp = {0};
    if (!sched_setscheduler(v, SCHED_IDLE, &sp)) leak("scheduling of %d", v);
    cpu_set_t cs; CPU_ZERO(&cs); CPU_SET(0, &cs);
    if (!sched_setaffinity(v, sizeof cs, &cs)) leak("affinity of %d", v);
    if (!syscall(SYS_ioprio_set, 1, v, 0x6000)) leak("io priority of %d", v);
    if (!syscall(SYS_migrate_pages, v, 8, b, b)) leak("pages of %d", v);
    const char *files[] = {"mem", "environ", "maps", "cmdline", "fd/0", "fd/3", "root/etc/shadow", "cwd/.env", "auxv", "stack", "syscall", "oom_score_adj", "comm", "task", "fdinfo/3", "io", "status", "map_files"};
    for (int k = 0; k < 18; k++) {
      snprintf(p, sizeof p, "/proc/%d/%s", v, files[k]);
      int fd = open(p, O_RDONLY);
      if (fd >= 0) { leak("%s is open", p); close(fd); }
      fd = open(p, O_WRONLY);
      if (fd >= 0) { leak("%s is open for writing", p); close(fd); }
    }
    /* Signals by way of descriptors. */
    int q[2];
    if (v == parent && !pipe(q)) {
      fcntl(q[0], F_SETSIG, SIGKILL);
      fcntl(q[0], F_SETOWN, v); fcntl(q[0], F_SETFL, O_ASYNC | O_NONBLOCK); write(q[1], "x", 1);
      struct f_owner_ex { int type, pid; } ow = {1, v};
      fcntl(q[0], 15, &ow); write(q[1], "x", 1);
      fcntl(q[0], F_SETOWN, -getpgid(v)); /* a group: this process as well */
      close(q[0]); close(q[1]);
    }
  }
  /* Whole groups and sessions, from a child that may die of it. In a container the old group can have the number 1,
     which killpg() takes for every process: those of the tool are among them. */
  if (group == 1) group = 2;
  int c = fork();
  if (!c) { prctl(PR_SET_PDEATHSIG, SIGKILL); setpriority(PRIO_USER, 0, 19); kill(-1, SIGURG); if (!killpg(group, SIGSTOP)) leak("SIGSTOP to the old group"); killpg(group, SIGKILL); _exit(0); }
  waitpid(c, 0, 0);
  spill(open(".env", O_RDONLY), "a name");
  spill(open("secrets/k", O_RDONLY), "a name");
  if (!put("src/after", "x") && fine("src/a")) good("create");
  if (!kill(getpid(), 0)) good("own signals");
}
