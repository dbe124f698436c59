/* Rules about names that are not there yet, while the user makes them. */
#include "attack.h"

static volatile int stop;
static void *mover(void *x) {
  while (!stop) {
    mkdir("late", 0755);
    rename("late", "src/away");
    spill(open("src/away/.env", O_RDONLY), "a directory that was moved from under the user");
    rename("src/away", "late");
    renameat2(AT_FDCWD, "src/d", AT_FDCWD, "late", RENAME_EXCHANGE);
    spill(open("src/d/.env", O_RDONLY), "an exchanged directory");
    renameat2(AT_FDCWD, "src/d", AT_FDCWD, "late", RENAME_EXCHANGE);
    symlink("src/d", "late");
    spill(open("src/d/.env", O_RDONLY), "a symlink at the place of a rule");
    rmdir("src/away");
    lap();
  }
}
static void *reader(void *x) {
  while (!stop) {
    spill(open("late/.env", O_RDONLY), "a late name");
    spill(open("late/./.env", O_RDONLY), "a late name");
    spill(open("src/../late//.env", O_RDONLY), "a late name");
    spill(open("late/.env", O_RDWR | O_CREAT, 0644), "a late name, O_CREAT");
    int d = open("late", O_PATH);
    if (d >= 0) { spill(openat(d, ".env", O_RDONLY), "a late name by descriptor"); spill(openat(d, "../late/.env", O_RDONLY), "x"); close(d); }
    link("late/.env", "src/l"); spill(open("src/l", O_RDONLY), "a link of a late name"); unlink("src/l");
    rename("late/.env", "src/l"); spill(open("src/l", O_RDONLY), "a move of a late name"); unlink("src/l");
    done(open("late/.env", O_WRONLY | O_CREAT | O_EXCL, 0644), "making a late name");
    put("src/ev", "evil");
    if (!rename("src/ev", "late/.env")) leak("rename to a late name");
    if (!link("src/ev", "late/.env")) leak("link to a late name");
    if (!symlink("../src/a", "late/.env")) leak("symlink at a late name");
    if (!mkdir("late/.env", 0755)) leak("mkdir at a late name");
  }
}
int main(void) {
  pthread_t t[3];
  pthread_create(t, 0, mover, 0); pthread_create(t + 1, 0, reader, 0); pthread_create(t + 2, 0, mover, 0);
  laps(ROUNDS(250));
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  for (;;) {
    rename("late", "src/gone"); unlink("late"); rmdir("late");
    mkdir("late", 0755);
    if (!put("late/other", "x")) { good("create beside a late name"); break; }
  }
}
