/* Strange spellings of names, and working directories that are gone. */
#include "attack.h"

static void all(char *p) {
  spill(open(p, O_RDONLY), "a spelling"); spill(open(p, O_RDWR | O_CREAT, 0644), "a spelling, O_CREAT");
  struct open_how h = {.flags = O_RDONLY};
  spill(syscall(SYS_openat2, AT_FDCWD, p, &h, sizeof h), "a spelling, openat2");
  done(truncate(p, 0), p);
  struct stat st;
  if (!lstat(p, &st) && S_ISLNK(st.st_mode)) return; /* the tool's own link may go */
  done(rename(p, "src/r"), p); done(link(p, "src/l"), p); done(unlink(p), p); done(rmdir(p), p);
}

int main(void) {
  char cwd[2000], *p = malloc(20000);
  getcwd(cwd, sizeof cwd);
  const char *forms[] = {".env", "./.env", ".//.env", "src/../.env", "src/d/../../.env", ".env/", ".env/.", ".env//", "secrets/k", "secrets//k", "secrets/./k", "secrets/k/", "secrets/../secrets/k", "secrets/open/../k",
    "gen/../secrets/open/../k", "/proc/self/cwd/.env", "/proc/self/cwd/src/../.env", "/proc/thread-self/cwd/.env", "src/up/.env", "src/up/src/up/.env", "src/loop/.env", "src/abs", "src/long", "/dev/fd/../cwd/.env", "/proc/self/root/proc/self/cwd/.env", "/./proc/./self/cwd/./.env", "src/procln/.env", 0};
  symlink("..", "src/up"); symlink("loop", "src/loop");
  snprintf(p, 20000, "%s/.env", cwd); symlink(p, "src/abs");
  *p = 0; while (strlen(p) < 4000) strcat(p, "../src/"); strcat(p, "../.env"); symlink(p, "src/long");
  symlink("/proc/self/cwd", "src/procln");
  for (int i = 0; forms[i]; i++) { strcpy(p, forms[i]); all(p); snprintf(p, 20000, "%s/%s", cwd, forms[i]); all(p); snprintf(p, 20000, "//%s///%s", cwd, forms[i]); all(p); }
  /* At the limit of a path, and beyond. */
  for (int len = 4080; len < 4100; len++) {
    *p = 0;
    while (strlen(p) + 2 + 4 < len) strcat(p, "./");
    strcat(p, ".env");
    all(p);
  }
  /* A chain of forty links, each over the next. */
  char a[64], b[64];
  symlink("../.env", "src/c0");
  for (int i = 1; i < 45; i++) { snprintf(a, 64, "c%d", i - 1); snprintf(b, 64, "src/c%d", i); symlink(a, b); all(strcpy(p, b)); unlink("src/r"); unlink("src/l"); symlink(a, b); }
  /* A path that ends where memory does, and one that begins in memory that cannot be read. */
  char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(m + 4096, 4096);
  memcpy(m + 4091, ".env", 5);
  all(m + 4091);
  memcpy(m + 4092, ".env", 4);
  spill(open(m + 4092, O_RDONLY), "a name without an end");
  spill(open((char *)1, O_RDONLY), "no name");
  /* Other letters, endings and encodings. */
  const char *odd[] = {".ENV", ".env ", ".env\n", ".env\xc2\xa0", "secrets ", "SECRETS/k", ".\xef\xbc\x8e" "env", 0};
  for (int i = 0; odd[i]; i++) { int fd = open(odd[i], O_RDONLY); spill(fd, odd[i]); }
  /* A directory that is gone. */
  mkdir("src/gone", 0755); mkdir("src/gone/in", 0755);
  int g = open("src/gone/in", O_PATH), w = open(".", O_PATH);
  fchdir(g); rmdir("../in"); unlinkat(w, "src/gone", AT_REMOVEDIR);
  all(".env"); spill(open("../../../.env", O_RDONLY), ".. of what is gone"); spill(open("../.env", O_RDONLY), ".. of what is gone");
  done(open("x", O_CREAT | O_WRONLY, 0644), "a file in what is gone");
  spill(open("/proc/self/cwd/../../../.env", O_RDONLY), "/proc of what is gone");
  fchdir(w);
  /* A file that is unlinked while its descriptor is named. */
  int fd = open("src/tmpx", O_CREAT | O_RDWR, 0644);
  unlink("src/tmpx");
  snprintf(p, 100, "/proc/self/fd/%d", fd);
  int again = open(p, O_RDWR);
  if (again >= 0) good("reopen of its own unlinked file");
  /* A directory that looks as if it had been deleted, or was a name in /proc. */
  mkdir("src/x (deleted)", 0755); symlink("../../.env", "src/x (deleted)/l"); spill(open("src/x (deleted)/l", O_RDONLY), "(deleted)");
  if (!put("src/a\nb", "x") && !put("src/\xff\xfe", "x")) good("strange names");
  if (fine("src/../src/./a")) good("read");
}
