/* Files that rules close by their names: by every spelling, under another name, and names made for them. */
#include "attack.h"

static char wide[256];

/* try opens a path in all ways that give its contents. */
static void try(const char *path) {
  const int flags[] = {O_RDONLY, O_RDWR, O_WRONLY, 3, O_RDONLY | O_NOFOLLOW, O_RDONLY | O_TRUNC, O_RDWR | O_APPEND, O_RDONLY | O_NONBLOCK, -1};
  for (int i = 0; flags[i] >= 0; i++) spill(open(path, flags[i]), path);
  done(truncate(path, 0), "truncate");
  int fd = open(path, O_PATH);
  if (fd < 0) return;
  char p[64];
  for (int i = 0; i < 3; i++) {
    snprintf(p, sizeof p, i == 2 ? "/dev/fd/%d" : i ? "/proc/thread-self/fd/%d" : "/proc/self/fd/%d", fd);
    spill(open(p, O_RDONLY), "a reopened descriptor");
    done(truncate(p, 0), "truncate of a descriptor");
    done(chmod(p, 0777), "chmod of a descriptor");
  }
  done(linkat(fd, "", AT_FDCWD, "src/l", AT_EMPTY_PATH), "linkat of a descriptor");
  snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
  done(linkat(AT_FDCWD, p, AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW), "linkat by /proc");
  close(fd);
}

/* spell opens a name in a directory by other spellings. */
static void spell(const char *dir, const char *name) {
  char p[PATH_MAX], cwd[PATH_MAX];
  const char *forms[] = {"%s/%s", "%s//%s", "%s/./%s", "%s/../%s", "/proc/self/cwd/%s/%s", "/proc/thread-self/cwd/%s/%s", "./%s/%s", 0};
  for (int i = 0; forms[i]; i++) {
    if (i == 3) snprintf(p, sizeof p, "%s/../%s/%s", dir, dir, name);
    else snprintf(p, sizeof p, forms[i], dir, name);
    try(p);
  }
  if (getcwd(cwd, sizeof cwd - 600)) {
    snprintf(p, sizeof p, "%s/%s/%s", cwd, dir, name);
    try(p);
    snprintf(p, sizeof p, "/proc/self/root%s/%s/%s", cwd, dir, name);
    try(p);
  }
  for (int flag = 0; flag < 2; flag++) {
    int d = open(dir, flag ? O_PATH | O_DIRECTORY : O_RDONLY | O_DIRECTORY);
    if (d < 0) continue;
    spill(openat(d, name, O_RDONLY), "openat");
    struct open_how how = {.flags = O_RDONLY, .resolve = flag ? RESOLVE_IN_ROOT : RESOLVE_BENEATH};
    spill(syscall(SYS_openat2, d, name, &how, sizeof how), "openat2");
    snprintf(p, sizeof p, "/proc/self/fd/%d/%s", d, name);
    spill(open(p, O_RDONLY), "a name below a descriptor");
    if (!fchdir(d)) {
      spill(open(name, O_RDONLY), "a working directory");
      if (chdir(cwd)) leak("there is no way back");
    }
    close(d);
  }
  snprintf(p, sizeof p, "%s/%s", dir, name);
  done(link(p, "src/l"), "link");
  done(rename(p, "src/m"), "rename");
  done(renameat2(AT_FDCWD, p, AT_FDCWD, "src/m", 4), "a rename that leaves a whiteout");
  done(renameat2(AT_FDCWD, p, AT_FDCWD, "src/e", RENAME_EXCHANGE), "an exchange");
  done(renameat2(AT_FDCWD, "src/e", AT_FDCWD, p, RENAME_EXCHANGE), "an exchange the other way");
  done(rename("src/e", p), "the rename of an editor that saves");
  done(unlink(p), "unlink");
  done(chmod(p, 0777), "chmod");
  done(utimensat(AT_FDCWD, p, 0, 0), "utimensat");
  done(setxattr(p, "user.x", "x", 1, 0), "setxattr");
  char *argv[] = {"x", 0};
  if (!fork()) {
    execv(p, argv);
    _exit(0);
  }
  wait(0);
}

/* make makes a name that a rule closes. */
static void make(const char *to) {
  done(open(to, O_CREAT | O_WRONLY, 0644), to);
  done(open(to, O_CREAT | O_EXCL | O_RDWR, 0644), to);
  done(mkdir(to, 0755), "mkdir");
  done(symlink("../a/plain", to), "symlink");
  done(mknod(to, S_IFIFO | 0644, 0), "mknod of a fifo");
  done(mknod(to, S_IFREG | 0644, 0), "mknod");
  done(mknod(to, S_IFCHR | 0644, 0), "mknod of a whiteout");
  done(link("a/plain", to), "link to it");
  done(rename("src/e", to), "rename to it");
  done(renameat2(AT_FDCWD, "src/e", AT_FDCWD, to, RENAME_NOREPLACE), "rename without replacing");
  done(renameat2(AT_FDCWD, "src/e", AT_FDCWD, to, 4), "rename with a whiteout");
  done(renameat2(AT_FDCWD, "src/e", AT_FDCWD, to, RENAME_EXCHANGE), "exchange with it");
  int fd = open("src", O_TMPFILE | O_RDWR, 0644);
  if (fd >= 0) {
    char p[64];
    snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
    done(linkat(AT_FDCWD, p, AT_FDCWD, to, AT_SYMLINK_FOLLOW), "linkat of a file without a name");
    done(linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH), "linkat of an empty path");
    close(fd);
  }
  struct sockaddr_un a = {AF_UNIX};
  if (strlen(to) < sizeof a.sun_path) {
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(a.sun_path, to);
    done(bind(s, (void *)&a, sizeof a), "bind");
    close(s);
  }
}

int main(void) {
  memset(wide, 'n', 251);
  strcpy(wide + 251, ".pem");
  put("src/e", "x");
  spell("a", ".env");
  spell("a/b", "k.pem");
  spell("vault", "k");
  spell("vault/sub", "k");
  spell("a", "x\xff.pem");
  spell("a", wide);
  try("src/link");
  char p[300];
  snprintf(p, sizeof p, "src/%s", wide);
  const char *names[] = {"src/.env", "src/x.pem", "src/\xfe.pem", "src/volt", "made/late/.env", "src/../.env", p, 0};
  mkdir("made", 0755);
  mkdir("made/late", 0755);
  for (int i = 0; names[i]; i++) make(names[i]);
  done(rename("vault", "src/v"), "the rename of a directory");
  done(renameat2(AT_FDCWD, "vault", AT_FDCWD, "made", RENAME_EXCHANGE), "the exchange of a directory");
  done(rename("made/late", "src/vilt"), "the rename of a directory to such a name");
  int home = open(".", O_PATH | O_DIRECTORY);
  if (!chdir("vault")) { // which reads nothing
    try("k");
    try("sub/../k");
    make("new");
    done(open(".", O_RDONLY | O_DIRECTORY), "a listing of the working directory");
    if (fchdir(home)) leak("there is no way back");
  }
  if (!rename("cart", "src/cart2")) good("a directory moves");
  done(open("src/cart2/deep/.env", O_RDONLY), "reading behind a directory that moved");
  done(rename("src/cart2/deep/.env", "src/cart2/deep/env"), "a rename behind a directory that moved");
  if (fine("a/plain")) good("read");
  if (fine("open/k.pem")) good("a path in it");
  if (fine("l.pem")) good("a link of such a name");
  if (!put("src/ok", "x") && !rename("src/ok", "src/ok2")) good("create and move");
  if (!put("src/.environment", "x") && !put("src/x.pem2", "x")) good("names beside it");
}
