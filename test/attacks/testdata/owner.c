/* Devices, programs that run as their owner, capabilities, and files that the kernel or the
   supervisor makes for the tool. */
#include "attack.h"

/* cores crashes where no file may be made. */
static void cores(void) {
  static const char *closed[] = {"gen", "secrets", "kept"};
  struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  int st;
  for (int i = 0; i < 3; i++) {
    if (!fork()) {
      setrlimit(RLIMIT_CORE, &all);
      if (chdir(closed[i])) _exit(1);
      abort();
    }
    wait(&st);
  }
}

static void masked(const char *how, const char *path) {
  struct stat st;
  if (!stat(path, &st) && st.st_mode & 077) leak("%s: the mask was not applied: %o", how, st.st_mode);
}

int main(void) {
  umask(077);
  close(open("src/u", O_CREAT | O_RDWR, 0666));
  mkdir("src/ud", 0777);
  mknod("src/uf", S_IFIFO | 0666, 0);
  masked("open", "src/u"); masked("mkdir", "src/ud"); masked("mknod", "src/uf");
  umask(0);
  struct stat st;
  int fd = open("src/s", O_CREAT | O_RDWR, 06777);
  fchmod(fd, 06755);
  if (!stat("src/s", &st) && st.st_mode & 06000) leak("a program that runs as its owner: %o", st.st_mode);
  if (!fsetxattr(fd, "security.capability", "\1\0\0\2\377\377\377\377\0\0\0\0\377\377\377\377\0\0\0\0", 20, 0)) leak("a program with capabilities");
  static const int kinds[] = {S_IFCHR, S_IFBLK}, devices[] = {0, 0x101, 0x103, 0x800, 0xfe00};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 5; j++)
      if (!mknod("src/dev", kinds[i] | 0666, devices[j])) leak("a device %x", devices[j]);
  if (!chroot("src")) leak("chroot");
  if (!prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)) leak("no_new_privs is not set");
  char b[4096] = "";
  read(open("/proc/self/status", O_RDONLY), b, sizeof b - 1);
  static const char *sets[] = {"CapEff:", "CapPrm:", "CapInh:", "CapAmb:"};
  for (int i = 0; i < 4; i++) {
    char *at = strstr(b, sets[i]);
    if (!at || strtoull(at + 7, 0, 16)) leak("%s is not empty", sets[i]);
  }
  cores();
  if (!put("src/own", "fine") && fine("src/own") && !chmod("src/own", 0700)) good("a file of its own");
}
