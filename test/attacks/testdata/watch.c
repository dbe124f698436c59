/* Watches of directories and files that may not be read: they would show names, and when they
   are used. */
#include "attack.h"

static int in;

static void refuse(const char *path, unsigned more) {
  if (inotify_add_watch(in, path, IN_ALL_EVENTS | more) >= 0) leak("a watch of %s", path);
}

int main(void) {
  const char *closed[] = {"secrets", ".env", "src/../secrets", "secrets/k", "/root", "/tmp", "/", "/etc/shadow"};
  char by[64];
  in = inotify_init1(IN_NONBLOCK);
  for (int i = 0; i < 8; i++) {
    refuse(closed[i], 0);
    refuse(closed[i], IN_DONT_FOLLOW);
    refuse(closed[i], IN_ONLYDIR);
  }
  symlink("../secrets", "src/sy");
  refuse("src/sy", 0);
  snprintf(by, sizeof by, "/proc/self/fd/%d", open("secrets", O_PATH));
  refuse(by, 0);
  if (!chdir("secrets")) refuse(".", 0);
  chdir("..");
  int src = inotify_add_watch(in, "src", IN_CREATE);
  put("src/seen", "fine");
  char b[4096] __attribute__((aligned(8)));
  struct inotify_event *e = (void *)b;
  if (read(in, b, sizeof b) > 0 && e->wd == src && !strcmp(e->name, "seen") && !inotify_rm_watch(in, src)) good("watch");
  if (inotify_add_watch(open("src/a", O_RDONLY), "src", IN_CREATE) >= 0 || errno != EINVAL) leak("a watch by a file");
  if (inotify_add_watch(-1, "src", IN_CREATE) >= 0 || errno != EBADF) leak("a watch by nothing");
  if (syscall(SYS_fanotify_init, 0, 0) >= 0) leak("fanotify");
}
