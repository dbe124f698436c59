/* Namespaces, mounts, roots, rings and other ways to other files. */
#include "attack.h"
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <sys/mount.h>
#include <sys/fanotify.h>

int main(void) {
  int flags[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80};
  for (int i = 0; i < 9; i++) {
    if (!fork()) { if (!unshare(flags[i])) leak("unshare %x", flags[i]); _exit(0); }
    wait(0);
    long c = flags[i] == 0x80 ? -1 : syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0);
    if (!c) { leak("clone %x", flags[i]); _exit(0); }
    if (c > 0) waitpid(c, 0, 0);
    uint64_t a[11] = {flags[i], 0, 0, 0, SIGCHLD};
    c = syscall(435, a, 88);
    if (!c) { leak("clone3 %x", flags[i]); _exit(0); }
    if (c > 0) waitpid(c, 0, 0);
  }
  done(chroot("src"), "chroot");
  done(syscall(SYS_pivot_root, "src", "src"), "pivot_root");
  done(mount("secrets", "src", 0, MS_BIND, 0), "mount");
  done(mount("none", "src", "tmpfs", 0, 0), "mount tmpfs");
  done(umount2("/proc", MNT_DETACH), "umount");
  done(syscall(428, AT_FDCWD, "secrets", 0), "open_tree");
  done(syscall(428, AT_FDCWD, "secrets", 1), "open_tree clone");
  done(syscall(467, AT_FDCWD, "secrets", 1, 0, 0), "open_tree_attr");
  done(syscall(430, "tmpfs", 0), "fsopen");
  done(syscall(433, AT_FDCWD, "secrets", 0), "fspick");
  done(syscall(429, AT_FDCWD, "secrets", AT_FDCWD, "src", 0), "move_mount");
  uint64_t attr[4] = {1};
  done(syscall(442, AT_FDCWD, "src", 0, attr, 32), "mount_setattr");
  done(syscall(SYS_setns, open("/proc/self/ns/mnt", O_RDONLY), 0), "setns");
  struct io_uring_params par = {0};
  int ring = syscall(SYS_io_uring_setup, 8, &par);
  if (ring >= 0) leak("io_uring_setup");
  done(syscall(427, 0, 0, 0, 0), "io_uring_register");
  done(syscall(SYS_fanotify_init, FAN_CLASS_CONTENT, O_RDONLY), "fanotify_init");
  done(syscall(SYS_fanotify_init, 0x200, O_RDONLY), "fanotify_init fid");
  done(syscall(SYS_quotactl, 0, "/dev/vda", 0, 0), "quotactl");
  done(syscall(SYS_acct, "src/a"), "acct");
  done(syscall(SYS_swapon, "src/a", 0), "swapon");
  done(syscall(SYS_bpf, 5, 0, 0), "bpf");
  done(syscall(SYS_userfaultfd, 1), "userfaultfd");
  done(syscall(SYS_perf_event_open, 0, 0, -1, -1, 0), "perf_event_open");
  done(syscall(SYS_uselib, "src/a"), "uselib");
  done(syscall(SYS_add_key, "user", "x", "y", 1, -2), "add_key");
  done(syscall(SYS_lookup_dcookie, 1, 0, 0), "lookup_dcookie");
  done(syscall(SYS_open_by_handle_at, AT_FDCWD, "\10\0\0\0\1\0\0\0aaaaaaaa", 0), "open_by_handle_at");
  /* A filter of its own that answers the calls of a child, and lets them continue. */
  int pv = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  /* A ruleset of its own that grants everything opens nothing. */
  struct landlock_ruleset_attr ra = {.handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE};
  int rs = syscall(444, &ra, sizeof ra, 0);
  if (rs >= 0) {
    struct landlock_path_beneath_attr pb = {LANDLOCK_ACCESS_FS_EXECUTE, open("/", O_PATH)};
    syscall(445, rs, LANDLOCK_RULE_PATH_BENEATH, &pb, 0);
    if (!syscall(446, rs, 0)) note("restricted itself");
  }
  spill(open(".env", O_RDONLY), "a read after a ruleset of its own");
  spill(open("secrets/k", O_RDONLY), "a read after a ruleset of its own");
  done(open("gen/f", O_WRONLY), "a write after a ruleset of its own");
  if (!renameat2(AT_FDCWD, "secrets", AT_FDCWD, "src/s", 0)) leak("rename after a ruleset of its own");
  /* Watching names is no reading of contents. */
  int in = inotify_init1(IN_NONBLOCK);
  inotify_add_watch(in, "secrets", IN_ALL_EVENTS);
  DIR *d = opendir("secrets");
  if (d) leak("a listing of secrets");
  for (struct dirent *e; d && (e = readdir(d));) if (!strcmp(e->d_name, "k")) leak("a listing shows a name");
  done(open("secrets", O_RDONLY | O_DIRECTORY), "opening secrets");
  char b[512];
  int o = open("secrets", O_PATH);
  done(syscall(SYS_getdents64, o, b, sizeof b), "getdents of O_PATH");
  if (fine("src/a")) good("read");
}
