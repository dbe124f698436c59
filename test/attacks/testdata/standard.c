/* A standard descriptor is opened again for no more than the tool got it for: 0 to read, 2 to append. */
#include "attack.h"

static volatile int stop;
static int in, out, own, tried;
static dev_t dev;
static ino_t ino;

static void *flip(void *x) {
  while (!stop) { dup2(in, 0); dup2(own, 0); dup2(out, 2); dup2(own, 2); }
}
static void changes(int fd, const char *how) {
  struct stat st;
  if (fd >= 0 && !fstat(fd, &st) && st.st_dev == dev && st.st_ino == ino) leak("%s can be written", how);
  if (fd >= 0) close(fd);
}
static void *use(void *x) {
  while (!stop) {
    spill(open("/proc/self/fd/2", O_RDONLY), "2, flipping");
    spill(open("/dev/stderr", O_RDWR), "2, flipping, to write as well");
    changes(open("/dev/fd/0", O_RDWR), "0, flipping,");
    tried++;
    lap();
  }
}

int main(void) {
  in = fcntl(0, F_DUPFD, 50), out = fcntl(2, F_DUPFD, 50), own = open("src/own", O_RDWR | O_CREAT, 0644);
  struct stat st;
  if (fstat(0, &st) || own < 0) return 1;
  dev = st.st_dev, ino = st.st_ino;
  spill(open("/proc/self/fd/2", O_RDONLY), "2");
  changes(open("/proc/self/fd/0", O_WRONLY), "0");
  dup2(open("/proc/self/fd/2", O_PATH), 2);
  spill(open("/proc/self/fd/2", O_RDONLY), "a descriptor of 2 without a right, as 2");
  dup2(open("/proc/self/fd/0", O_PATH), 0);
  changes(open("/proc/self/fd/0", O_WRONLY), "a descriptor of 0 without a right, as 0,");
  pthread_t t[3];
  pthread_create(t, 0, flip, 0); pthread_create(t + 1, 0, use, 0); pthread_create(t + 2, 0, use, 0);
  laps(ROUNDS(600));
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  if (tried > 5) good("flips");
  dup2(in, 0); dup2(out, 2);
  int w = open("/dev/stderr", O_WRONLY | O_APPEND);
  if (w >= 0 && write(w, "said\n", 5) == 5) good("writes");
  if (fine("/dev/stdin")) good("reads");
}
