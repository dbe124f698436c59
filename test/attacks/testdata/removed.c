/* A file of a closed name is held without a right while the user removes the name: the kernel
   then has a path for it that ends in " (deleted)". */
#include "attack.h"

static void reach(int fd) {
  static const char *links[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"};
  char by[64];
  for (int i = 0; i < 3; i++) {
    snprintf(by, sizeof by, links[i], fd);
    spill(open(by, O_RDONLY), "a link of the descriptor");
    done(open(by, O_WRONLY | O_APPEND), "an open for writing");
  }
  done(truncate(by, 0), "truncate");
  done(chmod(by, 0777), "chmod");
  spill(openat(fd, "", O_RDONLY), "an empty path");
  if (!linkat(AT_FDCWD, by, AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW)) leak("a link of it");
  unlink("src/l");
}

int main(void) {
  int lost = 0;
  for (long n = ROUNDS(12); n > 0 || !lost;) {
    int fd = open("late/.env", O_PATH);
    if (fd < 0) continue;
    n--;
    struct stat st = {0};
    for (int i = 0; i < 30; i++) {
      reach(fd);
      fstat(fd, &st);
      lost += st.st_nlink == 0;
    }
    close(fd);
  }
  put("src/.env (deleted)", "fine");
  if (lost && fine("src/.env (deleted)")) good("a file that has lost its name");
}
