/* The user moves a directory between a grant and an exception all the time. A secret lies in it
 * only while it is in the exception. */
#include "attack.h"

static volatile int stop;
static int opens, d, e;
static void *use(void *arg) {
  int fd, o;
  char p[64];
  while (!stop) {
    spill(openat(d, "k", O_RDONLY), "a descriptor"); spill(openat(e, "../k", O_RDONLY), "..");
    spill(openat(d, "k", O_RDWR), "O_RDWR");
    spill(open("./k", O_RDONLY), "the working directory"); spill(open("deep/a/x/k", O_RDONLY), "a name"); spill(open("deep/a/../b/x/k", O_RDONLY), "a name");
    o = openat(d, "k", O_PATH);
    if (o >= 0) { snprintf(p, sizeof p, "/proc/self/fd/%d", o); sched_yield(); spill(open(p, O_RDONLY), "O_PATH, then a reopen"); close(o); }
    if (!linkat(d, "k", e, "l", 0)) { spill(openat(e, "l", O_RDONLY), "a link"); unlinkat(e, "l", 0); }
    if (!renameat(d, "k", e, "m")) { spill(openat(e, "m", O_RDONLY), "a move"); unlinkat(e, "m", 0); }
    o = open("deep/b", O_PATH); spill(openat(o, "x/k", O_RDONLY), "from above"); close(o);
    fd = openat(d, "f", O_RDONLY); if (fd >= 0) { __atomic_add_fetch(&opens, 1, 0); close(fd); }
    fd = openat(e, "../s", O_RDONLY); spill(fd, "a symlink");
    lap();
  }
}
int main(void) {
  pthread_t t[4];
  d = open("deep/a/x", O_PATH | O_DIRECTORY);
  e = open("deep/a/x/y", O_RDONLY | O_DIRECTORY);
  put("src/ready", "x");
  for (long i = 0; i < 3; i++) pthread_create(t + i, 0, use, (void *)(i + 1));
  laps(ROUNDS(80));
  while (!opens) laps(1);
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  if (opens) good("read while it is granted");
  note("%d", opens);
}
