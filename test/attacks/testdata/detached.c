/* A file system that the policy denies is taken away while the tool holds a directory on it. Below that directory are paths that the policy grants
 * elsewhere: the kernel names the files by them. */
#include "attack.h"

int main(void) {
  char dir[PATH_MAX], name[PATH_MAX];
  int disk = open("disk", O_PATH | O_DIRECTORY), fd;
  getcwd(dir, sizeof dir);
  const char *const files[] = {"usr/share/k", "memfd:k", name};
  snprintf(name, sizeof name, "%s/src/a", dir + 1);
  for (int i = 0; i < 3; i++) spill(openat(disk, files[i], O_RDONLY), "a denied file system");
  fd = openat(disk, "memfd:k", O_PATH);
  if (put("src/ready", "x\n") < 0) return 1;
  told(AT_FDCWD, "src/gone");
  for (int i = 0; i < 3; i++) spill(openat(disk, files[i], O_RDONLY), "a file system that was taken away");
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  spill(open(self, O_RDONLY), "a removed file that is named as one of memory");
  done(openat(disk, name, O_WRONLY), "writing");
  done(unlinkat(disk, name, 0), "removing");
  done(renameat(disk, name, disk, strcat(dir, "/src/b") + 1), "renaming");
  done(mkdirat(disk, dir + 1, 0755), "making");
  done(syscall(SYS_execveat, disk, "usr/share/program", (char *[]){"program", 0}, (char *[]){0}, 0), "starting");
  fchdir(disk);
  spill(open("usr/share/k", O_RDONLY), "a working directory that was taken away");
  int own = memfd_create("own", 0);
  snprintf(self, sizeof self, "/proc/self/fd/%d", own);
  if (write(own, "x", 1) == 1 && open(self, O_RDWR) >= 0 && access(self, F_OK) == 0) good("a file of memory");
  *strrchr(dir, '/') = 0;
  if (chdir(dir) == 0 && fine("a")) good("read beside it");
  return 0;
}
