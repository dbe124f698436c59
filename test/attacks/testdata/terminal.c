/* The terminal of the run is closed, and the user opens another one, which gets its number. */
#include "attack.h"

static char name[64];

static void tries(const char *path, const char *how) {
  int fd = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return;
  spill(fd, how);
}

int main(int argc, char **argv) {
  signal(SIGHUP, SIG_IGN);
  if (ttyname_r(0, name, sizeof name)) return 1;
  int own = open(name, O_RDWR | O_NOCTTY), tty = open("/dev/tty", O_RDWR | O_NOCTTY);
  if (own >= 0 && tty >= 0) good("opens its own");
  close(own), close(tty), close(0);
  good("lets go");
  told(AT_FDCWD, "src/go");
  tries(name, "the name of a terminal that is another one now");
  int p = open(name, O_PATH);
  if (p >= 0 && dup2(p, 0) == 0) {
    tries("/proc/self/fd/0", "a standard descriptor that is another terminal now");
    tries("/dev/stdin", "the standard input that is another terminal now");
  }
  tries("/dev/tty", "the controlling terminal that is another one now");
  good("tries");
}
