/* Files without a name, and names given to them where no name may be made. */
#include "attack.h"

static void name(int fd, const char *to) {
  char p[64];
  snprintf(p, sizeof p, "/proc/self/fd/%d", fd);
  if (!linkat(AT_FDCWD, p, AT_FDCWD, to, AT_SYMLINK_FOLLOW)) leak("linkat to %s", to);
  if (!linkat(fd, "", AT_FDCWD, to, AT_EMPTY_PATH)) leak("linkat empty to %s", to);
  snprintf(p, sizeof p, "/proc/thread-self/fd/%d", fd);
  if (!linkat(AT_FDCWD, p, AT_FDCWD, to, AT_SYMLINK_FOLLOW)) leak("linkat to %s", to);
}

int main(void) {
  const char *targets[] = {"gen/evil", "secrets/evil", "secrets/open/evil", "bin/evil", ".env", "late/.env", ".git/config", ".git/hooks/pre-commit",
    "accessc.local", ".accessc/local.toml", "../outside/evil", "kept/evil", "gen/../bin/evil2", "src/../.jp/config.toml", 0};
  const char *dirs[] = {"gen", "secrets", "secrets/open", "bin", "kept", "../outside", "..", ".git", 0};
  int fd;
  for (int i = 0; dirs[i]; i++) {
    fd = open(dirs[i], O_TMPFILE | O_RDWR, 0755);
    if (fd >= 0) { note("a file without a name in %s", dirs[i]); if (fd >= 0 && write(fd, "x", 1) == 1) { struct statfs; leak("O_TMPFILE in %s", dirs[i]); } }
    if (mkdir(dirs[i], 0755) == 0 && strcmp(dirs[i], ".git")) leak("mkdir %s", dirs[i]);
  }
  fd = open("src", O_TMPFILE | O_RDWR, 0755);
  if (fd < 0) fd = open("src/tmp", O_CREAT | O_EXCL | O_RDWR, 0755);
  else good("O_TMPFILE");
  write(fd, "#!/bin/sh\necho LEAK ran\n", 24);
  for (int i = 0; targets[i]; i++) {
    if (!strcmp(targets[i], "accessc.local")) continue;
    name(fd, targets[i]);
    if (!link("src/a", targets[i])) leak("link to %s", targets[i]);
    if (!symlink("src/a", targets[i])) leak("symlink to %s", targets[i]);
    if (!mknod(targets[i], S_IFIFO | 0644, 0)) leak("fifo %s", targets[i]);
    if (!mknod(targets[i], S_IFREG | 0644, 0)) leak("mknod %s", targets[i]);
    if (!mknod(targets[i], S_IFCHR | 0644, 0x501)) leak("device %s", targets[i]);
    if (!mknod(targets[i], S_IFCHR | 0644, 0)) leak("whiteout %s", targets[i]);
    if (!mkdir(targets[i], 0755)) leak("mkdir %s", targets[i]);
    done(open(targets[i], O_CREAT | O_WRONLY, 0755), targets[i]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = {AF_UNIX};
    strcpy(a.sun_path, targets[i]);
    if (!bind(s, (void *)&a, sizeof a)) leak("bind %s", targets[i]);
    close(s);
    put("src/mv", "x");
    if (!renameat2(AT_FDCWD, "src/mv", AT_FDCWD, targets[i], 0)) leak("rename to %s", targets[i]);
    if (!renameat2(AT_FDCWD, "src/mv", AT_FDCWD, targets[i], 1)) leak("rename noreplace to %s", targets[i]);
    if (!renameat2(AT_FDCWD, "src/mv", AT_FDCWD, targets[i], RENAME_EXCHANGE)) leak("exchange with %s", targets[i]);
    if (!renameat2(AT_FDCWD, "src/mv", AT_FDCWD, targets[i], 4)) leak("whiteout rename to %s", targets[i]);
  }
  mknod("src/dev", S_IFCHR | 0666, 0x101);
  int d = open("src/dev", O_RDWR);
  if (d >= 0) leak("a device of its own");
  if (!linkat(fd, "", AT_FDCWD, "src/given", AT_EMPTY_PATH)) good("linkat");
  else { char p[64]; snprintf(p, sizeof p, "/proc/self/fd/%d", fd); if (!linkat(AT_FDCWD, p, AT_FDCWD, "src/given", AT_SYMLINK_FOLLOW)) good("linkat"); else note("linkat: %m"); }
  chmod("src/given", 0755);
  char *argv[] = {"given", 0};
  execv("src/given", argv);
  execveat(fd, "", argv, argv + 1, AT_EMPTY_PATH);
  if (!put("src/new", "x")) good("create");
  if (fine("gen/f")) good("read");
}
