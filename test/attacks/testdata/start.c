/* Programs that may not start: by names that flip, scripts, copies in memory and links. */
#include "attack.h"
#include <linux/memfd.h>

static volatile int stop;
static char *volatile name;

static void *flip(void *x) {
  while (!stop) {
    strcpy(name, "bin/////ok");
    for (volatile int i = 0; i < 200; i++);
    strcpy(name, "src//.//ev");
    for (volatile int i = 0; i < 200; i++);
  }
}

static void try(const char *how, int (*start)(void *), void *arg) {
  int st;
  pid_t p = fork();
  if (!p) { alarm(5); start(arg); _exit(99); }
  waitpid(p, &st, 0);
  if (WIFEXITED(st) && WEXITSTATUS(st) == 42) leak("a program started: %s", how);
}

static char *av[] = {"x", 0};
static int exec_path(void *a) { execv(a, av); return -1; }
static int exec_at(void *a) { int fd = open(a, O_PATH); syscall(SYS_execveat, fd, "", av, av + 1, AT_EMPTY_PATH); return -1; }
static int exec_fd(void *a) { char p[64]; int fd = open(a, O_RDONLY); snprintf(p, sizeof p, "/proc/self/fd/%d", fd); execv(p, av); snprintf(p, sizeof p, "/dev/fd/%d", fd); execv(p, av); fexecve(fd, av, av + 1); return -1; }
static int exec_dir(void *a) { chdir("src"); execv("ev", av); execv("./../src/ev", av); return -1; }
static int exec_task(void *a) { execv("/proc/self/cwd/src/ev", av); execv("/proc/thread-self/root/proc/self/cwd/src/ev", av); return -1; }
static int vfork_exec(void *a) { if (!vfork()) { execv(a, av); _exit(1); } int st; wait(&st); if (WIFEXITED(st)) _exit(WEXITSTATUS(st)); return 0; }

static int copy(const char *from, const char *to) {
  int a = open(from, O_RDONLY), b = open(to, O_CREAT | O_TRUNC | O_RDWR, 0755);
  char buf[65536]; long n;
  while ((n = read(a, buf, sizeof buf)) > 0) write(b, buf, n);
  close(a); close(b);
  return 0;
}

int main(int argc, char **argv) {
  if (!strcmp(argv[0], "x") || argc > 1) return 42; /* with arguments it interprets a script */
  if (getenv("XX")) return 42;
  copy("/proc/self/exe", "src/ev") ; copy("bin/tool", "src/ev");
  put("src/sh", "#!/bin/sh\nexit 42\n"); chmod("src/sh", 0755);
  put("src/chain", "#!src/ev\n"); chmod("src/chain", 0755);
  put("src/chain2", "#! bin/tool\n"); chmod("src/chain2", 0755);
  const char *paths[] = {"src/ev", "src/sh", "src/chain", "src/chain2", "./src/./ev", "src/../src/ev", "src/ln", "src/hl", "bin/../src/ev", "src/dirln/ev", "lib/ev", 0};
  symlink("ev", "src/ln"); link("src/ev", "src/hl"); symlink("../src", "src/dirln");
  for (int i = 0; paths[i]; i++) {
    try(paths[i], exec_path, (void *)paths[i]);
    try(paths[i], exec_at, (void *)paths[i]);
    try(paths[i], exec_fd, (void *)paths[i]);
    try(paths[i], vfork_exec, (void *)paths[i]);
  }
  try("dir", exec_dir, 0);
  try("task", exec_task, 0);
  if (!link("src/ev", "bin/hl")) leak("link into bin");
  if (!rename("src/sh", "bin/sh")) leak("rename into bin");
  if (!symlink("../src/ev", "bin/sl")) leak("symlink into bin");
  if (!renameat2(AT_FDCWD, "src", AT_FDCWD, "bin", RENAME_EXCHANGE)) leak("exchange of bin");
  if (!rename("bin", "src/b")) leak("rename of bin");
  if (!link("bin/ok", "src/okl")) { note("link of a program out"); if (open("src/okl", O_WRONLY) >= 0) leak("a program is opened for writing by a link"); }
  if (!mount("src", "bin", 0, 4096, 0)) leak("mount");
  char *home = getenv("HOME"), p[PATH_MAX];
  /* The private home may start programs, but nothing is carried there. */
  snprintf(p, sizeof p, "%s/ev", home);
  if (!link("src/ev", p)) leak("a link that gains execute");
  if (!rename("src/chain", p)) leak("a rename that gains execute");
  name = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  strcpy(name, "bin/////ok");
  pthread_t t;
  pthread_create(&t, 0, flip, 0);
  int ran = 0, tries = 0;
  for (long n = ROUNDS(120); n > 0 || !ran; n--) {
    pid_t c = vfork();
    if (!c) { execv(name, av); _exit(7); }
    int st;
    waitpid(c, &st, 0);
    tries++;
    if (WIFEXITED(st) && WEXITSTATUS(st) == 42) leak("a flipping name was started");
    if (WIFEXITED(st) && WEXITSTATUS(st) == 0) ran++;
  }
  stop = 1;
  pthread_join(t, 0);
  if (ran) good("start");
  note("%d of %d started", ran, tries);
}
