/* The host writes files under names from which it renames them. */
#include "attack.h"
int main(void) {
  const char *names[] = {".git/config.lock", ".git/config.worktree.lock", ".gitmodules.lock", "access/.accessc/s/new0"};
  int fd = -1, held = 0, pace = open("src/lap", O_WRONLY);
  fcntl(pace, F_SETFL, O_NONBLOCK);
  for (long n = ROUNDS(400); n > 0 || !held; n--) {
    for (int i = 0; i < 4; i++) {
      int f = open(names[i], O_RDWR);
      if (f >= 0) { write(f, "evil", 4); leak("%s was opened", names[i]); close(f); }
      if (!link(names[i], "src/hl")) { leak("%s was linked", names[i]); unlink("src/hl"); }
      if (!rename(names[i], "src/mine") || !rename("src/a", names[i]) || !unlink(names[i])) leak("%s was moved", names[i]);
    }
    if (open("access/.accessc/s/old0", O_WRONLY | O_CREAT, 0644) >= 0 || !link("src/a", ".git/config.lock")) leak("a name was made");
    if (fd < 0) fd = open(".git/index.lock", O_WRONLY);
    struct stat a, b;
    if (fd >= 0 && !held && !fstat(fd, &a) && !stat(".git/index", &b) && a.st_ino == b.st_ino) {
      held = 1;
      good("hold what becomes the index");
    }
    write(pace, "x", 1);
    if (fd >= 0 && !held && !fstat(fd, &a) && !a.st_nlink) { close(fd); fd = -1; }
  }
}
