/* A tool that filters its own calls, to have them answered by itself instead of the supervisor,
   and one that restricts itself by Landlock. */
#include "attack.h"
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>

/* filtered gives openat an action of the tool's own. */
static long filtered(unsigned action, unsigned flags) {
  struct sock_filter f[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, action),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog p = {4, f};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p);
}

static void peek(const char *how) {
  spill(syscall(SYS_openat, AT_FDCWD, "secrets/k", O_RDONLY), how);
  spill(syscall(SYS_openat, AT_FDCWD, ".env", O_RDWR), how);
}

static void listener(void) {
  done(filtered(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER), "a listener of its own");
}
static void traced(void) { filtered(SECCOMP_RET_TRACE | 5, 0); peek("a call that a tracer is asked about"); }
static void allowed(void) { filtered(SECCOMP_RET_ALLOW, 0); filtered(SECCOMP_RET_LOG, SECCOMP_FILTER_FLAG_LOG); peek("a call that is allowed again"); }

static void restricted(void) {
  struct landlock_ruleset_attr a = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE};
  int set = syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
  struct landlock_path_beneath_attr under = {a.handled_access_fs, open("secrets", O_PATH)};
  syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &under, 0);
  if (syscall(SYS_landlock_restrict_self, set, 0)) return;
  if (fine("src/a")) leak("the supervisor opened a file that the tool's own ruleset denies");
  peek("a ruleset that grants it");
}

int main(void) {
  void (*acts[])(void) = {listener, traced, allowed, restricted};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (int i = 0; i < 4; i++) {
    if (!fork()) { acts[i](); _exit(0); }
    wait(0);
  }
  if (fine("src/a")) good("read");
}
