// Reaches for processes, memory and settings outside of the run.
#include "proc.h"
#include <linux/futex.h>
#include <poll.h>
#include <mqueue.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/xattr.h>
#include <termios.h>

// What no memory outside of the run may give away: the test puts it in the
// environment and the memory of the other processes.
static const char *secret;

static int holds(const char *bytes, ssize_t size) {
	size_t length = strlen(secret);
	for (ssize_t i = 0; i + (ssize_t)length <= size; i++)
		if (!memcmp(bytes + i, secret, length)) return 1;
	return 0;
}

static void look(const char *name) {
	static char bytes[1 << 16];
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) return;
	ssize_t n, all = 0;
	while ((n = read(fd, bytes, sizeof bytes)) > 0 && all < 1 << 20) {
		all += n;
		if (holds(bytes, n)) leak("%s gives the secret away", name);
	}
	close(fd);
}

static int readable(const char *name) {
	char byte[16];
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) return 0;
	int n = read(fd, byte, sizeof byte);
	close(fd);
	return n > 0;
}

// memory of a process by every way there is; AT is an address of it.
static void memory(pid_t pid, unsigned long at) {
	char name[128], bytes[256], link[256];
	static const char *files[] = {"environ", "maps", "mem", "smaps", "auxv", "cmdline", "stack", "syscall", "pagemap",
		"io", "mountinfo", "numa_maps", "wchan", "personality", "timers", "status", "stat", "net/unix", "task"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(name, sizeof name, "/proc/%d/%s", pid, files[i]);
		if (readable(name)) leak("%s is readable", name);
		snprintf(name, sizeof name, "/proc/self/../%d/%s", pid, files[i]);
		if (readable(name)) leak("%s is readable", name);
		snprintf(name, sizeof name, "/proc/%d/task/%d/%s", pid, pid, files[i]);
		if (readable(name)) leak("%s is readable", name);
	}
	static const char *links[] = {"exe", "cwd", "root", "fd/0", "fd/3", "fd/4", "fd/5", "fd/6", "fd/7", "fd/8", "ns/net"};
	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		snprintf(name, sizeof name, "/proc/%d/%s", pid, links[i]);
		int fd = open(name, O_RDONLY | O_NONBLOCK);
		if (fd >= 0) { leak("%s opens", name); close(fd); }
		ssize_t n = readlink(name, link, sizeof link - 1);
		if (n > 0 && (strncmp(links[i], "ns", 2))) { link[n] = 0; note("%s leads to %s", name, link); }
	}
	int proc = open("/proc", O_PATH | O_DIRECTORY);
	if (proc >= 0) {
		snprintf(name, sizeof name, "%d/environ", pid);
		int fd = openat(proc, name, O_RDONLY);
		if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) leak("openat of %s", name);
		snprintf(name, sizeof name, "%d", pid);
		int dir = openat(proc, name, O_PATH | O_DIRECTORY);
		fd = openat(dir, "environ", O_RDONLY);
		if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) leak("openat below O_PATH of %d", pid);
		if (dir >= 0 && !fchdir(dir)) {
			if (readable("environ") || readable("maps")) leak("read after fchdir into %d", pid);
			if (readable("root/etc/shadow")) leak("root of %d", pid);
		}
		if (chdir("/tmp")) {}
	}
	struct iovec local = {bytes, 8}, remote = {(void *)at, 8};
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) > 0) leak("process_vm_readv of %d", pid);
	if (process_vm_writev(pid, &local, 1, &remote, 1, 0) > 0) leak("process_vm_writev of %d", pid);
	if (!ptrace(PTRACE_ATTACH, pid, 0, 0)) { leak("traced %d", pid); ptrace(PTRACE_DETACH, pid, 0, 0); }
	if (!ptrace(PTRACE_SEIZE, pid, 0, 0)) { leak("seized %d", pid); ptrace(PTRACE_DETACH, pid, 0, 0); }
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pidfd >= 0) {
		for (int fd = 0; fd < 12; fd++)
			if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0) leak("pidfd_getfd %d of %d", fd, pid);
		if (!syscall(SYS_process_mrelease, pidfd, 0)) leak("process_mrelease of %d", pid);
		struct iovec page = {(void *)(at & ~4095UL), 4096};
		if (syscall(SYS_process_madvise, pidfd, &page, 1, MADV_COLD, 0) >= 0) leak("process_madvise of %d", pid);
		if (!syscall(SYS_setns, pidfd, 0x40000000)) leak("setns of %d", pid);
	}
	if (syscall(SYS_kcmp, pid, getpid(), 1, 0, 0) >= 0) leak("kcmp with %d", pid);
	void *head = 0;
	size_t size = 0;
	if (!syscall(SYS_get_robust_list, pid, &head, &size) && pid != getpid()) leak("get_robust_list of %d", pid);
	uint32_t attr[32] = {1, 128};
	attr[2] = 1;
	if (syscall(SYS_perf_event_open, attr, pid, -1, -1, 0) >= 0) leak("perf_event_open of %d", pid);
	unsigned long one = 1;
	if (syscall(SYS_migrate_pages, pid, 64, &one, &one) >= 0) leak("migrate_pages of %d", pid);
	void *page = (void *)at;
	int status, node = 0;
	if (syscall(SYS_move_pages, pid, 1UL, &page, &node, &status, 0) >= 0) leak("move_pages of %d", pid);
	if (!prctl(62, 2, pid, 1, 0)) leak("PR_SCHED_CORE_SHARE_TO %d", pid);
	if (!prctl(62, 3, pid, 1, 0)) leak("PR_SCHED_CORE_SHARE_FROM %d", pid);
}

// signals and settings of a process by every way there is.
static void settings(pid_t pid) {
	int signals[] = {SIGURG, SIGCONT, SIGWINCH, SIGKILL, SIGSTOP};
	char info[128] = {0};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		int s = signals[i];
		*(int *)info = s;
		((int *)info)[2] = -1;
		if (!kill(pid, s)) leak("kill %d %d", pid, s);
		if (!syscall(SYS_tgkill, pid, pid, s)) leak("tgkill %d %d", pid, s);
		if (!syscall(SYS_tkill, pid, s)) leak("tkill %d %d", pid, s);
		if (!syscall(SYS_rt_sigqueueinfo, pid, s, info)) leak("rt_sigqueueinfo %d %d", pid, s);
		if (!syscall(SYS_rt_tgsigqueueinfo, pid, pid, s, info)) leak("rt_tgsigqueueinfo %d %d", pid, s);
		int pidfd = syscall(SYS_pidfd_open, pid, 0);
		if (pidfd >= 0 && !syscall(SYS_pidfd_send_signal, pidfd, s, 0, 0)) leak("pidfd_send_signal %d %d", pid, s);
		// In a container the first process is the leader of the tool's own group.
		if (pidfd >= 0 && pid != getpgrp() && !syscall(SYS_pidfd_send_signal, pidfd, s, 0, 4)) leak("pidfd_send_signal group of %d %d", pid, s);
		if (pidfd >= 0) close(pidfd);
	}
	struct rlimit limit = {1, 1}, old;
	if (!prlimit(pid, RLIMIT_NOFILE, 0, &old)) leak("prlimit reads limits of %d", pid);
	if (!prlimit(pid, RLIMIT_CORE, &limit, 0)) leak("prlimit of %d", pid);
	if (!setpriority(PRIO_PROCESS, pid, 15)) leak("setpriority of %d", pid);
	struct sched_param batch = {0};
	if (!sched_setscheduler(pid, SCHED_IDLE, &batch)) leak("sched_setscheduler of %d", pid);
	uint32_t attr[14] = {56, 3, 0, 0, 10};
	if (!syscall(SYS_sched_setattr, pid, attr, 0)) leak("sched_setattr of %d", pid);
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!sched_setaffinity(pid, sizeof set, &set)) leak("sched_setaffinity of %d", pid);
	if (!syscall(SYS_ioprio_set, 1, pid, 3 << 13)) leak("ioprio_set of %d", pid);
	if (!setpgid(pid, pid)) leak("setpgid of %d", pid);
	char name[64];
	static const char *files[] = {"oom_score_adj", "comm", "coredump_filter", "timerslack_ns", "autogroup", "clear_refs", "mem", "attr/current", "oom_adj", "sched", "loginuid"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(name, sizeof name, "/proc/%d/%s", pid, files[i]);
		int fd = open(name, O_WRONLY);
		if (fd >= 0) { leak("%s opens for writing", name); close(fd); }
	}
}

// others: VICTIM SUPERVISOR SECRET. Both are of the same user.
static void others(int argc, char **argv) {
	secret = argv[2];
	pid_t pids[] = {atoi(argv[0]), atoi(argv[1]) ? atoi(argv[1]) : getppid(), 1};
	unsigned long at = 0x400000;
	for (int i = 0; i < 3; i++) {
		memory(pids[i], at);
		settings(pids[i]);
	}
	for (pid_t p = 1; p < 40000; p++) {
		char name[64];
		snprintf(name, sizeof name, "/proc/%d/environ", p);
		look(name);
	}
	// Its own processes can be reached.
	pid_t own = fork();
	if (!own) for (;;) pause();
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/maps", own);
	if (readable(name)) control("maps of a child");
	if (!kill(own, SIGKILL)) control("kill of a child");
	wait(0);
}

// groups: settings and signals of whole groups and users.
static void groups(int argc, char **argv) {
	signal(SIGWINCH, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	kill(0, SIGURG);
	kill(-1, SIGURG);
	kill(-getpgrp(), SIGURG);
	errno = 0;
	if (!setpriority(PRIO_PGRP, 0, 11)) note("setpriority of a group");
	if (!setpriority(PRIO_USER, 0, 12)) note("setpriority of a user");
	if (!setpriority(PRIO_USER, getuid(), 12)) note("setpriority of a user by id");
	if (!syscall(SYS_ioprio_set, 2, 0, 3 << 13)) note("ioprio_set of a group");
	if (!syscall(SYS_ioprio_set, 3, getuid(), 3 << 13)) note("ioprio_set of a user");
	if (!prctl(62, 1, 0, 2, 0)) note("PR_SCHED_CORE_CREATE of a group");
	if (!setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0))) control("setpriority of itself");
	// Signals by files: the owner of a pipe, a socket, a directory, a lease.
	pid_t targets[] = {atoi(argv[0]), getppid(), -getpgrp()};
	for (int i = 0; i < 3; i++) {
		int ends[2];
		if (pipe(ends)) continue;
		fcntl(ends[0], F_SETOWN, targets[i]);
		struct f_owner_ex owner = {i == 2 ? F_OWNER_PGRP : F_OWNER_PID, abs(targets[i])};
		fcntl(ends[0], F_SETOWN_EX, &owner);
		fcntl(ends[0], F_SETSIG, SIGURG);
		fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
		if (write(ends[1], "x", 1) < 0) note("write: %m");
		int pair[2];
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
			int id = targets[i];
			ioctl(pair[0], FIOSETOWN, &id);
			fcntl(pair[0], F_SETOWN, targets[i]);
			fcntl(pair[0], F_SETSIG, SIGURG);
			fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK);
			if (write(pair[1], "x", 1) < 0) note("write: %m");
			send(pair[1], "y", 1, MSG_OOB);
		}
		int dir = open(".", O_RDONLY | O_DIRECTORY);
		fcntl(dir, F_SETOWN, targets[i]);
		fcntl(dir, F_SETSIG, SIGURG);
		fcntl(dir, F_NOTIFY, 0x80000000 | 0x3f);
		int file = open("leased", O_RDWR | O_CREAT, 0600);
		if (file >= 0) {
			fcntl(file, F_SETLEASE, F_RDLCK);
			fcntl(file, F_SETOWN, targets[i]);
			fcntl(file, F_SETSIG, SIGURG);
			int again = open("leased", O_RDWR | O_NONBLOCK);
			if (again >= 0) close(again);
			close(file);
		}
		if (argc > 1) {
			// Until the host opens the leased file.
			file = open("leased", O_RDWR);
			fcntl(file, F_SETLEASE, F_UNLCK);
		}
	}
	control("groups");
}

// ipc: KEY MQ SHM: System V, POSIX and file memory of other processes.
static void ipc(int argc, char **argv) {
	int key = atoi(argv[0]);
	for (int id = 0; id < 64; id++) {
		struct shmid_ds seg;
		if (!shmctl(id, IPC_STAT, &seg)) leak("IPC_STAT of segment %d", id);
		if (shmat(id, 0, SHM_RDONLY) != (void *)-1) leak("attached segment %d", id);
	}
	int id = shmget(key, 0, 0);
	if (id >= 0) leak("shmget of another's segment");
	if ((id = shmget(key + 1000, 4096, IPC_CREAT | 0600)) >= 0 && shmctl(id, IPC_RMID, 0)) leak("left a segment behind");
	if (msgget(key, 0) >= 0) leak("msgget of another's queue");
	if ((id = msgget(key + 1000, IPC_CREAT | 0600)) >= 0 && msgctl(id, IPC_RMID, 0)) leak("left a message queue behind");
	if (semget(key, 0, 0) >= 0) leak("semget of another's semaphores");
	if ((id = semget(key + 1000, 1, IPC_CREAT | 0600)) >= 0 && semctl(id, 0, IPC_RMID)) leak("left semaphores behind");
	if (syscall(SYS_mq_open, argv[1], O_RDWR) >= 0) leak("mq_open of another's queue");
	// The host looks for it afterwards.
	if (syscall(SYS_mq_open, "left", O_RDWR | O_CREAT, 0600, 0) >= 0) control("a queue of its own");
	if (!syscall(SYS_mq_unlink, argv[1])) leak("mq_unlink of another's queue");
	char name[128], bytes[64];
	snprintf(name, sizeof name, "/dev/shm/%s", argv[2]);
	int fd = open(name, O_RDWR);
	if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) leak("opened another's shared memory");
	if (!unlink(name)) leak("removed another's shared memory");
	static const char *mounts[] = {"/run/shm/", "/proc/self/root/dev/shm/", "/dev/mqueue/", "/dev/./shm/../shm/", "/proc/self/cwd/../../../../../../../dev/shm/"};
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
		snprintf(name, sizeof name, "%s%s", mounts[i], argv[2]);
		if ((fd = open(name, O_RDWR)) >= 0 && read(fd, bytes, sizeof bytes) > 0) leak("opened %s", name);
	}
	snprintf(name, sizeof name, "/dev/shm/own%d", getpid());
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0) control("shared memory of its own");
	else if (argc > 3) control("no shared memory without a supervisor");
	// Key rings.
	if (syscall(SYS_keyctl, 0, -4, 1) >= 0) leak("keyctl finds a user's key ring");
	if (syscall(SYS_add_key, "user", "left", "x", 1, -4) >= 0) leak("left a key behind");
	if (syscall(SYS_request_key, "user", "tools", 0, -4) >= 0) leak("request_key");
	if (syscall(SYS_keyctl, 1, 0) >= 0) leak("joined a session key ring");
}

// kernel: calls that a sandbox must not offer.
static void kernel(int argc, char **argv) {
	char space[512] = {0};
	struct {
		const char *name;
		long number, a, b, c, d, e;
	} calls[] = {
		{"unshare user", SYS_unshare, 0x10000000}, {"unshare mount", SYS_unshare, 0x20000}, {"unshare net", SYS_unshare, 0x40000000},
		{"unshare pid", SYS_unshare, 0x20000000}, {"unshare time", SYS_unshare, 0x80}, {"unshare ipc", SYS_unshare, 0x08000000},
		{"unshare cgroup", SYS_unshare, 0x02000000}, {"unshare uts", SYS_unshare, 0x04000000},
		{"mount", SYS_mount, (long)"none", (long)"src", (long)"tmpfs"}, {"umount2", SYS_umount2, (long)"/tmp", 0},
		{"fsopen", 430, (long)"tmpfs", 0}, {"open_tree", 428, -100, (long)".", 1}, {"fspick", 433, -100, (long)"."},
		{"mount_setattr", 442, -100, (long)".", 0, (long)space, 32}, {"open_tree_attr", 467, -100, (long)".", 1, (long)space, 32},
		{"pivot_root", SYS_pivot_root, (long)".", (long)"."}, {"chroot", SYS_chroot, (long)"."},
		{"bpf", SYS_bpf, 0, (long)space, 64}, {"userfaultfd", SYS_userfaultfd, 1}, {"perf_event_open", SYS_perf_event_open, (long)space, 0, -1, -1, 0},
		{"io_uring_setup", 425, 8, (long)space}, {"io_uring_enter", 426, 0, 0, 0}, {"io_uring_register", 427, -1, 20, (long)space},
		{"init_module", SYS_init_module, (long)space, 8, (long)""}, {"finit_module", SYS_finit_module, 0, (long)"", 0},
		{"kexec_load", SYS_kexec_load, 0, 0, 0}, {"swapon", SYS_swapon, (long)"x"}, {"swapoff", SYS_swapoff, (long)"x"}, {"acct", SYS_acct, (long)"leased"},
		{"quotactl", SYS_quotactl, 0x80000100L, 0, 0, 0}, {"sethostname", SYS_sethostname, (long)"x", 1}, {"setdomainname", SYS_setdomainname, (long)"x", 1},
		{"settimeofday", SYS_settimeofday, (long)space, 0}, {"syslog", SYS_syslog, 3, (long)space, 512}, {"name_to_handle", SYS_open_by_handle_at, -100, (long)space, 0},
		{"fanotify_init", SYS_fanotify_init, 0, 0}, {"fanotify_init report", SYS_fanotify_init, 0x200, 0}, {"lookup_dcookie", 212, 0, (long)space, 8},
		{"iopl", SYS_iopl, 3}, {"ioperm", SYS_ioperm, 0x80, 1, 1}, {"vhangup", SYS_vhangup}, {"reboot", SYS_reboot, 0xfee1dead, 672274793, 0},
		{"statmount", 457, (long)space, (long)space, 512}, {"listmount", 458, (long)space, (long)space, 8}, {"lsm_set_self_attr", 460, 100, (long)space, 32},
		{"setuid", SYS_setuid, 12345}, {"setgid", SYS_setgid, 12345}, {"setresuid", SYS_setresuid, 1, 1, 1}, {"setgroups", SYS_setgroups, 1, (long)space},
		{"uretprobe", 335}, {"uprobe", 336}, {"unknown 480", 480}, {"unknown 600", 600}, {"unknown 4095", 4095}, {"x32 getpid", 0x40000000 | 39},
		{"x32 openat", 0x40000000 | 257, -100, (long)"/etc/passwd", 0}, {"x32 ptrace", 0x40000000 | 521, 0, 0},
	};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		errno = 0;
		pid_t pid = fork();
		if (!pid) {
			long r = syscall(calls[i].number, calls[i].a, calls[i].b, calls[i].c, calls[i].d, calls[i].e);
			if (r >= 0) leak("%s answers %ld", calls[i].name, r);
			else if (!strncmp(calls[i].name, "unknown", 7) && errno != ENOSYS) leak("%s: %m", calls[i].name);
			else if (errno != ENOSYS && errno != EPERM && errno != EACCES) note("%s: %m", calls[i].name);
			_exit(0);
		}
		int status;
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status)) note("%s ends by signal %d", calls[i].name, WTERMSIG(status));
	}
	for (long n = 471; n < 560; n++) {
		long r = syscall(n, 0, 0, 0, 0, 0, 0);
		if (r >= 0 || errno != ENOSYS) leak("call %ld answers %ld, %s", n, r, strerror(errno));
	}
	// 32-bit calls: by no means more than the 64-bit ones.
	pid_t pid = fork();
	if (!pid) {
		long r;
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(359L), "b"(2L), "c"(1L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
		if (r >= 0) leak("int 0x80 makes a socket");
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L), "b"(0L), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
		note("int 0x80 getpid answers %ld", r);
		_exit(0);
	}
	int status;
	waitpid(pid, &status, 0);
	// Namespaces by clone and clone3.
	for (int shift = 0; shift < 7; shift++) {
		static const long spaces[] = {0x10000000, 0x20000, 0x40000000, 0x20000000, 0x08000000, 0x02000000, 0x04000000};
		pid = syscall(SYS_clone, spaces[shift] | SIGCHLD, 0, 0, 0, 0);
		if (!pid) _exit(0);
		if (pid > 0) { leak("clone made namespace %lx", spaces[shift]); waitpid(pid, 0, 0); }
		uint64_t args[11] = {spaces[shift], 0, 0, 0, SIGCHLD};
		pid = syscall(SYS_clone3, args, sizeof args);
		if (!pid) _exit(0);
		if (pid > 0) { leak("clone3 made namespace %lx", spaces[shift]); waitpid(pid, 0, 0); }
	}
	uint64_t into[11] = {0x200000000ULL, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 0};
	pid = syscall(SYS_clone3, into, sizeof into);
	if (!pid) _exit(0);
	if (pid > 0) leak("clone3 into a cgroup");
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) leak("no_new_privs taken back");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) leak("no_new_privs is not set");
	if (!prctl(PR_SET_SECCOMP, 0, 0, 0, 0)) leak("seccomp taken back");
	if (prctl(PR_CAP_AMBIENT, 2, 12, 0, 0) == 0) leak("raised an ambient capability");
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "Cap", 3) && strncmp(line, "CapBnd", 6) && strtoull(strchr(line, ':') + 1, 0, 16)) leak("capabilities: %s", line);
	// Notifiers of its own: they would answer before the supervisor.
	struct { unsigned short code; unsigned char jt, jf; unsigned k; } allow[] = {{6, 0, 0, 0x7fc00000}};
	struct { unsigned short len; void *filter; } program = {1, allow};
	if (!(pid = fork())) {
		int fd = syscall(SYS_seccomp, 1, 8, &program);
		if (fd >= 0) note("a listener of its own");
		_exit(0);
	}
	// It would answer for itself with nobody there: the process may hang.
	char stat[64];
	snprintf(stat, sizeof stat, "/proc/%d/stat", pid);
	while (!idle(stat)) sched_yield();
	kill(pid, SIGKILL);
	waitpid(pid, 0, 0);
	control("kernel");
}

// bits: set-user-ID programs, devices and capabilities left behind.
static void bits(int argc, char **argv) {
	int fd = open("src/left", O_RDWR | O_CREAT, 0755);
	if (fd < 0) return;
	if (write(fd, "#!/bin/sh\n", 10) < 0) note("write: %m");
	if (!chmod("src/left", 0755)) control("chmod");
	else note("chmod: %m");
	chmod("src/left", 04755);
	fchmod(fd, 06755);
	syscall(452, AT_FDCWD, "src/left", 06755, 0);
	int other = open("src/left2", O_RDWR | O_CREAT, 06755);
	if (other >= 0) close(other);
	mknod("src/left3", S_IFREG | 06755, 0);
	if (!mknod("src/null", S_IFCHR | 0666, 0x103)) leak("made a device");
	char cap[20] = {1, 0, 0, 2, (char)0xff, (char)0xff, (char)0xff, (char)0xff};
	if (!setxattr("src/left", "security.capability", cap, 20, 0)) leak("left capabilities behind");
	if (!chown("src/left", 0, 0) && getuid()) leak("chown to root");
	if (!chown("src/left", 12345, -1)) leak("chown to another");
	struct stat st;
	static const char *names[] = {"src/left", "src/left2", "src/left3"};
	for (int i = 0; i < 3; i++)
		if (!stat(names[i], &st) && st.st_mode & 06000) note("SETUID %s has mode %o of user %d", names[i], st.st_mode, st.st_uid);
}

// terminal: the controlling terminal is the test's.
static void terminal(int argc, char **argv) {
	int fd = open("/dev/tty", O_RDWR);
	if (fd < 0) fd = 0;
	if (isatty(fd)) control("terminal");
	const char *text = "echo injected\n";
	for (const char *c = text; *c; c++)
		if (!ioctl(fd, TIOCSTI, c)) { leak("TIOCSTI"); break; }
	for (const char *c = text; *c; c++)
		if (!ioctl(0, TIOCSTI, c)) { leak("TIOCSTI on 0"); break; }
	// The number in 64 bits, with bits that the kernel does not look at.
	for (const char *c = text; *c; c++)
		if (!syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, c)) { leak("TIOCSTI with high bits"); break; }
	char sub[16] = {2};
	if (!syscall(SYS_ioctl, 0, 0x541cUL, sub)) leak("TIOCLINUX");
	if (!syscall(SYS_ioctl, 0, 0xdead0000541cUL, sub)) leak("TIOCLINUX with high bits");
	int discipline = 2;
	if (!ioctl(0, TIOCSETD, &discipline)) leak("TIOCSETD");
	if (!ioctl(0, TIOCCONS, 0)) leak("TIOCCONS");
	if (!ioctl(0, TIOCSCTTY, 1)) note("TIOCSCTTY");
	if (!ioctl(0, 0x40045436, SIGINT)) leak("TIOCSIG");
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (master >= 0) control("a terminal of its own");
	for (int n = 0; n < 40; n++) {
		char name[32];
		snprintf(name, sizeof name, "/dev/pts/%d", n);
		int other = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
		struct stat a, b;
		if (other >= 0 && !fstat(other, &a) && !fstat(0, &b) && a.st_rdev != b.st_rdev) leak("opened %s", name);
	}
}

// fewer: SECRET. Started with fewer variables than the process above it.
static void fewer(int argc, char **argv) {
	static char whole[128];
	snprintf(whole, sizeof whole, "%s-of-above", argv[0]);
	secret = whole;
	extern char **environ;
	for (char **e = environ; *e; e++)
		if (holds(*e, strlen(*e))) leak("it was handed over");
	char name[128];
	for (pid_t p = getppid(); p > 1 && p > getppid() - 50; p--) {
		snprintf(name, sizeof name, "/proc/%d/environ", p);
		look(name);
		snprintf(name, sizeof name, "/proc/%d/task/%d/environ", p, p);
		look(name);
		snprintf(name, sizeof name, "/proc/self/../%d/environ", p);
		look(name);
		snprintf(name, sizeof name, "/proc/%d/cmdline", p);
		look(name);
		snprintf(name, sizeof name, "/proc/%d/maps", p);
		FILE *maps = fopen(name, "r");
		char line[512], bytes[1 << 16];
		while (maps && fgets(line, sizeof line, maps)) {
			unsigned long from, to;
			if (sscanf(line, "%lx-%lx", &from, &to) != 2 || !strstr(line, "[stack]")) continue;
			for (unsigned long at = to - (to - from > sizeof bytes ? sizeof bytes : to - from); at < to; at += sizeof bytes) {
				struct iovec local = {bytes, sizeof bytes}, remote = {(void *)at, to - at};
				ssize_t n = process_vm_readv(p, &local, 1, &remote, 1, 0);
				if (n > 0 && holds(bytes, n)) leak("process_vm_readv of %d", p);
				snprintf(name, sizeof name, "/proc/%d/mem", p);
				int fd = open(name, O_RDONLY);
				if (fd >= 0 && (n = pread(fd, bytes, sizeof bytes, at)) > 0 && holds(bytes, n)) leak("%s", name);
				if (fd >= 0) close(fd);
			}
		}
		if (maps) fclose(maps);
		if (!ptrace(PTRACE_SEIZE, p, 0, 0)) {
			leak("traces %d, which has more variables", p);
			ptrace(PTRACE_DETACH, p, 0, 0);
		}
	}
	// Of what has fewer itself it can read.
	if (readable("/proc/self/environ")) control("its own variables");
	// A core of the process above it.
	if (argc > 1 && strcmp(argv[1], "-")) {
		struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
		prlimit(getppid(), RLIMIT_CORE, &all, 0);
		int up = getppid();
		if (!kill(up, SIGQUIT)) while (getppid() == up) sched_yield(); // it has ended, and so has its core
		static const char *cores[] = {"core"};
		for (int i = 0; i < 1; i++) {
			int fd = open(cores[i], O_RDONLY);
			ssize_t n;
			static char bytes[1 << 20];
			while (fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0)
				if (holds(bytes, n)) leak("%s of the process above gives the variable away", cores[i]);
		}
		snprintf(name, sizeof name, "core.%d", up);
		look(name);
	}
}

// above: SECRET PROGRAM: a program with all variables that starts one with fewer.
static void above(int argc, char **argv) {
	char whole[128];
	snprintf(whole, sizeof whole, "%s-of-above", argv[0]);
	if (getenv("BAR") && !strcmp(getenv("BAR"), whole)) control("the program above sees the variable");
	char program[256];
	if (!realpath(argv[1], program)) return;
	if (argc > 2 && chdir(getenv("TMPDIR"))) note("chdir: %m");
	argv[1] = program;
	int ends[2];
	if (pipe(ends)) return;
	pid_t pid = fork();
	if (pid) {
		// It may die of what it started, which then goes on, and has the other end.
		close(ends[1]);
		while (read(ends[0], program, 1) > 0) {}
		waitpid(pid, 0, 0);
		return;
	}
	if (!(pid = fork())) {
		execl(argv[1], argv[1], "fewer", argv[0], argc > 2 ? argv[2] : (char *)0, (char *)0);
		_exit(1);
	}
	waitpid(pid, 0, 0);
}

MAIN({"others", others}, {"groups", groups}, {"ipc", ipc}, {"kernel", kernel}, {"bits", bits},
	{"terminal", terminal}, {"fewer", fewer}, {"above", above})
