/* The same number means another file a moment later. */
#include "attack.h"

static volatile int stop;
static int okay, denied, dirok, dirbad, slot = 100, dslot = 101, cwd;
static int opens;
static void *flip(void *x) {
  while (!stop) { dup2(okay, slot); dup2(dirok, dslot); dup2(denied, slot); dup2(dirbad, dslot); }
}
static void *flipcwd(void *x) {
  while (!stop) { fchdir(dirok); fchdir(dirbad); }
}
static void *use(void *x) {
  struct timespec ts[2] = {{1, 0}, {1, 0}};
  char p[64];
  while (!stop) {
    /* slot is src/a or gen/f, open for reading; dslot is src/d or secrets. */
    fchmod(slot, 0606); futimens(slot, ts); fsetxattr(slot, "user.q", "z", 1, 0);
    snprintf(p, sizeof p, "/proc/self/fd/%d", slot);
    int fd = open(p, O_RDWR);
    if (fd >= 0) { opens++; write(fd, "fine", 4); close(fd); }
    chmod(p, 0606); truncate(p, 4);
    fd = openat(dslot, "k", O_RDONLY);
    if (fd >= 0) { opens++; spill(fd, "a flipping directory descriptor"); }
    fd = openat(dslot, "k", O_RDWR | O_CREAT, 0644);
    if (fd >= 0) spill(fd, "a flipping directory descriptor, O_CREAT");
    spill(open("k", O_RDONLY), "a flipping working directory");
    spill(open("../secrets/../secrets/k", O_RDONLY), "..");
    fd = open("n", O_RDWR | O_CREAT, 0644); close(fd);
    fchmodat(dslot, "k", 0606, 0);
    if (!linkat(dslot, "k", dirok, "l", 0)) { spill(openat(dirok, "l", O_RDONLY), "a link by a flipping descriptor"); unlinkat(dirok, "l", 0); }
    linkat(slot, "", dirok, "l2", AT_EMPTY_PATH);
    renameat(dslot, "k", dirok, "moved"); spill(openat(dirok, "moved", O_RDONLY), "a move by a flipping descriptor"); renameat(dirok, "moved", dirok, "k");
    unlinkat(dslot, "n", 0); mkdirat(dslot, "nd", 0755); unlinkat(dslot, "nd", AT_REMOVEDIR); symlinkat("x", dslot, "ns"); unlinkat(dslot, "ns", 0);
    fd = openat(dslot, ".", O_TMPFILE | O_RDWR, 0644); if (fd >= 0) close(fd);
    lap();
  }
}

int main(void) {
  cwd = open(".", O_PATH);
  okay = open("src/a", O_RDONLY); denied = open("gen/f", O_RDONLY);
  dirok = open("src/d", O_PATH | O_DIRECTORY); dirbad = open("secrets", O_PATH | O_DIRECTORY);
  dup2(okay, slot); dup2(dirok, dslot);
  pthread_t t[6];
  pthread_create(t, 0, flip, 0); pthread_create(t + 1, 0, flipcwd, 0);
  for (int i = 2; i < 6; i++) pthread_create(t + i, 0, use, 0);
  laps(ROUNDS(80));
  while (opens <= 5) laps(1);
  stop = 1;
  for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
  if (opens > 5) good("opens");
  note("%d", opens);
  fchdir(cwd);
  int fd = open("src/l2", O_WRONLY);
  fd = open("src/d/l2", O_WRONLY);
  struct stat a, b;
  if (fd >= 0 && !fstat(fd, &a) && !fstat(denied, &b) && a.st_ino == b.st_ino) leak("a link of what may be read is open for writing");
}
