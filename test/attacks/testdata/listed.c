/* Where programs are listed, none other starts, by whatever name, copy or descriptor. */
#include "attack.h"
#include <linux/memfd.h>

static char *av[] = {"/bin/cat", "src/marker", 0};
static void ran(const char *how) { int st; wait(&st); if (WIFEXITED(st) && !WEXITSTATUS(st)) leak("started by %s", how); }
#define CHILD(how, ...) do { if (!fork()) { alarm(5); int n = open("/dev/null", O_WRONLY); dup2(n, 1); __VA_ARGS__; _exit(9); } ran(how); } while (0)

static char *volatile nm;
static volatile int stop;
static void *flip(void *x) { while (!stop) { memcpy(nm, "/bin/true", 9); for (volatile int i = 0; i < 200; i++); memcpy(nm, "/bin//cat", 9); for (volatile int i = 0; i < 200; i++); } }

int main(void) {
  int cat = open("/bin/cat", O_RDONLY | O_CLOEXEC), cp = open("/bin/cat", O_PATH | O_CLOEXEC);
  char p[64], *none[] = {0}, buf[65536];
  put("src/marker", "x");
  CHILD("name", execv("/bin/cat", av));
  CHILD("/usr/bin", execv("/usr/bin/cat", av));
  CHILD("false name", char *a2[] = {"/bin/true", "src/marker", 0}; execv("/bin/cat", a2));
  CHILD("fexecve", fexecve(cat, av, none));
  CHILD("execveat O_PATH", syscall(SYS_execveat, cp, "", av, none, AT_EMPTY_PATH));
  CHILD("/proc/self/fd", snprintf(p, sizeof p, "/proc/self/fd/%d", cat); execv(p, av));
  CHILD("loader", char *a2[] = {"x", "/bin/cat", "src/marker", 0}; execv("/lib64/ld-linux-x86-64.so.2", a2));
  symlink("/bin/cat", "src/true"); CHILD("symlink", execv("src/true", av));
  CHILD("chdir", chdir("/bin"); execv("cat", av); execv("./cat", av); execv("../bin/cat", av));
  CHILD("exec_at", int d = open("/bin", O_PATH); syscall(SYS_execveat, d, "cat", av, none, 0));
  int m = syscall(SYS_memfd_create, "true", 0);
  long n; while ((n = read(cat, buf, sizeof buf)) > 0) write(m, buf, n);
  CHILD("memfd", fexecve(m, av, none));
  CHILD("memfd name", snprintf(p, sizeof p, "/proc/self/fd/%d", m); execv(p, av));
  int ms = syscall(SYS_memfd_create, "s", 0);
  write(ms, "#!/bin/cat\n", 11);
  CHILD("memfd script", fexecve(ms, av, none));
  CHILD("memfd script", snprintf(p, sizeof p, "/proc/self/fd/%d", ms); execv(p, av));
  int home = open(getenv("HOME"), O_PATH);
  int c = openat(home, "true", O_CREAT | O_RDWR, 0755);
  lseek(cat, 0, 0); while ((n = read(cat, buf, sizeof buf)) > 0) write(c, buf, n);
  close(c);
  CHILD("copy at home", fchdir(home); execv("./true", av); execv("true", av));
  CHILD("copy at home", syscall(SYS_execveat, home, "true", av, none, 0));
  c = openat(home, "sc", O_CREAT | O_RDWR, 0755); write(c, "#!/bin/cat\n", 11); close(c);
  CHILD("script at home", fchdir(home); execv("./sc", av));
  CHILD("shell", char *a2[] = {"sh", "-c", "exit 0", 0}; execv("/bin/sh", a2));
  CHILD("posix", char *a2[] = {"env", "cat", "src/marker", 0}; execv("/usr/bin/env", a2));
  CHILD("wrong argument", char *a2[] = {"/bin/true", "--help", 0}; execv("/bin/true", a2));
  nm = strdup("/bin/true");
  pthread_t t;
  pthread_create(&t, 0, flip, 0);
  int okay = 0;
  for (long n = ROUNDS(80); n > 0; n--) {
    pid_t k = vfork();
    char *a2[] = {"/bin/true", 0};
    if (!k) { dup2(2, 1); execv(nm, a2); _exit(7); }
    int st; waitpid(k, &st, 0);
    okay++;
  }
  stop = 1;
  pthread_join(t, 0);
  if (!fork()) { char *a2[] = {"/bin/true", 0}; execv("/bin/true", a2); _exit(3); }
  int st; wait(&st);
  if (WIFEXITED(st) && !WEXITSTATUS(st)) good("a listed program");
}
