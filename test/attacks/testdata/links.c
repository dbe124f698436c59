/* Symlinks and directories of the tool's own change places while names go through them. */
#include "attack.h"

static volatile int stop;
static int opens;

static void *spin(void *x) {
  while (!stop) {
    renameat2(AT_FDCWD, "src/l", AT_FDCWD, "src/m", RENAME_EXCHANGE);   /* -> a, -> ../.env */
    renameat2(AT_FDCWD, "src/p", AT_FDCWD, "src/q", RENAME_EXCHANGE);   /* a directory, -> ../secrets */
    renameat2(AT_FDCWD, "src/g", AT_FDCWD, "src/h", RENAME_EXCHANGE);   /* a directory, -> ../gen */
    renameat2(AT_FDCWD, "src/b", AT_FDCWD, "src/c", RENAME_EXCHANGE);   /* a directory, -> ../bin */
    renameat2(AT_FDCWD, "src/o", AT_FDCWD, "src/w", RENAME_EXCHANGE);   /* a directory, -> ../../outside */
  }
}

static void *use(void *x) {
  struct timespec ts[2] = {{1, 0}, {1, 0}};
  int i = 0;
  while (!stop) {
    int fd = open("src/l", O_RDONLY);
    if (fd >= 0) { __atomic_add_fetch(&opens, 1, 0); spill(fd, "a flipping symlink"); }
    spill(open("src/p/k", O_RDONLY), "a flipping directory");
    spill(open("src/p/../p/k", O_RDONLY), "a flipping directory twice");
    spill(open("src/o/private", O_RDONLY), "a directory that flips outside");
    fd = open("src/g/f", O_RDWR | O_TRUNC);
    if (fd >= 0) { write(fd, "mine", 4); close(fd); }
    fd = open("src/b/new", O_CREAT | O_RDWR, 0755); close(fd);
    fd = open("src/o/new", O_CREAT | O_RDWR, 0755); close(fd);
    fd = open("src/p/new", O_CREAT | O_RDWR, 0755); close(fd);
    fd = open("src/g", O_TMPFILE | O_RDWR, 0755); close(fd);
    link("src/p/k", "src/k1"); link("src/l", "src/k2"); linkat(AT_FDCWD, "src/l", AT_FDCWD, "src/k3", AT_SYMLINK_FOLLOW);
    rename("src/p/k", "src/k4");
    rename("src/o/private", "src/k5");
    for (int k = 1; k < 6; k++) { char p[16]; sprintf(p, "src/k%d", k); spill(open(p, O_RDONLY | O_NOFOLLOW), "a link"); if (k < 4) unlink(p); else rename(p, k == 4 ? "src/p/k" : "src/o/private"); }
    truncate("src/g/f", 1); chmod("src/g/f", 0666); utimensat(AT_FDCWD, "src/g/f", ts, 0);
    chmod("src/p/k", 0600); setxattr("src/p/k", "user.a", "b", 1, 0); utimensat(AT_FDCWD, "src/o/private", ts, 0);
    unlink("src/g/f"); put("src/g/f", "mine"); put("src/p/k", "mine"); put("src/o/private", "mine");
    rename("src/a2", "src/b/tool"); put("src/a2", "mine");
    mkdir("src/b/d", 0755); symlink("x", "src/g/s"); mknod("src/g/n", S_IFIFO | 0600, 0); rmdir("src/b/d"); unlink("src/g/s"); unlink("src/g/n");
    int d = open("src/p", O_PATH | O_DIRECTORY);
    if (d >= 0) { spill(openat(d, "k", O_RDONLY), "a directory that was opened while it flipped"); close(d); }
    d = open("src/p", O_RDONLY | O_DIRECTORY);
    close(d);
    i++;
    lap();
  }
}

int main(void) {
  symlink("a", "src/l"); symlink("../.env", "src/m");
  mkdir("src/p", 0755); put("src/p/k", "mine"); symlink("../secrets", "src/q");
  mkdir("src/g", 0755); put("src/g/f", "mine"); symlink("../gen", "src/h");
  mkdir("src/b", 0755); symlink("../bin", "src/c");
  mkdir("src/o", 0755); symlink("../../outside", "src/w");
  spill(open("src/m", O_RDONLY), "a symlink"); spill(open("src/q/k", O_RDONLY), "a symlink"); spill(open("src/w/private", O_RDONLY), "a symlink");
  pthread_t t[4];
  pthread_create(t, 0, spin, 0);
  for (int i = 1; i < 4; i++) pthread_create(t + i, 0, use, 0);
  laps(ROUNDS(50));
  while (!opens) laps(1);
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  if (opens > 0) good("opens through symlinks");
  note("%d opens", opens);
}
