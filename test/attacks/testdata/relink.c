/* The user replaces a granted directory by a symlink out of the workspace, and into an exception. */
#include "attack.h"

static volatile int stop;
static int reads;
static void *use(void *x) {
  int d = open("work", O_PATH | O_DIRECTORY), fd;
  while (!stop) {
    spill(open("work/private", O_RDONLY), "a directory that became a symlink");
    spill(open("work/k", O_RDONLY), "a directory that became a symlink to an exception");
    spill(open("work/../outside/private", O_RDONLY), "..");
    spill(openat(d, "private", O_RDONLY), "a descriptor"); spill(openat(d, "k", O_RDONLY), "a descriptor");
    fd = open("work/made", O_CREAT | O_WRONLY, 0644); if (fd >= 0) { reads++; write(fd, "evil", 4); close(fd); }
    put("work/f", "fine");
    rename("work/private", "src/p"); spill(open("src/p", O_RDONLY), "a move");
    link("work/private", "src/q"); spill(open("src/q", O_RDONLY), "a link");
    truncate("work/private", 0); chmod("work/private", 0666); unlink("work/private");
    rename("work/made", "work/made2"); mkdir("work/dir", 0755); symlink("x", "work/sym"); rmdir("work/dir"); unlink("work/sym"); unlink("work/made2");
    int t = open("work", O_TMPFILE | O_RDWR, 0644); close(t);
    fd = open("work", O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
      char b[2048]; long n = syscall(SYS_getdents64, fd, b, sizeof b);
      if (n > 0 && memmem(b, n, "private", 7)) leak("a listing of outside");
      close(fd);
    }
    if (fine("work/f")) reads++;
    lap();
  }
}
int main(void) {
  put("src/ready", "x");
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(t + i, 0, use, 0);
  laps(ROUNDS(80));
  while (reads <= 20) laps(1);
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  if (reads > 20) good("use of the directory");
  note("%d", reads);
}
