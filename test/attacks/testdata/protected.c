/* What decides later, outside, is brought into being by moves and links of what may be made. */
#include "attack.h"

static const char *names[] = {".git", ".accessc", ".jp", ".vscode", ".github", ".idea", ".claude", ".cursor", ".husky", 0};
static const char *files[][3] = {{".git", "config", "hooks/pre-commit"}, {".accessc", "local.toml", "local.toml"}, {".jp", "config.toml", "config.toml"},
  {".vscode", "tasks.json", "settings.json"}, {".github", "workflows/x.yml", "workflows/y.yml"}};

static void look(const char *how) {
  for (int i = 0; i < 5; i++)
    for (int j = 1; j < 3; j++) {
      char p[128], b[8] = "";
      snprintf(p, sizeof p, "%s/%s", files[i][0], files[i][j]);
      int fd = open(p, O_RDONLY);
      if (fd >= 0 && read(fd, b, 4) == 4 && !memcmp(b, "evil", 4)) leak("%s was written by %s", p, how);
      close(fd);
    }
  for (int i = 0; names[i]; i++) {
    char b[64];
    unlink(names[i]);
    rmdir(names[i]);
    snprintf(b, sizeof b, "src/old%d-%s", i, names[i]);
    rename(names[i], b);
  }
}

int main(void) {
  for (int i = 0; i < 5; i++) {
    const char *d = files[i][0];
    char p[128], q[128];
    mkdir("src/x", 0755); mkdir("src/x/hooks", 0755); mkdir("src/x/workflows", 0755);
    for (int j = 1; j < 3; j++) { snprintf(p, sizeof p, "src/x/%s", files[i][j]); if (!put(p, "evil")) good("a lookalike"); }
    rename("src/x", d); look("rename");
    mkdir(d, 0755); renameat2(AT_FDCWD, "src/x", AT_FDCWD, d, RENAME_EXCHANGE); look("exchange");
    mkdir(d, 0755); rename("src/x", d); look("rename over an empty directory");
    symlink("src/x", d); look("a symlink");
    symlink("x", "src/y"); rename("src/y", d); look("a moved symlink");
    mkdir("src/z", 0755); symlink("../src/x", "src/z/hooks");
    mkdir(d, 0755);
    for (int j = 1; j < 3; j++) {
      snprintf(p, sizeof p, "src/x/%s", files[i][j]);
      snprintf(q, sizeof q, "%s/%s", d, files[i][j]);
      char *slash = strrchr(q, '/');
      *slash = 0; mkdir(q, 0755);
      if (slash - q > strlen(d)) { char to[64]; snprintf(to, sizeof to, "../src/x/%s", q + strlen(d) + 1); rmdir(q); symlink(to, q); }
      *slash = '/';
      link(p, q); rename(p, q); symlink("../src/a", q); look("a link");
    }
    mkdir(d, 0755);
    int dfd = open(d, O_RDONLY | O_DIRECTORY);
    int cwd = open(".", O_PATH);
    if (!fchdir(dfd)) {
      put("config", "evil"); put("local.toml", "evil"); mkdir("hooks", 0755); put("hooks/pre-commit", "evil"); put("tasks.json", "evil"); put("config.toml", "evil");
      mkdir("workflows", 0755); put("workflows/x.yml", "evil");
      fchdir(cwd);
    }
    look("a working directory");
    mkdir(d, 0755); dfd = open(d, O_RDONLY | O_DIRECTORY);
    snprintf(p, sizeof p, "src/m%s", d); rename(d, p);
    fchdir(dfd); put("config", "evil"); put("local.toml", "evil"); put("tasks.json", "evil"); put("config.toml", "evil"); mkdir("workflows", 0755); put("workflows/x.yml", "evil"); fchdir(cwd);
    rename(p, d);
    look("a directory that was away");
  }
  done(put("accessc.toml", "evil"), "accessc.toml");
  done(rename("accessc.toml", "src/t"), "rename of accessc.toml");
  done(unlink("accessc.toml"), "unlink of accessc.toml");
  done(link("accessc.toml", "src/t"), "link of accessc.toml");
  done(rename("src/a", "accessc.toml"), "rename to accessc.toml");
  done(renameat2(AT_FDCWD, "src/a", AT_FDCWD, "accessc.toml", RENAME_EXCHANGE), "exchange with accessc.toml");
  if (!put("src/fine", "x")) good("create");
}
