// Reaches for sockets that the policy does not grant.
#include "proc.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

static struct sockaddr_in at(const char *host, int port) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

static socklen_t path(struct sockaddr_un *a, const char *name) {
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	strncpy(a->sun_path, name, sizeof a->sun_path - 1);
	if (*name == '@') {
		a->sun_path[0] = 0;
		return sizeof(sa_family_t) + strlen(name);
	}
	return sizeof *a;
}

// families: no socket of any family that leaves the run, by any call.
static void families(int argc, char **argv) {
	for (int family = 2; family < 47; family++)
		for (int type = 1; type < 11; type++) {
			static const int protocols[] = {0, 1, 6, 17, 58, 132, 255, 262};
			for (size_t p = 0; p < sizeof protocols / sizeof *protocols; p++) {
				int fd = socket(family, type, protocols[p]);
				if (fd >= 0) { if (!stands_in(fd)) leak("socket of family %d, type %d, protocol %d", family, type, protocols[p]); close(fd); }
				fd = syscall(SYS_socket, 0x100000000L | family, type | SOCK_CLOEXEC, protocols[p]);
				if (fd >= 0) { if (!stands_in(fd)) leak("socket of family %d with high bits", family); close(fd); }
				int pair[2];
				if (!socketpair(family, type, protocols[p], pair)) { leak("socketpair of family %d", family); close(pair[0]); close(pair[1]); }
			}
		}
	int pair[2];
	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) control("socketpair");
}

// paths: DGRAM STREAM ABSTRACT ABSTRACT-DGRAM: sockets of the host, from pairs
// and from sockets of its own.
static void paths(int argc, char **argv) {
	struct sockaddr_un a;
	for (int i = 0; i < argc; i++) {
		static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
		const char *names[3] = {argv[i], "src/way", 0};
		if (*argv[i] != '@') { unlink("src/way"); if (symlink(argv[i], "src/way")) {} }
		else names[1] = 0;
		for (int n = 0; names[n]; n++)
			for (int t = 0; t < 3; t++) {
				socklen_t size = path(&a, names[n]);
				int fd = socket(AF_UNIX, types[t], 0);
				if (fd >= 0 && !connect(fd, (void *)&a, size)) leak("connected to %s", names[n]);
				if (fd >= 0 && sendto(fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (void *)&a, size) > 0) leak("sent to %s", names[n]);
				if (fd >= 0) close(fd);
				int pair[2];
				if (socketpair(AF_UNIX, types[t], 0, pair)) continue;
				struct iovec text = {"x", 1};
				struct msghdr message = {&a, size, &text, 1};
				struct mmsghdr messages[2] = {{message}, {message}};
				if (types[t] == SOCK_DGRAM) {
					if (sendto(pair[0], "x", 1, MSG_DONTWAIT, (void *)&a, size) > 0) leak("sendto %s from a pair", names[n]);
					if (sendmsg(pair[0], &message, MSG_DONTWAIT) > 0) leak("sendmsg to %s from a pair", names[n]);
					if (sendmmsg(pair[0], messages, 2, MSG_DONTWAIT) > 0) leak("sendmmsg to %s from a pair", names[n]);
				}
				if (!connect(pair[0], (void *)&a, size)) leak("connected a pair to %s", names[n]);
				struct sockaddr none = {AF_UNSPEC};
				connect(pair[1], &none, sizeof none);
				if (!connect(pair[1], (void *)&a, size)) leak("connected a pair again to %s", names[n]);
				struct sockaddr_un own;
				socklen_t own_size = path(&own, "@proc-left-behind");
				if (!bind(pair[0], (void *)&own, own_size)) note("bound a pair to an abstract name");
				close(pair[0]);
				close(pair[1]);
			}
	}
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t size = path(&a, "src/own");
	unlink("src/own");
	if (fd >= 0 && !bind(fd, (void *)&a, size) && !listen(fd, 1)) {
		int other = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!connect(other, (void *)&a, size)) control("a unix socket of its own");
		else note("own socket: %m");
	} else note("own: %m");
	control("paths");
}

// inherited: OTHER: descriptor 0 is a connected TCP socket.
static void inherited(int argc, char **argv) {
	int port = atoi(argv[0]);
	struct sockaddr_in other = at("127.0.0.1", port);
	if (write(0, "x", 1) == 1) control("the socket that was open before");
	for (int fd = 3; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0) leak("descriptor %d is open", fd);
	struct sockaddr none = {AF_UNSPEC};
	if (!connect(0, &none, sizeof none)) note("disconnected");
	if (!connect(0, (void *)&other, sizeof other)) leak("connected what it inherited elsewhere");
	if (sendto(0, "x", 1, 0x20000000 | MSG_NOSIGNAL, (void *)&other, sizeof other) > 0) leak("MSG_FASTOPEN by what it inherited");
	struct iovec text = {"x", 1};
	struct msghdr message = {&other, sizeof other, &text, 1};
	struct mmsghdr messages = {message};
	if (sendmsg(0, &message, 0x20000000 | MSG_NOSIGNAL) > 0) leak("sendmsg with MSG_FASTOPEN");
	if (sendmmsg(0, &messages, 1, 0x20000000 | MSG_NOSIGNAL) > 0) leak("sendmmsg with MSG_FASTOPEN");
	int one = 1;
	setsockopt(0, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
	if (!connect(0, (void *)&other, sizeof other)) leak("connected with TCP_FASTOPEN_CONNECT");
	if (!listen(0, 5)) {
		struct sockaddr_in here;
		socklen_t size = sizeof here;
		getsockname(0, (void *)&here, &size);
		leak("listens on port %d", ntohs(here.sin_port));
	}
}

struct target {
	volatile struct sockaddr_in a;
	int good, bad;
	volatile int stop;
	int fds[3];
};

static void *flipper(void *x) {
	struct target *t = x;
	for (unsigned i = 0; !t->stop; i++) {
		t->a.sin_port = htons(i & 1 ? t->bad : t->good);
		for (volatile int spin = i % 400; spin > 0; spin--) {}
	}
	return 0;
}

static int reached(int fd, int port) {
	struct sockaddr_in peer;
	socklen_t size = sizeof peer;
	return !getpeername(fd, (void *)&peer, &size) && ntohs(peer.sin_port) == port;
}

// granted: GOOD BAD: 127.0.0.1:GOOD is granted, 127.0.0.1:BAD is not.
static void granted(int argc, char **argv) {
	int good = atoi(argv[0]), bad = atoi(argv[1]);
	struct sockaddr_in fine = at("127.0.0.1", good);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd >= 0 && !connect(fd, (void *)&fine, sizeof fine)) control("connect");
	else note("connect: %m");
	close(fd);
	static const char *hosts[] = {"127.0.0.1", "0.0.0.0", "127.0.0.2", "127.1.2.3"};
	for (int h = 0; h < 4; h++) {
		for (int which = h ? 0 : 1; which < 2; which++) {
			struct sockaddr_in other = at(hosts[h], which ? bad : good);
			if (h == 1 && !which) continue;
			int types[] = {0, 6, 262, 132};
			for (int p = 0; p < 4; p++) {
				fd = socket(AF_INET, SOCK_STREAM, types[p]);
				if (fd < 0) continue;
				if (!connect(fd, (void *)&other, sizeof other)) leak("connected to %s:%d, protocol %d", hosts[h], ntohs(other.sin_port), types[p]);
				close(fd);
				fd = socket(AF_INET, SOCK_STREAM, types[p]);
				if (sendto(fd, "x", 1, 0x20000000 | MSG_NOSIGNAL, (void *)&other, sizeof other) > 0) leak("MSG_FASTOPEN to %s", hosts[h]);
				int one = 1;
				setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
				if (!connect(fd, (void *)&other, sizeof other) && write(fd, "x", 1) == 1) leak("TCP_FASTOPEN_CONNECT to %s", hosts[h]);
				close(fd);
			}
			for (int type = 2; type < 7; type++) {
				fd = socket(AF_INET, type, type == SOCK_RAW ? 255 : 0);
				if (fd < 0) continue;
				if (sendto(fd, "x", 1, MSG_DONTWAIT, (void *)&other, sizeof other) > 0) leak("datagram to %s:%d", hosts[h], ntohs(other.sin_port));
				close(fd);
			}
			struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = other.sin_port};
			six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xff;
			memcpy(six.sin6_addr.s6_addr + 12, &other.sin_addr, 4);
			fd = socket(AF_INET6, SOCK_STREAM, 0);
			if (fd >= 0 && !connect(fd, (void *)&six, sizeof six)) leak("connected by a mapped address to %s:%d", hosts[h], ntohs(other.sin_port));
			close(fd);
		}
	}
	// Connected to what is granted, then elsewhere.
	struct sockaddr_in elsewhere = at("127.0.0.1", bad);
	struct sockaddr none = {AF_UNSPEC};
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (!connect(fd, (void *)&fine, sizeof fine)) {
		connect(fd, &none, sizeof none);
		if (!connect(fd, (void *)&elsewhere, sizeof elsewhere)) leak("connected again elsewhere");
		if (sendto(fd, "x", 1, 0x20000000 | MSG_NOSIGNAL, (void *)&elsewhere, sizeof elsewhere) > 0) leak("MSG_FASTOPEN elsewhere");
	}
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd >= 0 && !listen(fd, 4)) leak("listens without a bind");
	close(fd);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in any = at("0.0.0.0", 0);
	if (fd >= 0 && !bind(fd, (void *)&any, sizeof any) && !listen(fd, 4)) leak("listens after a bind");
	close(fd);
	// Addresses that change while the call is judged.
	static struct target t;
	t.a = at("127.0.0.1", good);
	t.good = good;
	t.bad = bad;
	pthread_t thread;
	pthread_create(&thread, 0, flipper, &t);
	int n = 0;
	for (long rounds = ROUNDS(500); rounds > 0 || !n; rounds--) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, (void *)&t.a, sizeof t.a)) n++;
		if (reached(fd, bad)) leak("a race reached the other port");
		close(fd);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (sendto(fd, "x", 1, 0x20000000 | MSG_NOSIGNAL, (void *)&t.a, sizeof t.a) > 0 && reached(fd, bad)) leak("a race with MSG_FASTOPEN");
		close(fd);
	}
	t.stop = 1;
	pthread_join(thread, 0);
	if (n) control("connect in a race");
}

// flood: the peer never answers; others are still judged.
static long tried;
static void *waits(void *x) {
	struct sockaddr_in a = at("127.0.0.1", *(int *)x);
	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		__atomic_add_fetch(&tried, 1, 0);
		if (fd < 0) { sched_yield(); continue; }
		connect(fd, (void *)&a, sizeof a);
	}
}

static void flood(int argc, char **argv) {
	int good = atoi(argv[0]), bad = atoi(argv[1]);
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		if (pthread_create(&thread, 0, waits, &good)) break;
	}
	while (__atomic_load_n(&tried, 0) < ROUNDS(500)) sched_yield();
	struct sockaddr_in other = at("127.0.0.1", bad);
	pid_t pid = fork();
	if (!pid) {
		for (int i = 3; i < 1024; i++) close(i);
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (fd >= 0 && !connect(fd, (void *)&other, sizeof other)) leak("connected under load");
		int file = open("src/fine", O_RDWR | O_CREAT, 0600);
		if (file >= 0) control("files while connections wait");
		_exit(0);
	}
	waitpid(pid, 0, 0);
	_exit(0);
}

MAIN({"families", families}, {"paths", paths}, {"inherited", inherited}, {"granted", granted}, {"flood", flood})
