/* File systems of the kernel lie below the workspace, each in a directory of k. Nothing of them is the tool's, by whatever way it comes to
 * them; to open one for writing changes nothing yet. */
#include "attack.h"

static const char *const files[] = {
  ".", "version", "1/environ", "self/environ", "sys/kernel/hostname", "hostname", "kernel/mm/ksm/run", "kernel/note", "class", "cgroup.procs",
  "cgroup.max.depth", "tracing_on", "null", "zero", "ptmx", "loop-control", "sleep_time", "made",
};

static int again(int fd, int flags) {
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  return open(self, flags);
}

static void opened(int fd, const char *path, const char *how) {
  if (fd >= 0) leak("%s opened by %s", path, how), close(fd);
}

/* ways opens a file in all ways. */
static void ways(int dir, const char *path, const char *name, const char *full) {
  struct open_how how = {.flags = O_RDONLY}, in = {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT};
  const int flags[] = {O_RDONLY, O_WRONLY | O_NONBLOCK | O_NOCTTY, O_RDWR | O_NONBLOCK | O_NOCTTY, O_RDONLY | O_DIRECTORY};
  for (int i = 0; i < 4; i++) {
    opened(open(path, flags[i]), path, "its path");
    opened(open(full, flags[i]), path, "its absolute path");
    opened(openat(dir, name, flags[i]), path, "a descriptor");
    opened(open("link", flags[i]), path, "a link");
  }
  opened(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how), path, "openat2");
  opened(syscall(SYS_openat2, dir, name, &in, sizeof in), path, "openat2 in a root");
  int fd = openat(dir, name, O_PATH);
  if (fd >= 0) {
    opened(again(fd, O_RDONLY), path, "a descriptor without rights");
    opened(again(fd, O_WRONLY | O_NONBLOCK), path, "a descriptor without rights, for writing");
    close(fd);
  }
  if (fchdir(dir) == 0) opened(open(name, O_RDONLY), path, "the working directory");
}

static void tries(const char *root, const char *at) {
  char path[PATH_MAX], full[PATH_MAX], buf[PATH_MAX];
  snprintf(path, sizeof path, "k/%s", at);
  int dir = open(path, O_PATH | O_DIRECTORY), watch = inotify_init1(IN_NONBLOCK);
  if (dir < 0) return;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "k/%s/%s", at, files[i]);
    snprintf(full, sizeof full, "%s/%s", root, path);
    unlink("link");
    if (symlink(full, "link") < 0) note("link: %m");
    ways(dir, path, files[i], full);
    if (chdir(root) < 0) note("chdir: %m");
    done(inotify_add_watch(watch, path, IN_MODIFY), path);
    done(link(path, "linked"), path);
    snprintf(buf, sizeof buf, "%s/new", path);
    done(mkdir(buf, 0700), buf);
  }
  snprintf(path, sizeof path, "k/%s/made", at);
  done(open(path, O_WRONLY | O_CREAT, 0600), path);
  done(mkdir(path, 0700), path);
  done(symlink("x", path), path);
  done(rename("src/a", path), path);
  snprintf(path, sizeof path, "k/%s", at);
  done(rename(path, "moved"), path);
  close(watch), close(dir);
}

int main(int argc, char **argv) {
  char root[PATH_MAX];
  getcwd(root, sizeof root);
  DIR *d = opendir("k");
  if (d) good("listed");
  for (struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.' && strcmp(e->d_name, "late")) tries(root, e->d_name);
  if (argc > 1) {
    if (put("src/ready", "x\n") < 0) return 1;
    told(AT_FDCWD, "src/gone");
    tries(root, "late");
  }
  if (fine("src/a")) good("read beside it");
  return 0;
}
