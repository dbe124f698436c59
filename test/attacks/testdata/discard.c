/* Files that may be deleted and not read: deleted, replaced, and named again by descriptor. */
#include "attack.h"
static void again(int fd, const char *how) {
  char p[64];
  const char *f[] = {"/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"};
  for (int i = 0; i < 3; i++) { snprintf(p, sizeof p, f[i], fd); spill(open(p, O_RDONLY), how); spill(open(p, O_RDWR), how); done(open(p, O_WRONLY), how); done(truncate(p, 1), how); done(chmod(p, 0644), how); done(linkat(AT_FDCWD, p, AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW), how); }
  done(linkat(fd, "", AT_FDCWD, "src/l", AT_EMPTY_PATH), how);
  snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
  char *av[] = {"x", 0};
  done(mount(p, "src", 0, 4096, 0), how);
}
int main(void) {
  const char *names[] = {"tok", "trash/k", "trash/sub/k", "trash/open/k", 0};
  for (int i = 0; names[i]; i++) {
    int fd = open(names[i], O_PATH);
    again(fd, "before");
    if (!unlink(names[i])) good("delete"); else note("%s: %m", names[i]);
    again(fd, "deleted");
    char p[64]; snprintf(p, sizeof p, "%s (deleted)", names[i]);
    put(p, "x"); again(fd, "deleted, with another of that name"); unlink(p);
    put(names[i], "fine"); again(fd, "deleted, and made anew");
  }
  int d = open("trash/dir", O_PATH | O_DIRECTORY), k = open("trash/dir/k", O_PATH);
  unlink("trash/dir/k"); rmdir("trash/dir");
  again(k, "deleted with its directory");
  spill(openat(d, "k", O_RDONLY), "deleted with its directory");
  int r = open("trash/r", O_PATH);
  put("src/n", "fine");
  rename("src/n", "trash/r"); renameat2(AT_FDCWD, "src/n", AT_FDCWD, "trash/r", RENAME_EXCHANGE);
  again(r, "replaced");
  /* What it has deleted itself and may read stays open to it. */
  int fd = open("src/own", O_CREAT | O_RDWR, 0644); write(fd, "fine", 4);
  int o = open("src/own", O_PATH); unlink("src/own");
  char p[64]; snprintf(p, sizeof p, "/proc/self/fd/%d", o);
  if (fine(p)) good("its own deleted file");
}
