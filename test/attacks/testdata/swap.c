/* The user exchanges a granted directory with a denied one, and moves the working directory
 * about. After each move the tool uses descriptors and names from before. The host says in the
 * file src/phase what is where: odd phases are quiet and with the secret out of work. */
#include "attack.h"


int main(void) {
  /* deep/a is granted and deep/b denied. The host moves the tool's directory deep/a/x, with
   * descriptors and the working directory in it, into deep/b, and writes a secret into it. */
  int dirs[64], n = 0;
  dirs[n++] = open("deep/a/x", O_RDONLY | O_DIRECTORY);
  dirs[n++] = open("deep/a/x", O_PATH);
  dirs[n++] = open("deep/a/x/y", O_PATH);
  dirs[n++] = open("deep/a/x/y", O_RDONLY);
  int cwd = open(".", O_PATH);
  if (chdir("deep/a/x")) return 1;
  int own = openat(cwd, "src/ready", O_CREAT | O_WRONLY, 0644);
  close(own);
  told(cwd, "src/moved");
  spill(open("k", O_RDONLY), "a moved working directory");
  spill(open("./y/../k", O_RDONLY), "a moved working directory, ..");
  spill(open("y/k", O_RDONLY), "a moved working directory, below");
  spill(open("/proc/self/cwd/k", O_RDONLY), "/proc/self/cwd");
  spill(open("../k", O_RDONLY), ".. of a moved working directory");
  spill(open("../../b/x/k", O_RDONLY), "the name");
  done(open("k", O_WRONLY), "update in a moved working directory");
  done(open("new", O_CREAT | O_WRONLY, 0644), "create in a moved working directory");
  done(mkdir("newd", 0755), "mkdir in a moved working directory");
  done(unlink("k"), "unlink in a moved working directory");
  done(rename("k", "k2"), "rename in a moved working directory");
  done(linkat(AT_FDCWD, "k", cwd, "src/k", 0), "link out of a moved working directory");
  done(renameat(AT_FDCWD, "k", cwd, "src/k"), "rename out of a moved working directory");
  done(chmod("k", 0604), "chmod in a moved working directory");
  done(truncate("k", 0), "truncate in a moved working directory");
  done(open(".", O_TMPFILE | O_WRONLY, 0644), "O_TMPFILE in a moved working directory");
  for (int i = 0; i < n; i++) {
    char p[64];
    spill(openat(dirs[i], "k", O_RDONLY), "a descriptor of a moved directory");
    spill(openat(dirs[i], "../k", O_RDONLY), "a descriptor of a moved directory, ..");
    spill(openat(dirs[i], "./y/k", O_RDONLY), "a descriptor of a moved directory, below");
    snprintf(p, sizeof p, "/proc/self/fd/%d/k", dirs[i]);
    spill(open(p, O_RDONLY), "/proc/self/fd of a moved directory");
    struct open_how h = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
    spill(syscall(SYS_openat2, dirs[i], "k", &h, sizeof h), "openat2 beneath");
    done(openat(dirs[i], "new", O_CREAT | O_WRONLY, 0644), "create by a descriptor");
    done(mkdirat(dirs[i], "new", 0755), "mkdir by a descriptor");
    done(symlinkat("x", dirs[i], "new"), "symlink by a descriptor");
    done(unlinkat(dirs[i], "k", 0), "unlink by a descriptor");
    done(renameat(cwd, "src/a", dirs[i], "new"), "rename into by a descriptor");
    done(linkat(cwd, "src/a", dirs[i], "new", 0), "link into by a descriptor");
    done(openat(dirs[i], ".", O_RDONLY | O_DIRECTORY), "listing by a descriptor");
    done(utimensat(dirs[i], "k", 0, 0), "utimensat by a descriptor");
  }
  fchdir(cwd);
  /* And what came out of the denied directory is granted where it is now. */
  if (fine("deep/a/came")) good("what was moved into the grant");
  if (!put("deep/a/made", "x")) good("create");
}
