/* Calls that wait, in numbers, and limits at their end: what is denied stays denied, and what
 * is granted is answered again afterwards. */
#include "attack.h"

static volatile int stop;
static void *waits(void *x) { char p[64]; snprintf(p, sizeof p, "src/fifo%ld", (long)x % 4); while (!stop) { int fd = open(p, (long)x & 4 ? O_RDONLY : O_WRONLY); if (fd >= 0) close(fd); else sched_yield(); } }
static void *asks(void *x) {
  char deep[5000];
  memset(deep, 0, sizeof deep);
  while (strlen(deep) < 4000) strcat(deep, "src/../");
  strcat(deep, "x");
  while (!stop) {
    spill(open(".env", O_RDONLY), "a name under load");
    spill(open("secrets/k", O_RDWR), "a name under load");
    int fd = open("gen/f", O_WRONLY);
    if (fd >= 0) { leak("an update under load"); close(fd); }
    if (!rename("secrets", "src/s")) leak("a move under load");
    if (!chmod("gen/f", 0666)) leak("chmod under load");
    strcpy(deep + strlen(deep) - 1, "x");
    open(deep, O_WRONLY);
    lap();
  }
}

/* sleeping counts the threads of this process that wait in a call. */
static int sleeping(void) {
  int n = 0;
  char p[300], line[300];
  DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; d && (e = readdir(d));) {
    snprintf(p, sizeof p, "/proc/self/task/%s/stat", e->d_name);
    int fd = open(p, O_RDONLY), size = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    close(fd);
    line[size > 0 ? size : 0] = 0;
    char *at = strrchr(line, ')');
    n += at && (at[2] == 'S' || at[2] == 'D');
  }
  if (d) closedir(d);
  return n;
}

int main(int argc, char **argv) {
  long waiters = argc > 1 ? atoi(argv[1]) : 60;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files); /* the supervisor's as well, which needs some for each call that waits */
  if (waiters > files.rlim_max / 8) waiters = files.rlim_max / 8;
  alarm(60); /* a call that is never answered ends the run */
  char p[64];
  for (int i = 0; i < 4; i++) { snprintf(p, sizeof p, "src/fifo%d", i); mkfifo(p, 0644); }
  mkfifo("gen/none", 0644);
  pthread_attr_t at;
  pthread_attr_init(&at);
  pthread_attr_setstacksize(&at, 65536);
  pthread_t t[400];
  int n = 0;
  for (long i = 0; i < waiters; i++) if (!pthread_create(t + n, &at, waits, (void *)(i % 4))) n++;
  note("%d wait", n);
  for (int looks = 0; waiters > 100 && looks < 100 && sleeping() < n; looks++) sched_yield();
  for (int i = 0; i < 3; i++) if (!pthread_create(t + n, &at, asks, 0)) n++;
  laps(ROUNDS(50));
  if (fine("src/a")) good("read under load");
  if (!put("src/new", "x")) good("create under load");
  /* All descriptors of this process are in use. */
  if (!fork()) {
    int fd, k = 0;
    struct rlimit some = {512, 512};
    setrlimit(RLIMIT_NOFILE, &some);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && k < 100000) k++;
    spill(open(".env", O_RDONLY), "a name without descriptors");
    if (!truncate("gen/f", 0)) leak("truncate without descriptors");
    if (!rename("gen/f", "src/f")) leak("rename without descriptors");
    if (!link("secrets/k", "src/k")) leak("link without descriptors");
    if (!chmod("src/a", 0644)) good("chmod without descriptors");
    _exit(0);
  }
  wait(0);
  struct rlimit small = {4, 4}, fs = {0, 0};
  if (!fork()) {
    setrlimit(RLIMIT_NOFILE, &small);
    spill(open(".env", O_RDONLY), "a name under a limit");
    done(open("gen/f", O_WRONLY), "an update under a limit");
    _exit(0);
  }
  wait(0);
  /* Processes that vanish in the middle of their calls. */
  for (int i = 0; i < 60; i++) {
    int c = fork();
    if (!c) { for (;;) { open(".env", O_RDONLY); int f = open("src/a", O_RDWR); close(f); rename("src/b", "src/c"); link("src/a", "src/b"); unlink("src/c"); f = open("src/fifo0", O_RDONLY | O_NONBLOCK); close(f); } }
    if (i % 2) laps(1 + i % 5);
    kill(c, SIGKILL);
    waitpid(c, 0, 0);
  }
  stop = 1;
  for (int i = 0; i < 4; i++) { snprintf(p, sizeof p, "src/fifo%d", i); open(p, O_RDWR | O_NONBLOCK); }
  for (int i = 0; i < n; i++) pthread_join(t[i], 0);
  if (fine("src/a") && !put("src/later", "x")) good("read and create afterwards");
  spill(open(".env", O_RDONLY), "a name afterwards");
  _exit(0);
}
