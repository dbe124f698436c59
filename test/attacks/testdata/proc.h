// Shared by the hostile programs: a line that begins with LEAK is a broken
// promise, one that begins with CONTROL something granted that worked.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *kind, const char *format, va_list list) {
	char line[2048];
	int at = snprintf(line, sizeof line, "%s ", kind);
	at += vsnprintf(line + at, sizeof line - at - 1, format, list);
	if (at > (int)sizeof line - 2) at = sizeof line - 2;
	line[at++] = '\n';
	if (write(1, line, at) < 0) _exit(99);
}
#define SAYS(name, kind)                                   \
	__attribute__((unused, format(printf, 1, 2)))      \
	static void name(const char *format, ...) {        \
		va_list list;                              \
		va_start(list, format);                    \
		say(kind, format, list);                   \
		va_end(list);                              \
	}
SAYS(leak, "LEAK")
SAYS(control, "CONTROL")
SAYS(note, "NOTE")

// ROUNDS are those of a race: their number and not a time, so that a busy machine has as many. SCALE is 1 in the gate.
#ifndef SCALE
#define SCALE 1
#endif
#define ROUNDS(n) ((long)(n) * SCALE)

// spin lets another process or thread go on for about as long as it says.
__attribute__((unused)) static void spin(unsigned steps) {
	for (volatile unsigned n = steps; n > 0; n--) {}
}

// idle reports whether a thread or process, by its file stat in /proc (proc_pid_stat(5)), waits in a call, has ended or is gone.
__attribute__((unused)) static int idle(const char *stat) {
	char line[300];
	int fd = open(stat, O_RDONLY), size = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
	close(fd);
	line[size > 0 ? size : 0] = 0;
	char *at = strrchr(line, ')');
	return !at || at[2] != 'R';
}

// waiting counts the threads of this process that wait in a call.
__attribute__((unused)) static int waiting(void) {
	char name[300];
	int n = 0;
	DIR *list = opendir("/proc/self/task");
	for (struct dirent *e; list && (e = readdir(list));) {
		if (*e->d_name == '.') continue;
		snprintf(name, sizeof name, "/proc/self/task/%s/stat", e->d_name);
		n += idle(name);
	}
	if (list) closedir(list);
	return n;
}

// nap is the pace of a process that goes on until it is ended.
__attribute__((unused)) static void nap(int milliseconds) {
	struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
	nanosleep(&t, 0);
}

// stands_in reports whether a socket is one of accessc's in place of one of the internet, for refusals that name the host.
__attribute__((unused)) static int stands_in(int fd) {
	int domain = -1;
	socklen_t n = sizeof domain;
	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) && domain == AF_UNIX;
}

struct scene {
	const char *name;
	void (*run)(int argc, char **argv);
};

#define MAIN(...)                                                         \
	int main(int argc, char **argv) {                                 \
		struct scene scenes[] = {__VA_ARGS__};                    \
		setvbuf(stdout, 0, _IONBF, 0);                            \
		for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) \
			if (argc > 1 && !strcmp(argv[1], scenes[i].name)) { \
				scenes[i].run(argc - 2, argv + 2);        \
				return 0;                                 \
			}                                                 \
		fprintf(stderr, "no such scene\n");                       \
		return 2;                                                 \
	}
