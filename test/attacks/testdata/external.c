/* A directory outside of the workspace, approved, with exceptions; its symlink changes. */
#include "attack.h"
static volatile int stop;
static int reads;
static char real[PATH_MAX], other[PATH_MAX];
/* use tries all names for ever, with a descriptor of the target, or with one of the directory that the symlink leads to by now. */
static void *use(void *target) {
  char p[PATH_MAX + 100];
  int d = target ? *(int *)target : open("fork", O_PATH | O_DIRECTORY), f;
  while (!stop) {
    spill(open("fork/.env", O_RDONLY), "an exception below"); spill(open("fork/../private", O_RDONLY), ".. of the target"); spill(open("fork/../other/private", O_RDONLY), "beside the target"); spill(open("fork/private", O_RDONLY), "another target");
    snprintf(p, sizeof p, "%s/.env", real); spill(open(p, O_RDONLY), "the target's path"); snprintf(p, sizeof p, "%s/private", other); spill(open(p, O_RDONLY), "the other path");
    spill(openat(d, ".env", O_RDONLY), "a descriptor"); spill(openat(d, "../private", O_RDONLY), "a descriptor, ..");
    symlinkat("../private", d, "ln"); spill(openat(d, "ln", O_RDONLY), "a symlink in the target"); unlinkat(d, "ln", 0); symlinkat("../other", d, "lo"); spill(openat(d, "lo/private", O_RDONLY), "a symlink in the target"); unlinkat(d, "lo", 0);
    renameat(d, ".env", d, "env2"); spill(openat(d, "env2", O_RDONLY), "a move"); linkat(d, ".env", AT_FDCWD, "src/e", 0); spill(open("src/e", O_RDONLY), "a link");
    renameat(d, "sub", d, "sub2"); spill(openat(d, "sub2/.env", O_RDONLY), "a moved parent"); 
    f = openat(d, "ro/f", O_WRONLY); if (f >= 0) { leak("an update of what may be read only"); close(f); }
    snprintf(p, sizeof p, "%s/ro/f", real); truncate(p, 0); chmod(p, 0600);
    rename("fork", "src/fork"); unlink("fork"); symlink(other, "fork"); spill(open("fork/private", O_RDONLY), "its own symlink");
    symlink(real, "fork"); symlink(real, "src/fork2"); spill(open("src/fork2/.env", O_RDONLY), "a second symlink"); 
    f = open("fork/made", O_CREAT | O_WRONLY, 0644); if (f >= 0) { write(f, "x", 1); close(f); }
    if (fine("fork/f")) reads++;
    lap();
  }
}
int main(void) {
  ssize_t n = readlink("fork", real, sizeof real - 1);
  if (n < 0) return 1;
  snprintf(other, sizeof other, "%s/../other", real);
  int target = open("fork", O_PATH | O_DIRECTORY);
  put("src/ready", "x");
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(t + i, 0, use, i ? 0 : &target);
  laps(ROUNDS(60));
  while (!reads) laps(1);
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  if (reads) good("read of the target");
}
