/* Links into and out of exceptions. */
#include "attack.h"
int main(void) {
  const char *from[] = {".env", "secrets/k", "gen/f", "bin/ok", "accessc.toml", "../outside/private", "kept/f", "secrets/open/f", 0};
  char cwd[PATH_MAX], p[PATH_MAX + 100];
  getcwd(cwd, sizeof cwd);
  for (int i = 0; from[i]; i++) {
    int fd = open(from[i], O_PATH), rd = open(from[i], O_RDONLY);
    unlink("src/l");
    link(from[i], "src/l");
    linkat(AT_FDCWD, from[i], AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW);
    snprintf(p, sizeof p, "%s/%s", cwd, from[i]); link(p, "src/l");
    snprintf(p, sizeof p, "/proc/self/root%s/%s", cwd, from[i]); link(p, "src/l");
    snprintf(p, sizeof p, "/proc/self/cwd/%s", from[i]); link(p, "src/l");
    snprintf(p, sizeof p, "/proc/self/fd/%d", fd); linkat(AT_FDCWD, p, AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW);
    snprintf(p, sizeof p, "/proc/self/fd/%d", rd); linkat(AT_FDCWD, p, AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW);
    linkat(fd, "", AT_FDCWD, "src/l", AT_EMPTY_PATH);
    linkat(rd, "", AT_FDCWD, "src/l", AT_EMPTY_PATH);
    unlink("src/s"); snprintf(p, sizeof p, "%s/%s", cwd, from[i]); symlink(p, "src/s");
    linkat(AT_FDCWD, "src/s", AT_FDCWD, "src/l", AT_SYMLINK_FOLLOW);
    if (!access("src/l", F_OK)) {
      note("%s has a link in src", from[i]);
      spill(open("src/l", O_RDONLY), from[i]);
      done(open("src/l", O_WRONLY), from[i]);
      done(chmod("src/l", 0600), from[i]);
      done(truncate("src/l", 0), from[i]);
    }
    rename(from[i], "src/r");
    if (!access("src/r", F_OK)) leak("%s was renamed", from[i]);
    renameat2(AT_FDCWD, from[i], AT_FDCWD, "src/a", RENAME_EXCHANGE);
    if (!fine("src/a")) leak("%s was exchanged", from[i]);
  }
  /* The user's link of a denied file keeps the denial of its name, and gains none. */
  spill(open("secrets/k", O_RDONLY), "secrets/k");
  done(link("src/a", "secrets/in"), "link into secrets");
  done(link("src/a", "gen/in"), "link into gen");
  done(link("src/a", "bin/in"), "link into bin");
  done(rename("src/a", "secrets/in"), "rename into secrets");
  if (!link("src/a", "src/b") && fine("src/b")) good("link");
  if (!link("gen/out/f", "gen/out/g")) good("link below");
  if (!link("src/b", "gen/out/b") || errno == EXDEV) note("link between equal grants: %m");
  done(rename("gen/out", "src/out"), "rename of the path of a rule");
  done(rename("gen", "src/gen"), "rename of gen");
  done(rename("secrets/open", "src/open"), "rename of secrets/open");
  done(renameat2(AT_FDCWD, "gen/out", AT_FDCWD, "src", RENAME_EXCHANGE), "exchange of gen/out");
  done(renameat2(AT_FDCWD, "src", AT_FDCWD, "secrets", RENAME_EXCHANGE), "exchange with secrets");
  done(renameat2(AT_FDCWD, "gen/out/f", AT_FDCWD, "gen/f", RENAME_EXCHANGE), "exchange with gen/f");
  done(rename("gen/out/f", "gen/f"), "rename over gen/f");
  if (!rename("gen/out/f", "src/moved")) good("rename between grants");
}
