/* What every hostile tool of these tests shares. A breach prints LEAK, a control GOOD. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
#include <sys/mount.h>
#include <linux/fs.h>
#include <linux/openat2.h>

#ifndef RENAME_EXCHANGE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

static void say(const char *kind, const char *fmt, va_list ap) {
  char b[600];
  int n = snprintf(b, sizeof b, "%s ", kind);
  n += vsnprintf(b + n, sizeof b - n - 1, fmt, ap);
  if (n > (int)sizeof b - 2) n = sizeof b - 2;
  b[n++] = '\n';
  write(1, b, n);
}
static void leak(const char *fmt, ...) { va_list a; va_start(a, fmt); say("LEAK", fmt, a); va_end(a); }

// stands_in reports whether a socket is one of accessc's in place of one of the internet, for refusals that name the host.
__attribute__((unused)) static int stands_in(int fd) {
	int domain = -1;
	socklen_t n = sizeof domain;
	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) && domain == AF_UNIX;
}
static void good(const char *fmt, ...) { va_list a; va_start(a, fmt); say("GOOD", fmt, a); va_end(a); }
static void note(const char *fmt, ...) { va_list a; va_start(a, fmt); say("NOTE", fmt, a); va_end(a); }

/* ROUNDS are those of a race: their number and not a time, so that a busy machine has as many. SCALE is 1 in the gate. */
#ifndef SCALE
#define SCALE 1
#endif
#define ROUNDS(n) ((long)(n) * SCALE)

/* Threads of a race call lap in each of their rounds, and laps waits until they have made a number of them. */
static pthread_mutex_t lapping = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lapped = PTHREAD_COND_INITIALIZER;
static long made_laps, goal;
static void lap(void) {
  pthread_mutex_lock(&lapping);
  if (++made_laps == goal) pthread_cond_signal(&lapped);
  pthread_mutex_unlock(&lapping);
}
static void laps(long n) {
  pthread_mutex_lock(&lapping);
  for (goal = made_laps + n; made_laps < goal;) pthread_cond_wait(&lapped, &lapping);
  pthread_mutex_unlock(&lapping);
}

/* told waits until the user writes into a fifo. */
static void told(int dir, const char *fifo) {
  char c;
  int fd = openat(dir, fifo, O_RDONLY);
  if (fd < 0 || read(fd, &c, 1) != 1) note("%s: %m", fifo);
  close(fd);
}

/* reveals tells whether a descriptor yields the secret. */
static int reveals(int fd) {
  char b[4096];
  ssize_t n = pread(fd, b, sizeof b - 1, 0);
  if (n < 0) n = read(fd, b, sizeof b - 1);
  return n > 0 && memmem(b, n, "TOP-SEC" "RET", 10) != 0;
}

/* spill closes a descriptor and reports it if it yields the secret. */
static int spill(int fd, const char *how) {
  if (fd < 0) return 0;
  int r = reveals(fd);
  if (r) leak("read by %s", how);
  close(fd);
  return r;
}

/* done reports a call that must fail. */
static void done(long r, const char *how) {
  if (r >= 0) leak("%s succeeded", how);
}

static int put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
  if (fd < 0) return -1;
  write(fd, text, strlen(text));
  return close(fd);
}

/* fine checks a control: a file that may be read holds "fine". */
static int fine(const char *path) {
  char b[16] = "";
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  read(fd, b, 15);
  close(fd);
  return !strncmp(b, "fine", 4);
}
