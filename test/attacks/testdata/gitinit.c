/* The user makes a repository while the tool is about. */
#include "attack.h"
static volatile int stop;
static void *use(void *x) {
  mkdir("src/g", 0755); mkdir("src/g/hooks", 0755); put("src/g/config", "evil"); put("src/g/hooks/pre-commit", "evil");
  while (!stop) {
    put(".git/config", "evil"); put(".git/hooks/pre-commit", "evil"); mkdir(".git/hooks", 0755);
    link("src/g/config", ".git/config"); rename("src/h", ".git/hooks");
    symlink("src/g", ".git"); symlink("../src/g/hooks", ".git/hooks"); symlink("../src/g/config", ".git/config");
    rename("src/g", ".git"); renameat2(AT_FDCWD, "src/g", AT_FDCWD, ".git", RENAME_EXCHANGE);
    rename(".git", "src/mine"); if (!access("src/mine", F_OK)) { leak("the repository was moved"); }
    rename(".git/hooks", "src/hooks"); if (!access("src/hooks", F_OK)) leak("hooks were moved");
    unlink(".git/config"); rename(".git/config", "src/config"); truncate(".git/config", 0); chmod(".git/hooks/pre-commit", 0777);
    int d = open(".git", O_PATH | O_DIRECTORY); if (d >= 0) { int fd = openat(d, "config", O_WRONLY | O_CREAT | O_TRUNC, 0644); if (fd >= 0) { write(fd, "evil", 4); leak("config by a descriptor"); close(fd); } fd = openat(d, "hooks/pre-commit", O_WRONLY | O_CREAT, 0755); if (fd >= 0) { write(fd, "evil", 4); leak("a hook by a descriptor"); close(fd); } close(d); }
    d = open(".git/hooks", O_PATH | O_DIRECTORY); if (d >= 0) { int fd = openat(d, "post-commit", O_WRONLY | O_CREAT, 0755); if (fd >= 0) leak("a new hook"); close(d); }
    lap();
  }
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(t + i, 0, use, 0);
  laps(ROUNDS(80));
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  for (;;) { mkdir(".git", 0755); if (!put(".git/description", "x")) { good("create beside what is protected"); break; } }
}
