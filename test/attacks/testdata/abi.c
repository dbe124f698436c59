/* The calls of other tables: those of 32 bits, and of x32. */
#include "attack.h"

static long i386(long nr, long a, long b, long c, long d, long e) {
  long r;
  __asm__ volatile("push %%rbx; mov %2, %%rbx; int $0x80; pop %%rbx" : "=a"(r) : "a"(nr), "r"(a), "c"(b), "d"(c), "S"(d), "D"(e) : "memory", "r8", "r9", "r10", "r11");
  return (int)r;
}

static void child(int kind) {
  char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  char *env = strcpy(m, ".env"), *ws = strcpy(m + 64, "gen/f"), *to = strcpy(m + 128, "src/l"), *sh = strcpy(m + 192, "src/sh");
  if (kind < 100) {
    static const int calls[][2] = {{5, 0}, {295, 1}, {8, 0}, {9, 2}, {10, 0}, {15, 3}, {38, 2}, {92, 0}, {193, 0}, {303, 4}, {302, 4}, {11, 5}, {30, 0}, {226, 0}, {342, 0}, {39, 6}, {14, 6}, {20, 9}, {437, 7}, {306, 3}};
    int nr = calls[kind][0];
    long a = (long)env, fd = -1;
    switch (calls[kind][1]) {
    case 0: fd = i386(nr, a, nr == 5 ? 0 : 0600, 0, 0, 0); break;
    case 1: fd = i386(nr, -100, a, 0, 0, 0); break;
    case 2: fd = i386(nr, a, (long)to, 0, 0, 0); break;
    case 3: fd = nr == 15 ? i386(nr, (long)ws, 0600, 0, 0, 0) : i386(nr, -100, (long)ws, 0600, 0, 0); break;
    case 4: fd = i386(nr, -100, a, -100, (long)to, 0); break;
    case 5: fd = i386(nr, (long)sh, 0, 0, 0, 0); break;
    case 6: strcpy(m, "gen/evil"); fd = i386(nr, a, 0755, 0, 0, 0); break;
    case 7: memset(m + 300, 0, 24); fd = i386(nr, -100, a, (long)(m + 300), 24, 0); break;
    case 9: fd = i386(nr, 0, 0, 0, 0, 0); if (fd == getpid()) note("32-bit calls answer"); fd = -1; break;
    }
    if (fd >= 0) leak("32-bit call %d answered %ld", nr, fd);
    if (fd >= 0) spill(fd, "a 32-bit open");
  } else {
    const int x32[] = {SYS_open, SYS_openat, SYS_openat2, SYS_truncate, SYS_chmod, SYS_unlink, SYS_creat};
    int nr = x32[kind - 100];
    struct open_how h = {0};
    long r = nr == SYS_openat ? syscall(0x40000000 | nr, AT_FDCWD, env, 0, 0) : nr == SYS_openat2 ? syscall(0x40000000 | nr, AT_FDCWD, env, &h, sizeof h) : syscall(0x40000000 | nr, nr == SYS_open || nr == SYS_creat ? env : ws, nr == SYS_open ? 0 : 0600, 0);
    if (r >= 0) leak("x32 call %d", nr);
    char *av[] = {sh, 0};
    if (kind == 100) { syscall(0x40000000 | 520, sh, av, av + 1); }
  }
  _exit(0);
}

int main(void) {
  put("src/sh", "#!/bin/sh\necho LEAK started\n");
  chmod("src/sh", 0755);
  for (int i = 0; i < 107; i++) {
    if (i == 20) i = 100;
    if (!fork()) child(i);
    int st;
    wait(&st);
    if (WIFSIGNALED(st) && i < 2) note("ended by signal %d", WTERMSIG(st));
  }
  if (fine("src/a")) good("read");
}
