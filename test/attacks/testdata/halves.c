/* Upper halves of registers that the kernel ignores, names of files by handles, descriptors that
   are sent, and paths that are longer than the kernel takes. */
#include "attack.h"

static void sent(int fd) {
  int pair[2], got;
  char room[CMSG_SPACE(sizeof fd)] = "", byte = 0, by[64];
  struct iovec data = {&byte, 1};
  struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || sendmsg(pair[0], &m, 0) < 0 || recvmsg(pair[1], &m, 0) < 0) return;
  memcpy(&got, CMSG_DATA(c), sizeof got);
  snprintf(by, sizeof by, "/proc/self/fd/%d", got);
  spill(open(by, O_RDONLY), "a descriptor that was sent");
}

static void deep(const char *target) {
  char name[201];
  int dir = open("src", O_PATH | O_DIRECTORY);
  memset(name, 'n', 200);
  name[200] = 0;
  for (int i = 0; i < 30; i++) {
    mkdirat(dir, name, 0755);
    int next = openat(dir, name, O_PATH | O_DIRECTORY);
    if (next < 0) break;
    dir = next;
  }
  symlinkat(target, dir, "up");
  spill(openat(dir, "up/secrets/k", O_RDONLY), "a symlink in a deep directory");
  spill(openat(dir, "up/.env", O_RDONLY), "a symlink in a deep directory");
}

int main(void) {
  const unsigned long high = 5ul << 32;
  char ws[PATH_MAX], by[64];
  int dir = open("secrets", O_PATH | O_DIRECTORY), fd = open("secrets/k", O_PATH);
  spill(syscall(SYS_openat, high | (unsigned)dir, "k", O_RDONLY), "a descriptor with an upper half");
  spill(syscall(SYS_openat, high | (unsigned)AT_FDCWD, "secrets/k", O_RDONLY), "the working directory with an upper half");
  spill(syscall(SYS_openat, AT_FDCWD, "secrets/k", high | O_RDONLY), "flags with an upper half");
  spill(syscall(SYS_openat, AT_FDCWD, ".env", high | O_RDWR), "flags with an upper half");
  for (unsigned long resolve = 0; resolve < 64; resolve = resolve ? resolve * 2 : 1) {
    struct open_how how = {.resolve = resolve};
    spill(syscall(SYS_openat2, dir, "k", &how, sizeof how), "openat2");
    spill(syscall(SYS_openat2, dir, "/k", &how, sizeof how), "openat2 from a directory");
    snprintf(by, sizeof by, "/proc/self/fd/%d", fd);
    spill(syscall(SYS_openat2, AT_FDCWD, by, &how, sizeof how), "openat2 of a magic link");
  }
  struct { struct file_handle h; char room[128]; } handle = {{.handle_bytes = 128}};
  int mount;
  if (!name_to_handle_at(AT_FDCWD, "secrets/k", &handle.h, &mount, 0))
    spill(open_by_handle_at(open(".", O_RDONLY), &handle.h, O_RDONLY), "a handle");
  sent(fd);
  deep(getcwd(ws, sizeof ws));
  int ok = syscall(SYS_openat, high | (unsigned)AT_FDCWD, "src/a", O_RDONLY);
  if (ok >= 0 && fine("src/a")) good("read");
}
