// A program that makes its system calls itself: it asks the name server by a message of its own
// making, over UDP with or without a connection or over TCP, and connects to the answer. Answers
// of other senders are dropped, as musl does by recvmsg and before 1.2.4 by recvfrom, and a socket
// must tell its own address, as c-ares wants it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// call makes a system call and returns its negative error.
static long call(long n, long a, long b, long c, long d, long e, long f) {
    long r = syscall(n, a, b, c, d, e, f);
    return r < 0 ? -errno : r;
}

static struct sockaddr_in at(unsigned addr, int port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = addr};
}

// question writes a DNS message that asks for the A record of a name.
static int question(unsigned char *b, const char *name) {
    static const unsigned char head[12] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    memcpy(b, head, 12);
    int n = 12;
    while (*name) {
        int len = strcspn(name, ".");
        b[n++] = len;
        memcpy(b + n, name, len);
        n += len;
        name += len + (name[len] == '.');
    }
    memcpy(b + n, "\0\0\1\0\1", 5);
    return n + 5;
}

static void fail(const char *what, long e) {
    printf("%s: %s\n", what, strerror(-e));
    exit(1);
}

// own fails unless a socket has an address of its family.
static void own(long s) {
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    long e = call(SYS_getsockname, s, (long)&a, (long)&len, 0, 0, 0);
    if (e < 0) fail("getsockname", e);
    if (a.sin_family != AF_INET || len != sizeof a) fail("getsockname", -EAFNOSUPPORT);
}

// from returns the length of a message, if it came from a server.
static int from(const char *how, long s, unsigned char *b, struct sockaddr_in *server) {
    struct sockaddr_in sender = {0};
    socklen_t len = sizeof sender;
    struct iovec v = {b, 512};
    struct msghdr m = {&sender, sizeof sender, &v, 1};
    long e = strcmp(how, "recvmsg") ? call(SYS_recvfrom, s, (long)b, 512, 0, (long)&sender, (long)&len)
                                    : call(SYS_recvmsg, s, (long)&m, 0, 0, 0, 0);
    return e < 0 || !memcmp(&sender, server, 8) ? e : -EHOSTUNREACH;
}

// ask returns the length of the answer.
static int ask(const char *how, unsigned char *b, int n) {
    struct sockaddr_in server = at(inet_addr("203.0.113.53"), 53);
    int tcp = !strcmp(how, "tcp");
    long s = call(SYS_socket, AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0, 0, 0, 0), e;
    if (s < 0) fail("socket", s);
    if (tcp || !strcmp(how, "connect")) {
        if ((e = call(SYS_connect, s, (long)&server, sizeof server, 0, 0, 0)) < 0) fail("connect to the name server", e);
    }
    if (tcp) {
        memmove(b + 2, b, n);
        b[0] = n >> 8;
        b[1] = n;
        if ((e = call(SYS_write, s, (long)b, n + 2, 0, 0, 0)) < 0) fail("write", e);
        if ((e = call(SYS_read, s, (long)b, 512, 0, 0, 0)) < 3) fail("read", e);
        memmove(b, b + 2, e - 2);
        e -= 2;
    } else if (strcmp(how, "connect")) {
        struct sockaddr_in any = at(0, 0);
        if ((e = call(SYS_bind, s, (long)&any, sizeof any, 0, 0, 0)) < 0) fail("bind", e);
        if ((e = call(SYS_sendto, s, (long)b, n, 0, (long)&server, sizeof server)) < 0) fail("sendto", e);
        own(s);
        e = from(how, s, b, &server);
    } else {
        own(s);
        if ((e = call(SYS_write, s, (long)b, n, 0, 0, 0)) < 0) fail("write", e);
        e = call(SYS_read, s, (long)b, 512, 0, 0, 0);
    }
    if (e < 0) fail("answer", e);
    call(SYS_close, s, 0, 0, 0, 0, 0);
    return e;
}

int main(int argc, char **argv) {
    unsigned char b[1024] = {0};
    int n = question(b, argv[1]), end = ask(argv[3], b, n);
    if ((b[3] & 15) != 0 || b[7] == 0) {
        printf("%s: answer code %d with %d records\n", argv[1], b[3] & 15, b[7]);
        return 1;
    }
    unsigned addr;
    memcpy(&addr, b + end - 4, 4); // the answer is the last record
    struct sockaddr_in to = at(addr, atoi(argv[2]));
    long s = call(SYS_socket, AF_INET, SOCK_STREAM, 0, 0, 0, 0), e;
    if ((e = call(SYS_connect, s, (long)&to, sizeof to, 0, 0, 0)) < 0) fail("connect", e);
    if ((e = call(SYS_write, s, (long)"word\n", 5, 0, 0, 0)) < 0) fail("write", e);
    if ((e = call(SYS_read, s, (long)b, 100, 0, 0, 0)) <= 0) fail("read", e);
    b[e] = 0;
    printf("%s", b);
    return 0;
}
