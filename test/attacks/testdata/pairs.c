/* Every way to give a file a name in another place, between all pairs of places: no file may be
   read, written or started by its new name that could not be by the old one. */
#include "attack.h"

static const char *places[] = {"src", "gen", "gen/out", "secrets", "secrets/open", "inbox", "kept", "bin", ".", 0, 0, 0};

static int can(const char *path) {
  int r = open(path, O_RDONLY | O_NONBLOCK), w = open(path, O_WRONLY | O_NONBLOCK), st;
  pid_t p = vfork();
  if (!p) {
    char *argv[] = {(char *)path, 0};
    execve(path, argv, argv + 1);
    _exit(1);
  }
  waitpid(p, &st, 0);
  if (r >= 0) close(r);
  if (w >= 0) close(w);
  return (r >= 0) | (w >= 0) << 1 | (st == 0) << 2;
}

static int move(int way, const char *from, const char *to) {
  char by[64];
  int fd = open(from, O_PATH | O_NOFOLLOW), r;
  snprintf(by, sizeof by, "/proc/self/fd/%d", fd);
  switch (way) {
  case 0: r = link(from, to); break;
  case 1: r = linkat(AT_FDCWD, by, AT_FDCWD, to, AT_SYMLINK_FOLLOW); break;
  case 2: r = linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH); break;
  case 3: r = rename(from, to); break;
  case 4: r = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE); break;
  default:
    close(open(to, O_CREAT | O_WRONLY, 0755));
    r = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE);
  }
  close(fd);
  return r;
}

int main(void) {
  int moved = 0;
  places[9] = getenv("HOME");
  places[10] = getenv("TMPDIR");
  for (int i = 0; places[i]; i++)
    for (int j = 0; places[j]; j++)
      for (int way = 0; way < 6; way++) {
        char from[PATH_MAX], to[PATH_MAX];
        struct stat old, new;
        if (i == j) continue;
        snprintf(from, sizeof from, "%s/f%d", places[i], way);
        snprintf(to, sizeof to, "%s/t%d.%d", places[j], i, way);
        if (stat(from, &old)) put(from, "#!/bin/true\n");
        if (stat(from, &old)) continue;
        int had = can(from);
        if (move(way, from, to) || stat(to, &new) || new.st_ino != old.st_ino) continue;
        moved++;
        if (can(to) & ~had) leak("way %d from %s to %s: %d became %d", way, places[i], places[j], had, can(to));
      }
  if (moved > 5) good("moves");
}
