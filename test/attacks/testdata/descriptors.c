/* What may not be read is opened without a right, and the descriptor is used in every way. */
#include "attack.h"
#include <linux/memfd.h>

static void tricks(const char *path, int dir) {
  char p[256], b[64];
  int fd = open(path, O_PATH);
  if (fd < 0) { note("no O_PATH of %s: %m", path); return; }
  good("O_PATH");
  const char *forms[] = {"/proc/self/fd/%d", "/proc/thread-self/fd/%d", "/dev/fd/%d", "/proc/self/task/../fd/%d", "/proc/self/root/proc/self/fd/%d", "/proc/self/cwd/../../../../proc/self/fd/%d"};
  for (int i = 0; i < 6; i++) {
    snprintf(p, sizeof p, forms[i], fd);
    spill(open(p, O_RDONLY), p);
    spill(open(p, O_RDWR), p);
    done(open(p, O_WRONLY), p);
    done(truncate(p, 1), p);
    done(chmod(p, 0606), p);
    done(setxattr(p, "user.a", "b", 1, 0), p);
    done(utimensat(AT_FDCWD, p, 0, 0), p);
    done(linkat(AT_FDCWD, p, AT_FDCWD, "src/l1", AT_SYMLINK_FOLLOW), p);
  }
  snprintf(p, sizeof p, "/proc/%d/fd/%d", getpid(), fd);
  spill(open(p, O_RDONLY), "own pid");
  spill(openat(fd, "", O_RDONLY), "openat empty");
  struct open_how how = {.flags = O_RDONLY};
  spill(syscall(SYS_openat2, fd, "", &how, sizeof how), "openat2 empty");
  for (int r = 1; r < 64; r++) {
    how.resolve = r;
    spill(syscall(SYS_openat2, dir, path, &how, sizeof how), "openat2 resolve");
    spill(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how), "openat2 resolve");
  }
  done(linkat(fd, "", AT_FDCWD, "src/l2", AT_EMPTY_PATH), "linkat empty");
  done(syscall(452, fd, "", 0607, AT_EMPTY_PATH), "fchmodat2");
  done(fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH), "fchownat empty");
  done(utimensat(fd, "", 0, AT_EMPTY_PATH), "utimensat empty");
  done(syscall(463, fd, "", AT_EMPTY_PATH, "user.a", "b", 1), "setxattrat");
  done(fchmod(fd, 0600), "fchmod of O_PATH");
  char *argv[] = {"x", 0};
  done(syscall(SYS_copy_file_range, fd, 0, 1, 0, 10, 0), "copy_file_range");
  done(sendfile(1, fd, 0, 10), "sendfile");
  done(mmap(0, 10, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0, "mmap");
  int out = open("src/clone", O_RDWR | O_CREAT, 0644);
  done(ioctl(out, FICLONE, fd), "FICLONE");
  /* A handle of the file, and one opened through it. */
  struct { struct file_handle h; char room[128]; } h;
  h.h.handle_bytes = 128;
  int mount;
  if (!name_to_handle_at(AT_FDCWD, path, &h.h, &mount, 0)) {
    spill(open_by_handle_at(dir, &h.h, O_RDONLY), "open_by_handle_at");
    spill(open_by_handle_at(AT_FDCWD, &h.h, O_RDONLY), "open_by_handle_at");
  }
  h.h.handle_bytes = 128;
  if (!name_to_handle_at(AT_FDCWD, path, &h.h, &mount, 0x200)) spill(open_by_handle_at(dir, &h.h, O_RDONLY), "handle fid");
  /* Passed on to a child and back as a message. */
  int sv[2];
  if (!socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) {
    if (!fork()) {
      struct msghdr m = {0};
      struct iovec io = {b, 1};
      char c[CMSG_SPACE(sizeof(int))];
      m.msg_iov = &io; m.msg_iovlen = 1; m.msg_control = c; m.msg_controllen = sizeof c;
      if (recvmsg(sv[1], &m, 0) > 0 && CMSG_FIRSTHDR(&m)) {
        int got = *(int *)CMSG_DATA(CMSG_FIRSTHDR(&m));
        snprintf(p, sizeof p, "/proc/self/fd/%d", got);
        spill(open(p, O_RDONLY), "passed descriptor");
        if (!fchdir(got)) spill(open("k", O_RDONLY), "fchdir to passed descriptor");
      }
      _exit(0);
    }
    struct msghdr m = {0};
    struct iovec io = {b, 1};
    char c[CMSG_SPACE(sizeof(int))];
    m.msg_iov = &io; m.msg_iovlen = 1; m.msg_control = c; m.msg_controllen = sizeof c;
    struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
    cm->cmsg_level = SOL_SOCKET; cm->cmsg_type = SCM_RIGHTS; cm->cmsg_len = CMSG_LEN(sizeof(int));
    *(int *)CMSG_DATA(cm) = fd;
    sendmsg(sv[0], &m, 0);
    wait(0);
  }
  /* The child looks at its parent. */
  int parent = getpid();
  if (!fork()) {
    snprintf(p, sizeof p, "/proc/%d/fd/%d", parent, fd);
    spill(open(p, O_RDONLY), "parent's fd");
    snprintf(p, sizeof p, "/proc/%d/root%s", parent, path);
    spill(open(p, O_RDONLY), "parent's root");
    snprintf(p, sizeof p, "/proc/%d/cwd/%s", parent, path);
    spill(open(p, O_RDONLY), "parent's cwd");
    long pfd = syscall(SYS_pidfd_open, parent, 0);
    spill(syscall(SYS_pidfd_getfd, pfd, fd, 0), "pidfd_getfd");
    _exit(0);
  }
  wait(0);
  close(fd);
}

int main(int argc, char **argv) {
  int dir = open(".", O_RDONLY | O_DIRECTORY);
  if (fine("/proc/self/cwd/src/a")) good("read by /proc/self/cwd");
  tricks(".env", dir);
  tricks("secrets/k", dir);
  tricks("secrets", dir);
  char cwd[PATH_MAX], p[2 * PATH_MAX];
  getcwd(cwd, sizeof cwd);
  snprintf(p, sizeof p, "/proc/self/root%s/.env", cwd); spill(open(p, O_RDONLY), p);
  snprintf(p, sizeof p, "%s/../outside/private", cwd); spill(open(p, O_RDONLY), p); tricks(p, dir);
  int s = open("secrets", O_PATH | O_DIRECTORY);
  spill(openat(s, "k", O_RDONLY), "openat of a denied directory");
  spill(openat(s, "open/../k", O_RDONLY), "openat through a granted directory");
  if (!fchdir(s)) { spill(open("k", O_RDONLY), "fchdir"); spill(open("./open/../k", O_RDONLY), "fchdir"); if (fine("open/f")) good("read below an exception"); }
}
