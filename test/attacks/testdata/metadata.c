/* Every call that changes what a file is, on a file that may be read only. */
#include "attack.h"
#include <linux/fsverity.h>

/* The lines name the file. */
static void changes(const char *p, long r, const char *how) { if (r >= 0) leak("%s of %s succeeded", how, p); }
#define done(r, how) changes(p, r, how)

struct fileattr { uint64_t xflags; uint32_t extsize, nextents, projid, cowext; };

static void attack(const char *p) {
  int fd = open(p, O_RDONLY), x;
  struct stat st, now_;
  stat(p, &st);
  if (fd >= 0) {
    good("open");
    unsigned long fl = 0;
    if (!ioctl(fd, FS_IOC_GETFLAGS, &fl)) {
      long n = fl ^ FS_NODUMP_FL;
      if (!ioctl(fd, FS_IOC_SETFLAGS, &n)) { leak("FS_IOC_SETFLAGS of %s", p); ioctl(fd, FS_IOC_SETFLAGS, &fl); }
      if (!ioctl(fd, 0x40046602 /* FS_IOC32_SETFLAGS */, &n)) leak("FS_IOC32_SETFLAGS of %s", p);
    }
    struct fsxattr fa;
    if (!ioctl(fd, FS_IOC_FSGETXATTR, &fa)) {
      fa.fsx_xflags ^= FS_XFLAG_NODUMP;
      done(ioctl(fd, FS_IOC_FSSETXATTR, &fa), "FS_IOC_FSSETXATTR");
    }
    int gen = 42;
    done(ioctl(fd, _IOW('v', 2, long), &gen), "FS_IOC_SETVERSION");
    done(ioctl(fd, _IOW('f', 4, long), &gen), "EXT4_IOC_SETVERSION");
    struct fsverity_enable_arg v = {.version = 1, .hash_algorithm = 1, .block_size = 4096};
    done(ioctl(fd, FS_IOC_ENABLE_VERITY, &v), "FS_IOC_ENABLE_VERITY");
    done(fchmod(fd, 0600), "fchmod");
    done(fchown(fd, getuid(), getgid()), "fchown");
    done(futimens(fd, 0), "futimens");
    done(fsetxattr(fd, "user.a", "b", 1, 0), "fsetxattr");
    done(fremovexattr(fd, "user.here"), "fremovexattr");
    done(ftruncate(fd, 0), "ftruncate");
    done(fallocate(fd, 0, 0, 100), "fallocate");
    done(fallocate(fd, 3, 0, 4), "punch hole");
    done(write(fd, "x", 1), "write");
    uint64_t hint = 2;
    done(fcntl(fd, 1036, &hint), "F_SET_RW_HINT");
    done(fcntl(fd, 1038, &hint), "F_SET_FILE_RW_HINT");
    void *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    done(m == MAP_FAILED ? -1 : 0, "mmap for writing");
    m = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (m != MAP_FAILED) {
      done(mprotect(m, 4096, PROT_READ | PROT_WRITE), "mprotect of a mapping");
      int mem = open("/proc/self/mem", O_RDWR);
      pwrite(mem, "evil", 4, (off_t)m);
      struct iovec a = {"evil", 4}, b = {m, 4};
      process_vm_writev(getpid(), &a, 1, &b, 1, 0);
      madvise(m, 4096, 9 /* MADV_REMOVE */);
    }
    int q[2];
    pipe(q);
    write(q[1], "evil", 4);
    loff_t off = 0;
    done(splice(q[0], 0, fd, &off, 4, 0), "splice into");
    int other = open("src/a", O_RDWR);
    off = 0;
    done(syscall(SYS_copy_file_range, other, 0, fd, &off, 4, 0), "copy_file_range into");
    done(ioctl(fd, FICLONE, other), "FICLONE into");
    struct file_clone_range cr = {other, 0, 0, 0};
    done(ioctl(fd, FICLONERANGE, &cr), "FICLONERANGE into");
    char re[64];
    snprintf(re, sizeof re, "/proc/self/fd/%d", fd);
    done(open(re, O_RDWR), "reopen for writing");
    done(open(re, O_WRONLY | O_TRUNC), "reopen");
    done(truncate(re, 0), "truncate by fd");
    done(chmod(re, 0600), "chmod by fd");
    done(write(fd, "x", 1), "write after F_SETFL");
  }
  char list[256];
  done(chmod(p, 0600), "chmod");
  done(fchmodat(AT_FDCWD, p, 0600, 0), "fchmodat");
  done(syscall(452, AT_FDCWD, p, 0600, 0), "fchmodat2");
  done(chown(p, getuid(), getgid()), "chown");
  done(lchown(p, getuid(), getgid()), "lchown");
  done(utimensat(AT_FDCWD, p, 0, 0), "utimensat");
  done(syscall(SYS_utime, p, 0), "utime");
  done(syscall(SYS_utimes, p, 0), "utimes");
  done(syscall(SYS_futimesat, AT_FDCWD, p, 0), "futimesat");
  if (fd >= 0) done(syscall(SYS_futimesat, fd, 0, 0), "futimesat of fd");
  if (fd >= 0) done(syscall(SYS_utimensat, fd, 0, 0, 0), "utimensat of fd");
  if (fd >= 0) done(utimensat(fd, "", 0, AT_EMPTY_PATH), "utimensat empty");
  done(setxattr(p, "user.a", "b", 1, 0), "setxattr");
  done(lsetxattr(p, "user.a", "b", 1, 0), "lsetxattr");
  done(removexattr(p, "user.here"), "removexattr");
  done(lremovexattr(p, "user.here"), "lremovexattr");
  done(setxattr(p, "system.posix_acl_access", "\2\0\0\0", 4, 0), "acl");
  struct { uint64_t v; uint32_t n, f; } xa = {(uint64_t)"y", 1, 0};
  done(syscall(463, AT_FDCWD, p, 0, "user.a", &xa, 16), "setxattrat");
  if (fd >= 0) done(syscall(463, fd, "", AT_EMPTY_PATH, "user.a", &xa, 16), "setxattrat empty");
  done(syscall(466, AT_FDCWD, p, 0, "user.here"), "removexattrat");
  struct fileattr at = {FS_XFLAG_NODUMP};
  done(syscall(469, AT_FDCWD, p, &at, sizeof at, 0), "file_setattr");
  if (fd >= 0) done(syscall(469, fd, "", &at, sizeof at, AT_EMPTY_PATH), "file_setattr empty");
  done(truncate(p, 0), "truncate");
  done(creat(p, 0644), "creat");
  done(open(p, O_RDONLY | O_TRUNC), "O_RDONLY|O_TRUNC");
  done(open(p, 3), "access mode 3");
  done(open(p, O_WRONLY | O_APPEND), "append");
  done(open(p, O_RDWR | O_CREAT, 0644), "O_CREAT");
  done(mount(p, p, 0, 4096, 0), "mount");
  stat(p, &now_);
  if (memcmp(&st.st_mtim, &now_.st_mtim, sizeof st.st_mtim) || memcmp(&st.st_ctim, &now_.st_ctim, sizeof st.st_ctim) || st.st_mode != now_.st_mode)
    leak("%s changed", p);
}

int main(void) {
  attack("gen/f");
  attack("kept/f");
  attack("secrets/k");
  attack(".env");
  attack("bin/tool");
  attack("accessc.toml");
  attack("gen");
  attack("secrets");
  attack("../outside/private");
  attack("../outside");
  /* The same on a file that may be changed. */
  if (!chmod("src/a", 0640) && !utimensat(AT_FDCWD, "src/a", 0, 0) && !truncate("src/a", 2)) good("metadata");
}
