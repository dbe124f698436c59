/* What may be written and not read, and moves to where more is allowed. */
#include "attack.h"

int main(void) {
  char p[128], b[32];
  const char *homes[] = {"src", 0, 0};
  homes[1] = getenv("HOME"); homes[2] = getenv("TMPDIR");
  int w = open("drop/k", O_WRONLY | O_APPEND);
  if (w >= 0) {
    good("write only");
    snprintf(p, sizeof p, "/proc/self/fd/%d", w);
    spill(open(p, O_RDONLY), "a reopen"); spill(open(p, O_RDWR), "a reopen"); spill(openat(w, "", O_RDONLY), "an empty name");
    done(mmap(0, 10, PROT_READ, MAP_SHARED, w, 0) == MAP_FAILED ? -1 : 0, "mmap for reading");
    done(mmap(0, 10, PROT_READ | PROT_WRITE, MAP_SHARED, w, 0) == MAP_FAILED ? -1 : 0, "mmap");
    done(read(w, b, 1), "read"); done(pread(w, b, 1, 0), "pread");
    int o = open("src/out", O_CREAT | O_RDWR, 0644);
    loff_t off = 0;
    done(syscall(SYS_copy_file_range, w, &off, o, 0, 10, 0), "copy_file_range"); off = 0;
    done(sendfile(o, w, &off, 10), "sendfile"); off = 0;
    int q[2]; pipe(q);
    done(splice(w, &off, q[1], 0, 10, 0), "splice");
    done(ioctl(o, FICLONE, w), "FICLONE");
    struct { uint64_t so, len; uint16_t n, r1; uint32_t r2; int64_t fd; uint64_t o, done_; int32_t st; uint32_t r; } dd = {0, 10, 1, 0, 0, o, 0};
    write(o, "TOP-SEC", 7);
    if (!ioctl(w, _IOWR(0x94, 54, char[24]), &dd) && dd.st == 0) leak("FIDEDUPERANGE compares");
    fcntl(w, F_SETFL, O_RDWR); done(read(w, b, 1), "read after F_SETFL");
  }
  spill(open("drop/k", O_RDONLY), "a name"); spill(open("drop/k", O_RDWR), "O_RDWR"); spill(open("drop/k", 3), "mode 3"); spill(open("drop/k", O_RDWR | O_CREAT, 0644), "O_CREAT");
  int n = open("drop/new", O_CREAT | O_RDWR, 0644);
  if (n >= 0) note("a new file is open for both");
  for (int i = 0; i < 3; i++) {
    const char *from[] = {"drop/k", "drop/sub/k", "drop/sub", "trash/k", "trash/sub", "gen/f", 0};
    for (int k = 0; from[k]; k++) {
      snprintf(p, sizeof p, "%s/got", homes[i]);
      done(rename(from[k], p), from[k]); done(link(from[k], p), from[k]);
      int fd = open(from[k], O_PATH);
      done(linkat(fd, "", AT_FDCWD, p, AT_EMPTY_PATH), from[k]);
      char self[64]; snprintf(self, 64, "/proc/self/fd/%d", fd);
      done(linkat(AT_FDCWD, self, AT_FDCWD, p, AT_SYMLINK_FOLLOW), from[k]);
      put(p, "x"); done(renameat2(AT_FDCWD, from[k], AT_FDCWD, p, RENAME_EXCHANGE), from[k]);
      done(renameat2(AT_FDCWD, p, AT_FDCWD, from[k], RENAME_EXCHANGE), from[k]);
      unlink(p);
      close(fd);
    }
  }
  /* A program is carried to where programs start. */
  put("src/prog", "#!/bin/sh\necho LEAK a program was carried\n"); chmod("src/prog", 0755);
  mkdir("src/progs", 0755); put("src/progs/prog", "#!/bin/sh\necho LEAK a program was carried\n"); chmod("src/progs/prog", 0755);
  snprintf(p, sizeof p, "%s/prog", homes[1]);
  done(rename("src/prog", p), "rename to home"); done(link("src/prog", p), "link to home");
  mkdir(p, 0755); done(renameat2(AT_FDCWD, "src/progs", AT_FDCWD, p, RENAME_EXCHANGE), "exchange with home"); rmdir(p);
  done(rename("src/progs", p), "rename of a directory to home");
  symlink("../src", "src/here"); snprintf(p, sizeof p, "%s/ln", homes[1]);
  char cwd[PATH_MAX], to[PATH_MAX + 20];
  getcwd(cwd, sizeof cwd); snprintf(to, sizeof to, "%s/src/prog", cwd); symlink(to, p);
  char *av[] = {"x", 0};
  if (!fork()) { execv(p, av); execv("src/prog", av); _exit(1); }
  wait(0);
  if (!unlink("trash/other")) good("delete");
  if (!put("drop/mine", "x")) good("create");
  if (!rename("src/a", "drop/given")) good("a move that loses");
}
