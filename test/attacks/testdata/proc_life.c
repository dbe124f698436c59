// Lives on after the tool, outruns its limits, or wears its supervisor out.
#include "proc.h"
#include <sys/file.h>
#include <sys/sendfile.h>

// beat: proves to the test that this process still runs.
static void beat(const char *name) {
	for (int i = 0;; i++) {
		int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		char text[32];
		snprintf(text, sizeof text, "%d\n", i);
		if (fd >= 0) {
			if (write(fd, text, strlen(text)) < 0) {}
			close(fd);
		}
		nap(20);
	}
}

// begun waits until a process of beat has begun.
static void begun(const char *name) {
	while (access(name, F_OK)) sched_yield();
}

static void ignore(void) {
	for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
}

static int vm(void *at) {
	setsid();
	beat(at);
	return 0;
}

// survive: HOW. Leaves processes behind.
static void survive(int argc, char **argv) {
	const char *how = argv[0];
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	// Held as long as one process has it open: a list of processes can miss one that hops.
	flock(open("src/lock", O_RDWR | O_CREAT, 0644), LOCK_EX);
	if (!strcmp(how, "daemon")) {
		if (!fork()) {
			setsid();
			if (!fork()) {
				ignore();
				clearenv();
				for (int fd = 0; fd < 256; fd++) close(fd);
				prctl(PR_SET_PDEATHSIG, 0);
				prctl(PR_SET_NAME, "kworker/0:1");
				prctl(PR_SET_DUMPABLE, 0);
				beat("src/beat");
			}
			_exit(0);
		}
	} else if (!strcmp(how, "stopped")) {
		pid_t pid = fork();
		if (!pid) {
			setsid();
			raise(SIGSTOP);
			beat("src/beat");
		}
		waitpid(pid, 0, WUNTRACED);
		// Something continues it later.
		if (!fork()) { setsid(); ignore(); nap(1500); kill(pid, SIGCONT); beat("src/beat"); }
	} else if (!strcmp(how, "traced")) {
		pid_t pid = fork();
		if (!pid) {
			setsid();
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			beat("src/beat");
		}
		waitpid(pid, 0, WUNTRACED);
		if (!fork()) {
			setsid();
			ignore();
			pid_t inner = fork();
			if (!inner) {
				setsid();
				beat("src/beat2");
			}
			ptrace(PTRACE_SEIZE, inner, 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXIT);
			begun("src/beat2"); // an interrupt of a stopped process stops it again before its next instruction
			for (;;) { nap(50); ptrace(PTRACE_INTERRUPT, inner, 0, 0); waitpid(inner, 0, WNOHANG); ptrace(PTRACE_CONT, inner, 0, 0); }
		}
	} else if (!strcmp(how, "vfork")) {
		if (!fork()) {
			setsid();
			if (!vfork()) { setsid(); beat("src/beat"); }
			beat("src/beat2");
		}
	} else if (!strcmp(how, "vm")) {
		char *stack = mmap(0, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		clone(vm, stack + (1 << 17), CLONE_VM | CLONE_FS | CLONE_FILES, "src/beat");
		clone(vm, stack + (1 << 16), CLONE_PARENT | SIGCHLD, "src/beat2");
	} else if (!strcmp(how, "leader")) {
		// The first thread ends, another one goes on for a while.
		if (!fork()) { setsid(); beat("src/beat"); }
		begun("src/beat");
		syscall(SYS_exit, 0);
	} else if (!strcmp(how, "hop")) {
		// Each lives for an instant and starts the next: a sweep that lists is late. More of them, without a pause, leave no
		// numbers for the processes of other tests.
		for (int n = 0; n < 4; n++)
			if (!fork()) {
				setsid();
				ignore();
				for (int i = 0;; i++) {
					if (fork()) _exit(0);
					spin(100000);
					if (i % 50 == 0) {
						int fd = open("src/beat", O_WRONLY | O_CREAT | O_TRUNC, 0644);
						char text[32];
						snprintf(text, sizeof text, "%d\n", i);
						if (fd >= 0 && write(fd, text, strlen(text)) >= 0) close(fd);
					}
				}
			}
	} else if (!strcmp(how, "killed")) {
		if (!fork()) { setsid(); ignore(); beat("src/beat"); }
		begun("src/beat");
		control("survive");
		raise(SIGKILL);
	} else if (!strcmp(how, "busy")) {
		// In the middle of calls that a supervisor answers.
		for (int n = 0; n < 20; n++)
			if (!fork()) {
				setsid();
				ignore();
				for (int i = 0;; i++) {
					int fd = open("src/beat", O_WRONLY | O_CREAT | O_TRUNC, 0644);
					char text[32];
					snprintf(text, sizeof text, "%d.%d\n", n, i);
					if (fd >= 0 && write(fd, text, strlen(text)) >= 0) close(fd);
					mkdir("src/d", 0700);
					rename("src/d", "src/e");
					rmdir("src/e");
				}
			}
	}
	if (!strcmp(how, "traced")) begun("src/beat2");
	else if (strcmp(how, "stopped")) begun("src/beat");
	control("survive");
	if (argc > 1) for (;;) pause();
}

// forever: does not end by itself; the limit on time has to end it.
static void forever(int argc, char **argv) {
	const char *how = argv[0];
	ignore();
	control("forever");
	if (!strcmp(how, "stop")) {
		if (!fork()) { setsid(); beat("src/beat"); }
		raise(SIGSTOP);
	}
	if (!strcmp(how, "trace")) {
		pid_t pid = getpid();
		if (!fork()) {
			setsid();
			ptrace(PTRACE_ATTACH, pid, 0, 0);
			beat("src/beat");
		}
		for (;;) pause();
	}
	if (!strcmp(how, "vfork"))
		if (!vfork()) { setsid(); beat("src/beat"); }
	if (!strcmp(how, "threads")) {
		if (!fork()) { setsid(); beat("src/beat"); }
		syscall(SYS_exit, 0);
	}
	if (!strcmp(how, "fifo")) {
		mkfifo("src/fifo", 0600);
		if (!fork()) { setsid(); beat("src/beat"); }
		open("src/fifo", O_RDONLY);
	}
	for (;;) pause();
}

static void *opens_fifo(void *at) {
	open(at, O_RDONLY);
	return 0;
}

static void *stays(void *at) {
	for (;;) pause();
}

static void *spins(void *at) {
	for (;;) {
		int fd = open("src/busy", O_RDWR | O_CREAT, 0600);
		if (fd >= 0) close(fd);
		mkdir(at, 0700);
		rmdir(at);
	}
}

static void denied(const char *when) {
	char bytes[8];
	for (int i = 0; i < 5; i++) {
		int fd = open("secret", O_RDONLY);
		if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) leak("the secret, %s", when);
		if (fd >= 0) close(fd);
		if (!rename("secret", "src/open")) { leak("moved the secret, %s", when); }
		if (!link("secret", "src/linked")) leak("linked the secret, %s", when);
		if (!chmod("secret", 0666)) leak("mode of the secret, %s", when);
	}
	int fd = open("src/fine", O_RDWR | O_CREAT, 0600);
	if (fd >= 0 && write(fd, "x", 1) == 1) control("%s", when);
	else note("%s: %m", when);
	if (fd >= 0) close(fd);
}

static long thread(void *(*run)(void *), void *at) {
	pthread_t t;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	return pthread_create(&t, &attr, run, at);
}

// wear: the supervisor under load, then a question that must be denied.
static void wear(int argc, char **argv) {
	const char *how = argv[0];
	denied("before");
	if (!strcmp(how, "fifos")) {
		mkfifo("src/fifo", 0600);
		for (int i = 0; i < 1500; i++) if (thread(opens_fifo, "src/fifo")) { note("%d threads", i); break; }
		// With few descriptors fewer of them wait.
		for (int looks = 0; looks < 20 && waiting() < 100; looks++) sched_yield();
		denied("while opens wait");
	} else if (!strcmp(how, "leases")) {
		int fd = open("src/leased", O_RDWR | O_CREAT, 0600);
		signal(SIGIO, SIG_IGN);
		if (fcntl(fd, F_SETLEASE, F_WRLCK)) note("lease: %m");
		pid_t pids[64];
		for (int i = 0; i < 64; i++)
			if (!(pids[i] = fork())) { open("src/leased", O_RDWR); truncate("src/leased", 1); _exit(0); }
		for (int i = 0; i < 64; i++) {
			char stat[64];
			snprintf(stat, sizeof stat, "/proc/%d/stat", pids[i]);
			while (!idle(stat)) sched_yield();
		}
		denied("while a lease is broken");
		for (int i = 0; i < 64; i++) kill(pids[i], SIGKILL);
	} else if (!strcmp(how, "descriptors")) {
		struct rlimit all;
		getrlimit(RLIMIT_NOFILE, &all);
		all.rlim_cur = all.rlim_max;
		setrlimit(RLIMIT_NOFILE, &all);
		int last = 0;
		for (int i = 0; i < 30000; i++) {
			int fd = open("src", O_RDONLY);
			if (fd < 0) { note("%d open: %m", i); break; }
			last = fd;
		}
		int fd = open("secret", O_RDONLY);
		if (fd >= 0) leak("the secret without descriptors");
		for (int i = 3; i <= last; i++) close(i);
		denied("after descriptors");
	} else if (!strcmp(how, "threads")) {
		static char names[64][32];
		for (int i = 0; i < 64; i++) { snprintf(names[i], 32, "src/t%d", i); thread(spins, names[i]); }
		for (int i = 0; i < 3; i++) denied("under load");
	} else if (!strcmp(how, "exits")) {
		// Threads and processes that are gone before their call is answered.
		for (int n = 0; n < ROUNDS(50); n++) {
			pid_t pid = fork();
			if (!pid) {
				for (int i = 0; i < 8; i++) thread(spins, "src/x");
				spin(n * 7919 % 500000);
				if (n & 1) execl("/bin/true", "true", (char *)0);
				if (n & 2) kill(getpid(), SIGKILL);
				_exit(0);
			}
			char bytes[8];
			int fd = open("secret", O_RDONLY);
			if (fd >= 0 && read(fd, bytes, 8) > 0) leak("the secret while others end");
			waitpid(pid, 0, 0);
		}
		denied("after exits");
	} else if (!strcmp(how, "signals")) {
		// A timer interrupts calls that wait for an answer.
		struct sigaction action = {.sa_handler = (void (*)(int))nap};
		action.sa_handler = SIG_DFL;
		void handler(int s) {}
		action.sa_handler = handler;
		sigaction(SIGALRM, &action, 0);
		struct itimerval often = {{0, 150}, {0, 150}};
		setitimer(ITIMER_REAL, &often, 0);
		int fine = 0;
		for (int n = 0; n < ROUNDS(1500) || !fine; n++) {
			int fd = open("secret", O_RDONLY);
			if (fd >= 0) leak("the secret among signals");
			char name[32];
			snprintf(name, sizeof name, "src/s%d", n * 5 % 8);
			if (!mkdir(name, 0700)) fine++;
			else if (errno == EEXIST) rmdir(name);
		}
		memset(&often, 0, sizeof often);
		setitimer(ITIMER_REAL, &often, 0);
		if (fine) control("among signals");
		denied("after signals");
	} else if (!strcmp(how, "memory")) {
		// Long arguments and paths, from many at a time.
		char *big = malloc(131072);
		memset(big, 'x', 131071);
		big[131071] = 0;
		char **args = calloc(16, sizeof *args);
		for (int i = 0; i < 15; i++) args[i] = big;
		for (int n = 0; n < 40; n++)
			if (!fork()) {
				for (int i = 0; i < 10; i++)
					if (!fork()) { execv("/bin/none-such", args); execv("src", args); open(big, O_RDONLY); _exit(0); }
				while (wait(0) > 0) {}
				_exit(0);
			}
		while (wait(0) > 0) {}
		denied("after memory");
	} else if (!strcmp(how, "bad")) {
		// Addresses that cannot be read, and that end in the middle.
		char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(page + 4096, 4096);
		strcpy(page + 4096 - 4, "src");
		memcpy(page + 4000, "../../../etc/shadow/////////////", 32);
		const void *bad[] = {0, (void *)1, (void *)-1, (void *)(1UL << 47), page + 4090, page + 4095, page + 4096, (void *)0x8000000000000000UL};
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
			static const long calls[] = {SYS_open, SYS_rename, SYS_mkdir, SYS_execve, SYS_unlink, SYS_chmod, SYS_truncate, SYS_symlink, SYS_link, SYS_chdir};
			for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) syscall(calls[c], bad[i], bad[i], bad[i]);
			syscall(SYS_openat, AT_FDCWD, bad[i], O_RDWR | O_CREAT, 0600);
			syscall(437, AT_FDCWD, "src/fine", bad[i], 24);
			uint64_t how64[64] = {0, 0, ~0UL};
			syscall(437, AT_FDCWD, "src/fine", how64, 4096);
			syscall(437, AT_FDCWD, "src/fine", how64, ~0UL);
			syscall(SYS_connect, 0, bad[i], ~0U);
			syscall(SYS_openat, 0x7fffffff, "x", 0);
			syscall(SYS_openat, 0xffffff9c00000000UL, "x", 0);
		}
		denied("after bad addresses");
	}
	control("wear");
	_exit(0);
}

// limits: KIND VALUE.
static void limits(int argc, char **argv) {
	const char *kind = argv[0];
	long value = atol(argv[1]);
	struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	static const int all[] = {RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU};
	for (int i = 0; i < 6; i++) setrlimit(all[i], &none);
	for (int s = 1; s < 32; s++) if (s != SIGCHLD) signal(s, SIG_IGN);
	struct stat st;
	if (!strcmp(kind, "file")) {
		int fd = open("src/big", O_RDWR | O_CREAT, 0600), zero = open("/dev/zero", O_RDONLY), ends[2];
		if (write(fd, "x", 1) == 1) control("a small file");
		if (ftruncate(fd, value * 4)) {}
		if (!fstat(fd, &st) && st.st_size > value) leak("ftruncate made %ld bytes", st.st_size);
		if (!truncate("src/big", value * 4)) {}
		if (!fstat(fd, &st) && st.st_size > value) leak("truncate made %ld bytes", st.st_size);
		if (syscall(SYS_fallocate, fd, 0, 0, value * 4)) {}
		if (!fstat(fd, &st) && st.st_size > value) leak("fallocate made %ld bytes", st.st_size);
		if (pwrite(fd, "x", 1, value * 4)) {}
		if (!fstat(fd, &st) && st.st_size > value) leak("pwrite made %ld bytes", st.st_size);
		char *bytes = calloc(1, 65536);
		lseek(fd, 0, SEEK_END);
		for (long n = 0; n < value * 2; n += 65536) if (write(fd, bytes, 65536) <= 0) break;
		if (!fstat(fd, &st) && st.st_size > value) leak("write made %ld bytes", st.st_size);
		lseek(fd, 0, SEEK_SET);
		if (sendfile(fd, zero, 0, value * 2) < 0) {}
		if (!pipe(ends))
			for (long n = 0; n < value * 2; n += 32768) {
				if (write(ends[1], bytes, 32768) < 0) break;
				if (syscall(SYS_splice, ends[0], 0, fd, 0, 32768, 0) <= 0) break;
			}
		if (!fstat(fd, &st) && st.st_size > value) leak("splice made %ld bytes", st.st_size);
		int other = open("src/big2", O_RDWR | O_CREAT | O_APPEND, 0600);
		for (int i = 0; i < 8; i++) syscall(SYS_copy_file_range, fd, &(off_t){0}, other, 0, value / 2, 0);
		if (!fstat(other, &st) && st.st_size > value) leak("copy_file_range made %ld bytes", st.st_size);
		for (long n = 0; n < value * 2; n += 65536) if (write(other, bytes, 65536) <= 0) break;
		if (!fstat(other, &st) && st.st_size > value) leak("append made %ld bytes", st.st_size);
		fd = open("src/fine", O_RDWR | O_CREAT | O_TRUNC, 0600);
		ftruncate(fd, value - 1);
		truncate("src/fine", value + 1);
		if (!fstat(fd, &st) && st.st_size > value) leak("truncate by name made %ld bytes", st.st_size);
		int moved = open("src/fine", O_RDWR | O_TRUNC);
		if (moved >= 0) control("truncation");
	} else if (!strcmp(kind, "files")) {
		int n = 0;
		while (n < value * 4 && open("src", O_RDONLY) >= 0) n++;
		if (n) control("open files");
		if (n > value) leak("%d files are open", n);
		for (int i = 0; i < 4; i++) {
			int fd = open("src/fine", O_RDWR | O_CREAT, 0600);
			if (fd >= value) leak("descriptor %d", fd);
		}
		if (dup2(0, value + 5) >= 0) leak("dup2 above the limit");
		if (fcntl(0, F_DUPFD, value + 5) >= 0) leak("F_DUPFD above the limit");
	} else if (!strcmp(kind, "processes")) {
		int n = 0;
		for (; n < value * 4; n++) {
			pid_t pid = fork();
			if (pid < 0) break;
			if (!pid) for (;;) pause();
		}
		int threads = 0;
		for (; threads < value * 4; threads++) if (thread(stays, 0)) break;
		if (n) control("processes");
		if (n + threads > value) leak("%d processes and %d threads, limit %ld", n, threads, value);
	} else if (!strcmp(kind, "memory")) {
		char *small = malloc(1 << 20);
		if (small) { memset(small, 1, 1 << 20); control("some memory"); }
		char *big = mmap(0, value * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (big != MAP_FAILED) {
			for (long i = 0; i < value * 2; i += 4096) big[i] = 1;
			leak("%ld bytes of memory", value * 2);
		}
	} else if (!strcmp(kind, "cpu")) {
		control("cpu");
		for (;;) {
			struct rusage use;
			getrusage(RUSAGE_SELF, &use);
			if (use.ru_utime.tv_sec + use.ru_stime.tv_sec > value + 2) { leak("%ld seconds of processor", use.ru_utime.tv_sec); break; }
		}
	}
}

MAIN({"survive", survive}, {"forever", forever}, {"wear", wear}, {"limits", limits})
