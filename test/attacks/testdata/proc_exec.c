// Starts programs that a policy does not list, or with what it does not list.
#include "proc.h"
#include <spawn.h>
#include <sys/personality.h>
#include <sys/sendfile.h>

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000
#endif

static char *empty[] = {0};
static const char *listed = "bin/listed", *unlisted = "bin/unlisted";

static void reap(pid_t pid) {
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
}

// The memory that races write to: shared, so that processes can write as well.
struct shared {
	char word[64], path[64], variable[64];
	char *argv[4], *envp[4];
	volatile int stop;
};

static struct shared *share(int fd) {
	int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	struct shared *s = mmap(0, 65536, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (s == MAP_FAILED) exit(3);
	strcpy(s->word, "hello");
	strcpy(s->path, listed);
	strcpy(s->variable, "FOO=1");
	s->argv[0] = "listed";
	s->argv[1] = s->word;
	s->envp[0] = s->variable;
	return s;
}

static void flip(struct shared *s, const char *what, int bad) {
	if (!strcmp(what, "word")) memcpy(s->word, bad ? "evils" : "hello", 5);
	if (!strcmp(what, "pointer")) s->argv[1] = bad ? "evils" : "hello";
	if (!strcmp(what, "cut")) s->argv[1] = bad ? 0 : "hello";
	if (!strcmp(what, "variable")) memcpy(s->variable, bad ? "BAR=1" : "FOO=1", 5);
	if (!strcmp(what, "more")) s->envp[1] = bad ? "LD_PRELOAD=./bin/evil.so" : 0;
	if (!strcmp(what, "path")) memcpy(s->path, bad ? "bin/unlisted" : "bin/listed\0\0", 12);
}

struct job {
	struct shared *s;
	const char *what;
};

static void *flipper(void *at) {
	struct job *job = at;
	for (unsigned i = 0; !job->s->stop; i++) {
		flip(job->s, job->what, i & 1);
		for (volatile int spin = i % 700; spin > 0; spin--) {}
	}
	return 0;
}

static int flips(void *at) {
	flipper(at);
	_exit(0);
}

// race: HOW WHAT. HOW is who writes while execve waits.
static void race(int argc, char **argv) {
	const char *how = argv[0];
	int fd = -1;
	if (!strcmp(how, "file")) {
		fd = open("src/shared", O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, 65536)) exit(4);
	}
	struct shared *s = share(fd);
	struct job job = {s, argv[1]};
	char *stack = mmap(0, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t other = 0;
	if (!strcmp(how, "process") && !(other = fork())) flips(&job);
	if (!strcmp(how, "file") && !(other = fork())) {
		// Writes by the descriptor, so that stopping mappings is no help.
		for (unsigned i = 0;; i++) {
			if (pwrite(fd, i & 1 ? "evils" : "hello", 5, 0) < 0) _exit(1);
			for (volatile int spin = i % 700; spin > 0; spin--) {}
		}
	}
	int starts = 0;
	for (long n = ROUNDS(12); n > 0; n--) {
		pid_t pid = fork();
		if (!pid) {
			struct shared *mine = s;
			pthread_t thread;
			if (!strcmp(how, "thread")) {
				mine = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				memcpy(mine, s, sizeof *s);
				mine->argv[1] = mine->word;
				mine->envp[0] = mine->variable;
				job.s = mine;
				pthread_create(&thread, 0, flipper, &job);
			} else if (!strcmp(how, "vm")) {
				// Shares the memory and is no thread: execve does not end it.
				clone(flips, stack + (1 << 17), CLONE_VM | SIGCHLD, &job);
			} else if (!strcmp(how, "mem")) {
				char name[64];
				snprintf(name, sizeof name, "/proc/%d/mem", getpid());
				if (!fork()) {
					int mem = open(name, O_RDWR);
					if (mem < 0) _exit(1);
					for (unsigned i = 0; i < 20000; i++)
						if (pwrite(mem, i & 1 ? "evils" : "hello", 5, (off_t)(uintptr_t)s->word) < 0) _exit(1);
					_exit(0);
				}
			}
			spin(starts * 701 % 60000);
			execve(mine->path, mine->argv, mine->envp);
			_exit(1);
		}
		reap(pid);
		s->stop = !strcmp(how, "vm");
		while (waitpid(-1, 0, WNOHANG) > 0) {}
		s->stop = 0;
		starts++;
	}
	s->stop = 1;
	if (other > 0) kill(other, SIGKILL);
	while (wait(0) > 0) {}
	note("%d starts", starts);
}

// pending: a thread's read is waiting in the kernel while execve is judged.
static void pending(int argc, char **argv) {
	for (long n = ROUNDS(40); n > 0; n--) {
		pid_t pid = fork();
		if (!pid) {
			struct shared *s = share(-1);
			int ends[2];
			if (pipe(ends)) _exit(1);
			pid_t reader = syscall(SYS_fork);
			if (!reader) {
				// Reads into shared memory, in another process.
				if (read(ends[0], s->word, 5) < 0) _exit(1);
				_exit(0);
			}
			if (!fork()) {
				spin(n * 7919 % 300000);
				if (write(ends[1], "evils", 5) < 0) _exit(1);
				_exit(0);
			}
			execve(s->path, s->argv, s->envp);
			_exit(1);
		}
		reap(pid);
	}
	while (wait(0) > 0) {}
}

static void *dups(void *at) {
	int *fds = at;
	for (unsigned i = 0;; i++) dup2(fds[i & 1], fds[2]);
	return 0;
}

// descriptors: execveat of a descriptor that another thread exchanges.
static void descriptors(int argc, char **argv) {
	for (long n = ROUNDS(25); n > 0; n--) {
		pid_t pid = fork();
		if (!pid) {
			int fds[3] = {open(listed, O_RDONLY), open(unlisted, O_RDONLY), 0};
			fds[2] = dup(fds[0]);
			if (fds[0] < 0 || fds[1] < 0) _exit(1);
			pthread_t thread;
			pthread_create(&thread, 0, dups, fds);
			char *args[] = {"listed", "hello", 0};
			for (int i = 0; i < 20; i++) syscall(SYS_execveat, fds[2], "", args, empty, AT_EMPTY_PATH);
			_exit(1);
		}
		reap(pid);
	}
}

// links: a symlink, and a name, that are exchanged while a start is judged.
static void links(int argc, char **argv) {
	mkdir("src/one", 0755);
	mkdir("src/two", 0755);
	if (symlink("../../bin/listed", "src/one/listed") || symlink("../../bin/unlisted", "src/two/listed")) note("symlink: %m");
	pid_t other = fork();
	if (!other) for (;;) syscall(SYS_renameat2, AT_FDCWD, "src/one", AT_FDCWD, "src/two", 2);
	for (long n = ROUNDS(25); n > 0; n--) {
		pid_t pid = fork();
		if (!pid) {
			char *args[] = {"listed", "hello", 0};
			for (int i = 0; i < 10; i++) execve("src/one/listed", args, empty);
			_exit(1);
		}
		reap(pid);
	}
	kill(other, SIGKILL);
	reap(other);
}

static int rewrite(const char *name, const char *text) {
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (fd < 0) return -1;
	int n = write(fd, text, strlen(text));
	close(fd);
	return n;
}

// scripts: the first line of a listed script changes while it is started.
static void scripts(int argc, char **argv) {
	char good[512], bad[512], here[256];
	if (!getcwd(here, sizeof here)) exit(1);
	snprintf(good, sizeof good, "#!%s/bin/listed hello\n#%*s", here, 40, "");
	snprintf(bad, sizeof bad, "#!%s/bin/unlisted hello\n#%*s", here, 38, "");
	if (rewrite("script", good) < 0) note("script: %m");
	chmod("script", 0755);
	char *first[] = {"script", 0};
	pid_t once = fork();
	if (!once) { execve("script", first, empty); _exit(1); }
	reap(once);
	pid_t other = fork();
	if (!other) {
		int fd = open("script", O_WRONLY);
		for (unsigned i = 0; fd >= 0; i++) {
			const char *text = i & 1 ? bad : good;
			if (pwrite(fd, text, strlen(text), 0) < 0 && errno == ETXTBSY) continue;
			spin(i % 97 * 200);
		}
		_exit(0);
	}
	for (long n = ROUNDS(25); n > 0; n--) {
		pid_t pid = fork();
		if (!pid) {
			char *args[] = {"script", 0};
			for (int i = 0; i < 10; i++) execve("script", args, empty);
			_exit(1);
		}
		reap(pid);
	}
	kill(other, SIGKILL);
	reap(other);
	// Without a race: an interpreter that is not listed, of several kinds.
	const char *lines[] = {
		"#!/bin/sh\necho LEAK shell ran from a script\n",
		"#! /usr/bin/env sh\necho LEAK env ran a shell\n",
		"#!bin/unlisted\n",
		"#!src/nested\n",
	};
	rewrite("src/nested", bad);
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		rewrite("script", lines[i]);
		if (!(other = fork())) {
			char *args[] = {"script", 0};
			execve("script", args, empty);
			_exit(1);
		}
		reap(other);
	}
}

static void *starts(void *at) {
	char **args = at;
	execve(args[3], args, empty);
	syscall(SYS_exit, 0);
	return 0;
}

static int child(void *at) {
	char **args = at;
	execve(args[3], args, empty);
	_exit(1);
}

static long int80(long number, uint32_t a, uint32_t b, uint32_t c) {
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static int copied(const char *from) {
	int memory = memfd_create("listed", 0), file = open(from, O_RDONLY);
	struct stat st;
	if (memory < 0 || file < 0 || fstat(file, &st)) return -1;
	sendfile(memory, file, 0, st.st_size);
	close(file);
	return memory;
}

// ways: every way to start, first the listed, then what is not.
static void ways(int argc, char **argv) {
	static char *good[] = {"listed", "hello", 0, "bin/listed"};
	static char *words[] = {"listed", "evil", 0, "bin/listed"};
	static char *other[] = {"listed", "hello", 0, "bin/unlisted"};
	static char *none[] = {0, 0, 0, "bin/listed"};
	static char *lower[] = {"listed", "Hello", 0, "bin/listed"};
	static char *gap[] = {"listed", "", "hello", "bin/listed"};
	char **sets[] = {good, words, other, none, lower, gap};
	char *stack = mmap(0, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		char **args = sets[i];
		char *argv4[4] = {args[0], args[1], i == 5 ? 0 : args[2], 0};
		if (i == 5) argv4[2] = 0;
		pid_t pid;
		if (!(pid = fork())) { execve(args[3], argv4, empty); _exit(1); }
		reap(pid);
		if (!(pid = vfork())) { execve(args[3], argv4, empty); _exit(1); }
		reap(pid);
		if (!posix_spawn(&pid, args[3], 0, 0, argv4, empty)) reap(pid);
		if (!(pid = fork())) {
			pthread_t thread;
			char *five[4] = {args[0], args[1], 0, args[3]};
			pthread_create(&thread, 0, starts, five);
			pthread_join(thread, 0);
			_exit(1);
		}
		reap(pid);
		{
			char *five[4] = {args[0], args[1], 0, args[3]};
			pid = clone(child, stack + (1 << 17), CLONE_VM | CLONE_VFORK | SIGCHLD, five);
			reap(pid);
			pid = clone(child, stack + (1 << 17), CLONE_FILES | CLONE_FS | SIGCHLD, five);
			reap(pid);
		}
		if (!(pid = fork())) {
			int fd = open(args[3], O_PATH);
			syscall(SYS_execveat, fd, "", argv4, empty, AT_EMPTY_PATH);
			char name[64];
			snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
			execve(name, argv4, empty);
			snprintf(name, sizeof name, "/dev/fd/%d", fd);
			execve(name, argv4, empty);
			fd = open("bin", O_PATH);
			syscall(SYS_execveat, fd, args[3] + 4, argv4, empty, 0);
			_exit(1);
		}
		reap(pid);
		if (!(pid = fork())) {
			int fd = copied(args[3]);
			if (i) fexecve(fd, argv4, empty);
			_exit(1);
		}
		reap(pid);
		if (i && !(pid = fork())) {
			syscall(0x40000000 | 520, args[3], argv4, empty);
			if (low != MAP_FAILED) {
				// 32-bit execve: path, argv and envp below 4 GiB.
				uint32_t *words32 = (uint32_t *)(low + 256);
				strcpy(low, args[3]);
				strcpy(low + 64, args[0] ? args[0] : "");
				strcpy(low + 128, args[1] ? args[1] : "");
				words32[0] = (uint32_t)(uintptr_t)(low + 64);
				words32[1] = (uint32_t)(uintptr_t)(low + 128);
				words32[2] = 0;
				words32[3] = 0;
				int80(11, (uint32_t)(uintptr_t)low, (uint32_t)(uintptr_t)words32, (uint32_t)(uintptr_t)(words32 + 3));
			}
			_exit(1);
		}
		if (i) reap(pid);
	}
	// The loader, copies and links of what is not listed, under listed names.
	const char *loader = "/lib64/ld-linux-x86-64.so.2";
	char *load[] = {"listed", "bin/unlisted", "hello", 0}, *hello[] = {"listed", "hello", 0};
	pid_t pid;
	if (!(pid = fork())) { execve(loader, load, empty); _exit(1); }
	reap(pid);
	if (symlink("../bin/unlisted", "src/listed")) note("symlink: %m");
	if (!(pid = fork())) { execve("src/listed", hello, empty); chdir("src"); execve("listed", hello, empty); execvp("listed", hello); _exit(1); }
	reap(pid);
	unlink("src/listed");
	int from = open(unlisted, O_RDONLY), to = open("src/listed", O_WRONLY | O_CREAT, 0755);
	struct stat st;
	fstat(from, &st);
	sendfile(to, from, 0, st.st_size);
	close(to);
	if (!(pid = fork())) { execve("src/listed", hello, empty); chdir("src"); setenv("PATH", ".", 1); execvp("listed", hello); _exit(1); }
	reap(pid);
	char *shell[] = {"sh", "-c", "echo LEAK a shell ran", 0}, *env[] = {"env", "sh", "-c", "echo LEAK env ran", 0};
	if (!(pid = fork())) { execve("/bin/sh", shell, empty); execve("/usr/bin/env", env, empty); _exit(1); }
	reap(pid);
	if (system("echo LEAK system ran") < 0) note("system: %m");
	FILE *p = popen("echo LEAK popen ran", "w");
	if (p) pclose(p);
}

// variables: what the listed program may see, and what a loader would obey.
static void variables(int argc, char **argv) {
	char *hello[] = {"listed", "hello", 0};
	char *lists[][5] = {
		{"FOO=1", 0},
		{"BAR=1", 0},
		{"FOO=1", "BAR=2", 0},
		{"LD_PRELOAD=./bin/evil.so", 0},
		{"FOO=1", "LD_AUDIT=./bin/evil.so", 0},
		{"LD_LIBRARY_PATH=./bin", 0},
		{"GLIBC_TUNABLES=glibc.malloc.check=1", 0},
		{"foo=1", "FOO", "FOOD=1", 0},
		{"=FOO=1", "", " FOO=1", 0},
		{"FOO=1", "FOO\nBAR=3", "FOO\x01=3", 0},
		{"HOME=/", "PATH=.", "IFS=x", "BASH_ENV=./bin/evil.sh", 0},
	};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		pid_t pid = fork();
		if (!pid) { execve(listed, hello, lists[i]); _exit(1); }
		reap(pid);
		if (!(pid = vfork())) { execve(listed, hello, lists[i]); _exit(1); }
		reap(pid);
	}
	// Very many, and one very long.
	char **many = calloc(40001, sizeof *many);
	for (int i = 0; i < 40000; i++) many[i] = i == 39999 ? "BAR=late" : "FOO=1";
	pid_t pid = fork();
	if (!pid) { execve(listed, hello, many); _exit(1); }
	reap(pid);
	char *longer = malloc(131000);
	memset(longer, 'x', 130999);
	longer[130999] = 0;
	memcpy(longer, "BAR=", 4);
	char *one[] = {longer, 0};
	if (!(pid = fork())) { execve(listed, hello, one); _exit(1); }
	reap(pid);
	// Without an argument vector, and with one that cannot be read.
	if (!(pid = fork())) { syscall(SYS_execve, listed, 0, 0); _exit(1); }
	reap(pid);
	if (!(pid = fork())) { syscall(SYS_execve, listed, 8, 16); _exit(1); }
	reap(pid);
	personality(0x0400000);
	personality(0x0040000 | 0x0400000 | 0x0200000);
}

// traced: a tracer that changes what execve was called with.
static void traced(int argc, char **argv) {
	char *hello[] = {"listed", "hello", 0};
	pid_t first = fork();
	if (!first) { execve(listed, hello, empty); _exit(1); }
	reap(first);
	for (int round = 0; round < 40; round++) {
		struct shared *s = share(-1);
		pid_t pid = fork();
		if (!pid) {
			if (ptrace(PTRACE_TRACEME, 0, 0, 0)) _exit(77);
			raise(SIGSTOP);
			execve(s->path, s->argv, s->envp);
			_exit(1);
		}
		int status, stops = 0;
		if (waitpid(pid, &status, 0) < 0) break;
		if (!WIFSTOPPED(status)) { note("tracing is refused"); break; }
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP);
		while (1) {
			if (ptrace(round & 1 ? PTRACE_CONT : PTRACE_SYSCALL, pid, 0, 0) < 0) break;
			if (round % 4 > 1) spin(round * 7919 % 200000);
			flip(s, "word", 1);
			if (round % 4 > 1) { spin(round * 4409 % 100000); ptrace(PTRACE_POKEDATA, pid, s->word, 0x736c697665L); }
			if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status)) break;
			if (++stops > 200) break;
		}
		kill(pid, SIGKILL);
		reap(pid);
		munmap(s, 65536);
	}
}

// line: LINE VARIABLE: a listed script with this first line. It starts what it
// names; without a place of its own the path is made absolute.
static void line(int argc, char **argv) {
	char text[600], here[256];
	if (!getcwd(here, sizeof here)) return;
	const char *rest = argv[0] + 2;
	snprintf(text, sizeof text, *rest == '/' ? "#!%s\n" : "#!%s/%s\n", *rest == '/' ? rest : here, rest);
	// The listed program itself works.
	char *hello[] = {"listed", "hello", 0}, *script[] = {"script", 0};
	pid_t pid = fork();
	if (!pid) { execve(listed, hello, empty); _exit(1); }
	reap(pid);
	if (rewrite("script", text) < 0) note("script: %m");
	if (!(pid = fork())) { execve("script", script, argv + 1); note("%s: %m", text); _exit(1); }
	reap(pid);
}

MAIN({"race", race}, {"pending", pending}, {"descriptors", descriptors}, {"links", links},
	{"scripts", scripts}, {"ways", ways}, {"variables", variables}, {"traced", traced}, {"line", line})
