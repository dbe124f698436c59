/* The user saves files as editors do, by a rename over the old one, and as others do. */
#include "attack.h"

static volatile int stop;
static int reads;
static void *use(void *x) {
  int fd, d = open("secrets", O_PATH), w = open(".", O_RDONLY | O_DIRECTORY);
  while (!stop) {
    spill(open(".env", O_RDONLY), "a saved name"); spill(openat(w, ".env", O_RDONLY), "a saved name"); spill(openat(d, "k", O_RDONLY), "a saved name");
    fd = open(".env", O_PATH);
    if (fd >= 0) { char p[64]; snprintf(p, sizeof p, "/proc/self/fd/%d", fd); sched_yield(); spill(open(p, O_RDONLY), "a file that was replaced"); close(fd); }
    spill(open("secrets/k", O_RDONLY), "a saved name"); spill(open("secrets/fresh/k", O_RDONLY), "a fresh name"); spill(open("secrets/open/../k", O_RDONLY), "a saved name");
    if (!rename(".env", "src/env")) leak("a rename of a saved name");
    if (!link("secrets/k", "src/k")) leak("a link of a saved name");
    if (!unlink(".env")) leak("unlink of a saved name");
    if (!truncate("gen/f", 0)) leak("truncate of a saved name");
    fd = open("gen/f", O_WRONLY | O_CREAT, 0644); if (fd >= 0) { leak("an update of a saved name"); close(fd); }
    if (!rename("src/new", "gen/f")) leak("a rename over a saved name");
    put("src/new", "x");
    if (fine("src/a")) reads++;
    if (fine("gen/f")) reads++;
    lap();
  }
}
int main(void) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(t + i, 0, use, 0);
  laps(ROUNDS(80));
  while (reads <= 20) laps(1);
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  if (reads > 20) good("read what the user saves");
  note("%d reads", reads);
}
