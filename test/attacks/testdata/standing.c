/* What may be changed may not be made again: the user takes names away. */
#include "attack.h"

int main(void) {
  int changed = 0;
  done(open("std/new", O_WRONLY | O_CREAT, 0644), "O_CREAT of a new name");
  done(open("std/new", O_WRONLY | O_CREAT | O_EXCL, 0644), "O_EXCL");
  done(mkdir("std/d", 0755), "mkdir");
  int t = open("std", O_TMPFILE | O_RDWR, 0644); /* it has no name, so none is made */
  char p[64];
  snprintf(p, sizeof p, "/proc/self/fd/%d", t);
  done(linkat(AT_FDCWD, p, AT_FDCWD, "std/new", AT_SYMLINK_FOLLOW), "a name for a file without one");
  done(link("std/f", "std/g"), "link");
  done(symlink("f", "std/g"), "symlink");
  done(rename("std/f", "src/f"), "rename away");
  symlink("../std/new", "src/dangling");
  done(open("src/dangling", O_WRONLY | O_CREAT, 0644), "O_CREAT through a symlink that leads nowhere");
  for (long n = ROUNDS(1000); n > 0 || !changed; n--) {
    int fd = open("std/f", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0) { changed++; write(fd, "tool", 4); close(fd); }
    fd = open("src/viastd/f", O_RDWR | O_CREAT, 0644);
    if (fd >= 0) { write(fd, "tool", 4); close(fd); }
    rename("src/nope", "std/f");
  }
  if (changed) good("update");
  note("%d", changed);
}
