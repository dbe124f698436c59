/* A program that appears during the run starts from a copy in memory: the copy stays as it is,
   and no other program is started in its place. */
#include "attack.h"

static char *const argv[] = {"x", "copy", 0}, *const envp[] = {0};

static int start(const char *path) {
  int st;
  pid_t p = fork();
  if (!p) { execve(path, argv, envp); _exit(99); }
  waitpid(p, &st, 0);
  return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

/* copy looks at itself. */
static int copy(void) {
  char by[64], to[PATH_MAX];
  int fd = open("/proc/self/exe", O_RDONLY);
  done(open("/proc/self/exe", O_RDWR), "its own copy for writing");
  snprintf(by, sizeof by, "/proc/self/fd/%d", fd);
  done(open(by, O_WRONLY), "its copy again for writing");
  if (fd >= 0 && !ftruncate(fd, 10)) leak("its copy is shorter");
  for (int i = 3; i < 64; i++) {
    snprintf(by, sizeof by, "/proc/self/fd/%d", i);
    if (i != fd && readlink(by, to, sizeof to) > 0) leak("descriptor %d was inherited", i);
  }
  return 6;
}

int main(int argc, char **argument) {
  if (argc > 1) return copy();
  char b[65536];
  int n, from = open("bin/tool", O_RDONLY | O_CLOEXEC), to = open("new/p", O_CREAT | O_WRONLY, 0755);
  while ((n = read(from, b, sizeof b)) > 0) write(to, b, n);
  close(to);
  if (start("new/p") == 6) good("a program that is new");
  pid_t swap = fork();
  if (!swap)
    for (prctl(PR_SET_PDEATHSIG, SIGKILL);;) {
      rename("new/p", "new/q");
      symlink("../closed/evil", "new/p");
      sched_yield();
      unlink("new/p");
      rename("new/q", "new/p");
      sched_yield();
    }
  for (long n = ROUNDS(80); n > 0; n--)
    if (start("new/p") == 42) { leak("another program was started"); break; }
  kill(swap, SIGKILL);
  waitpid(swap, 0, 0);
  if (start("closed/evil") == 42) leak("a program without execute");
  int fd = open("closed/evil", O_RDONLY);
  if (!fork()) { syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH); _exit(99); }
  wait(&n);
  if (n == 42 << 8) leak("a program without execute, by its descriptor");
  if (!rename("closed/evil", "new/e") || !link("closed/evil", "new/e")) leak("a move that gains execute");
}
