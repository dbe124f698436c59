/* The bare cost of a system call that another process answers: a child opens and closes a file
 * TIMES times, and each open is trapped and answered by this process, which judges nothing. HOW
 * is "continue", where the child's kernel carries the call out, or "open", where this process
 * opens the same file and hands it over.
 *
 *	notify FILE TIMES HOW
 *
 * It prints the median of an open and close in nanoseconds.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1
#endif

static void check(int ok, const char *what) {
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int order(const void *a, const void *b) {
	long x = *(const long *)a, y = *(const long *)b;
	return x < y ? -1 : x > y;
}

static void opens(const char *file, int times) {
	long *took = malloc(times * sizeof *took);
	for (int i = 0; i < times; i++) {
		long start = now();
		int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0);
		check(fd >= 0, file);
		close(fd);
		took[i] = now() - start;
	}
	qsort(took, times, sizeof *took, order);
	printf("%ld\n", took[times / 2]);
	fflush(stdout);
	_exit(0);
}

static int filtered(void) {
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = 4, .filter = filter};
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

static void pass(int socket, int fd) {
	char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	check(sendmsg(socket, &m, 0) == 1, "sendmsg");
}

static int passed(int socket) {
	int fd;
	char byte, control[CMSG_SPACE(sizeof fd)];
	struct iovec part = {&byte, 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	check(recvmsg(socket, &m, 0) == 1, "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
	return fd;
}

static void answer(int listener, const char *file, int hands) {
	for (;;) {
		struct seccomp_notif call = {0};
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
			if (errno == EINTR)
				continue;
			return; /* the child has ended */
		}
		if (hands) {
			int fd = open(file, O_RDONLY | O_CLOEXEC);
			struct seccomp_notif_addfd add = {
				.id = call.id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = fd, .newfd_flags = O_CLOEXEC};
			ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
			close(fd);
			continue;
		}
		struct seccomp_notif_resp resp = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
}

int main(int argc, char **argv) {
	int pair[2];
	check(argc == 4, "usage");
	check(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "socketpair");
	pid_t child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		int listener = filtered();
		check(listener >= 0, "seccomp");
		pass(pair[1], listener);
		close(listener);
		opens(argv[1], atoi(argv[2]));
	}
	close(pair[1]);
	int listener = passed(pair[0]);
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	answer(listener, argv[1], strcmp(argv[3], "open") == 0);
	waitpid(child, NULL, 0);
	return 0;
}
