/* Another run of another tool: its home, its temporary directory, its shared memory. */
#include "attack.h"
int main(void) {
  char line[PATH_MAX], p[PATH_MAX + 200];
  told(AT_FDCWD, "src/go");
  FILE *f = fopen("src/paths", "r");
  int seen = 0;
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = 0;
    seen++;
    const char *names[] = {"x", "y", "context.json", ".", "..", "../approvals.json", "../../approvals.json", "../../../approvals.json", 0};
    for (int i = 0; names[i]; i++) {
      snprintf(p, sizeof p, "%s/%s", line, names[i]);
      int fd = open(p, O_RDONLY);
      if (fd >= 0) { leak("%s is open", p); spill(fd, p); }
      done(open(p, O_WRONLY), p); done(truncate(p, 0), p); done(rename(p, "src/x"), p); done(link(p, "src/x"), p); done(unlink(p), p); done(chmod(p, 0777), p);
      snprintf(p, sizeof p, "/proc/self/root%s/%s", line, names[i]); spill(open(p, O_RDONLY), p);
    }
    snprintf(p, sizeof p, "%s/new", line); done(open(p, O_CREAT | O_WRONLY, 0644), p); done(mkdir(p, 0755), p);
    done(rename("src/a", p), p);
  }
  if (seen) good("paths");
  /* Names of its own state, guessed from its own home. */
  snprintf(p, sizeof p, "%s/../u/x", getenv("HOME")); spill(open(p, O_RDONLY), p);
  snprintf(p, sizeof p, "%s/../../approvals.json", getenv("HOME")); done(open(p, O_CREAT | O_WRONLY, 0600), p);
  snprintf(p, sizeof p, "%s/../u", getenv("HOME")); done(rename(p, "src/u"), p); done(rename(getenv("HOME"), "src/h"), "its own home"); done(symlink("/", p), p);
  done(rename(getenv("TMPDIR"), "src/t"), "its own temporary directory");
  done(rmdir(getenv("TMPDIR")), "removing its temporary directory");
  snprintf(p, sizeof p, "%s/z", getenv("TMPDIR")); if (!put(p, "x")) good("its own temporary directory");
  spill(open("/dev/shm/accessc-attack", O_RDONLY), "shared memory"); 
  if (!put("/dev/shm/accessc-attack", "evil")) good("its own shared memory");
  DIR *d = opendir("/dev/shm"); struct dirent *e; while (d && (e = readdir(d))) if (!strcmp(e->d_name, "accessc-attack-host")) leak("a listing of shared memory");
}
