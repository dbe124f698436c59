/* What may be made may not be changed: the user makes files at the same names. */
#include "attack.h"

int main(void) {
  int made = 0, i = 0;
  char p[64];
  int old = open("inbox/old", O_WRONLY | O_CREAT, 0644);
  done(old, "O_CREAT of what exists");
  done(open("inbox/old", O_RDWR | O_CREAT | O_APPEND, 0644), "O_CREAT|O_APPEND of what exists");
  done(creat("inbox/old", 0644), "creat of what exists");
  put("src/x", "evil");
  done(rename("src/x", "inbox/old"), "rename over what exists");
  done(unlink("inbox/old"), "unlink");
  for (long n = ROUNDS(1500); n > 0 || !made; n--) {
    snprintf(p, sizeof p, "inbox/f%d", i++ % 4);
    int fd;
    switch (i / 4 % 4) {
    case 0: fd = open(p, O_WRONLY | O_CREAT | O_TRUNC, 0644); break;
    case 1: fd = open(p, O_RDWR | O_CREAT, 0644); break;
    case 2: put("src/x", "evil"); if (!rename("src/x", p)) made++; fd = -1; break;
    case 3: mkdir("src/xd", 0755); rename("src/xd", p); fd = -1; break;
    }
    if (fd >= 0) {
      struct stat st;
      fstat(fd, &st);
      if (st.st_size) leak("%s was opened for writing with %ld bytes", p, (long)st.st_size);
      write(fd, "evil", 4);
      made++;
      close(fd);
    }
  }
  if (made) good("create");
  int fd = open("inbox/mine", O_WRONLY | O_CREAT | O_EXCL, 0644);
  if (fd >= 0 && write(fd, "mine", 4) == 4) good("create and fill");
  if (fine("inbox/old")) good("read");
  note("%d made", made);
}
