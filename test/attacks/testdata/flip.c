/* Names and flags in memory change between the look of a supervisor and the act of the kernel. */
#include "attack.h"
#include <linux/futex.h>

static volatile int stop;
static char *volatile buf;   /* flips between two names of one length */
static const char *one = "././src/a", *two[] = {"./././.env", "secrets//k"};
static struct open_how *how;
static int good_opens;

static void *flipper(void *x) {
  long which = (long)x;
  char a[16] = "", b[16] = "";
  strcpy(a, "././/src/a"); strcpy(b, which ? "secrets//k" : "././././.env" + 2);
  while (!stop) {
    memcpy(buf, a, 11);
    for (volatile int i = 0; i < 300; i++);
    memcpy(buf, b, 11);
    for (volatile int i = 0; i < 300; i++);
  }
}

static void *howflip(void *x) {
  while (!stop) {
    how->flags = O_RDONLY;
    for (volatile int i = 0; i < 300; i++);
    how->flags = O_RDWR | O_TRUNC;
    for (volatile int i = 0; i < 300; i++);
  }
}

static void *opener(void *x) {
  while (!stop) {
    int fd = open(buf, O_RDONLY);
    if (fd >= 0) {
      if (reveals(fd)) leak("open of a flipping name");
      else __atomic_add_fetch(&good_opens, 1, 0);
      close(fd);
    }
    fd = syscall(SYS_openat2, AT_FDCWD, "gen/f", how, sizeof *how);
    if (fd >= 0) {
      if (write(fd, "evil", 4) == 4) leak("openat2 with flipping flags wrote");
      close(fd);
    }
    fd = open(buf, O_RDWR | O_CREAT, 0600);
    if (fd >= 0) { if (reveals(fd)) leak("O_RDWR of a flipping name"); close(fd); }
    lap();
  }
}

static void *changer(void *x) {
  struct timespec ts[2] = {{1, 0}, {1, 0}};
  while (!stop) {
    /* Each of these is harmless for src/a and a breach for the other name. */
    chmod(buf, 0604);
    utimensat(AT_FDCWD, buf, ts, 0);
    setxattr(buf, "user.x", "y", 1, 0);
    if (!link(buf, "src/l")) { spill(open("src/l", O_RDONLY), "a link of a flipping name"); unlink("src/l"); }
    if (!renameat2(AT_FDCWD, buf, AT_FDCWD, "src/m", 0)) {
      spill(open("src/m", O_RDONLY), "a rename of a flipping name");
      rename("src/m", "src/a");
    }
    truncate(buf, 3);
    int fd = open("src/a", O_RDONLY | O_CREAT, 0644);
    close(fd);
  }
}

int main(void) {
  buf = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  munmap(buf + 4096, 4096);
  buf += 4096 - 11; /* the name ends where memory ends */
  how = calloc(1, sizeof *how);
  if (fine("src/a")) good("read");
  for (long round = 0; round < 2; round++) {
    pthread_t t[6];
    stop = 0;
    strcpy(buf, "././/src/a");
    pthread_create(t, 0, flipper, (void *)round);
    pthread_create(t + 1, 0, howflip, 0);
    for (int i = 2; i < 5; i++) pthread_create(t + i, 0, opener, 0);
    pthread_create(t + 5, 0, changer, 0);
    laps(ROUNDS(400));
    while (good_opens <= 20) laps(1);
    stop = 1;
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
  }
  if (good_opens > 20) good("opens while flipping");
  note("%d", good_opens);
}
