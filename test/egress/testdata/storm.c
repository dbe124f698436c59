// Makes random connections by every kind of socket and call: storm SEED COUNT. Targets are read
// from standard input: "name NAME", "addr ADDRESS" and "port PORT" lines. Some addresses are
// granted and some are not; the test looks at the network for what was sent.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 64
#define WORKERS 8
static char names[MANY][64];
static struct in6_addr addrs[MANY]; // IPv4 as mapped ones
static int ports[MANY], nnames, naddrs, nports;
static uint64_t state;
static struct {
    long answered, connected, sent;
} *sum; // of all processes

static unsigned pick(unsigned n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (state >> 11) % n;
}

// often is the first of a list more often than the others, so that granted targets come about.
static unsigned often(unsigned n) { return pick(4) ? pick(n) : 0; }

static int in4(const struct in6_addr *a) { return IN6_IS_ADDR_V4MAPPED(a); }

// ask asks the name server for a name and returns whether there is an address.
static int ask(const char *name, int v6, struct in6_addr *out) {
    unsigned char b[512] = {0x12, 0x34, 1, 0, 0, 1};
    int n = 12, s = socket(AF_INET, SOCK_DGRAM, 0);
    for (const char *p = name; *p;) {
        int len = strcspn(p, ".");
        b[n++] = len;
        memcpy(b + n, p, len);
        n += len;
        p += len + (p[len] == '.');
    }
    b[n + 2] = v6 ? 28 : 1;
    b[n + 4] = 1;
    n += 5;
    struct sockaddr_in to = {AF_INET, htons(53), {inet_addr("203.0.113.53")}};
    int r = pick(2) ? sendto(s, b, n, 0, (void *)&to, sizeof to) : connect(s, (void *)&to, sizeof to) ? -1 : write(s, b, n);
    struct pollfd p = {s, POLLIN};
    int got = r == n && poll(&p, 1, 3000) == 1 ? recv(s, b, sizeof b, 0) : -1;
    close(s);
    if (got < n || (b[3] & 15) || !b[7]) return 0;
    memset(out, 0, sizeof *out);
    if (v6) {
        memcpy(out, b + got - 16, 16);
    } else {
        out->s6_addr[10] = out->s6_addr[11] = 0xff;
        memcpy(out->s6_addr + 12, b + got - 4, 4);
    }
    return 1;
}

// target fills an address in one of its spellings and returns its length.
static socklen_t target(struct sockaddr_storage *to, int family, const struct in6_addr *a, int port) {
    memset(to, 0, sizeof *to);
    if (family == AF_INET) {
        struct sockaddr_in *s = (void *)to;
        s->sin_family = AF_INET;
        s->sin_port = htons(port);
        memcpy(&s->sin_addr, a->s6_addr + 12, 4);
        if (pick(8) == 0) memset(s->sin_zero, 0xff, 8);
        return sizeof *s;
    }
    struct sockaddr_in6 *s = (void *)to;
    s->sin6_family = AF_INET6;
    s->sin6_port = htons(port);
    s->sin6_addr = *a;
    if (in4(a)) {
        static const unsigned char nat[12] = {0, 0x64, 0xff, 0x9b}, six[2] = {0x20, 0x02};
        switch (pick(6)) {
        case 0: // compatible
            s->sin6_addr.s6_addr[10] = s->sin6_addr.s6_addr[11] = 0;
            break;
        case 1: // translated
            memcpy(s->sin6_addr.s6_addr, nat, 12);
            break;
        case 2: // 6to4
            memcpy(s->sin6_addr.s6_addr, six, 2);
            memcpy(s->sin6_addr.s6_addr + 2, a->s6_addr + 12, 4);
            memset(s->sin6_addr.s6_addr + 6, 0, 10);
        }
    }
    if (pick(6) == 0) s->sin6_scope_id = pick(3);
    if (pick(6) == 0) s->sin6_flowinfo = pick(1 << 20);
    return sizeof *s;
}

static int newsocket(int *family) {
    static const int protocols[] = {0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_MPTCP, IPPROTO_SCTP, IPPROTO_UDPLITE, IPPROTO_ICMP, IPPROTO_RAW, 58, 33};
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM, SOCK_DCCP};
    *family = pick(2) ? AF_INET : AF_INET6;
    if (pick(3)) return socket(*family, SOCK_STREAM | (pick(2) ? SOCK_NONBLOCK : 0), 0);
    int f = pick(20) ? *family : pick(46);
    return socket(f, types[pick(6)] | (pick(2) ? SOCK_NONBLOCK : 0), protocols[pick(10)]);
}

static struct {
    volatile int on, busy;
    int how, socket, kept, second;
    struct sockaddr_storage to, other;
    socklen_t len;
} race;

// interfere does to a call what another thread can while it runs: it rewrites its address, puts
// another socket in the place of its own, or connects the same socket elsewhere.
static void interfere(void) {
    struct sockaddr_storage was = race.to;
    for (int i = 0; race.on; i++) {
        switch (race.how) {
        case 0: connect(race.socket, (void *)&race.other, race.len); break;
        case 1: dup2(i & 1 ? race.kept : race.second, race.socket); break;
        default: memcpy(&race.to, i & 1 ? &was : &race.other, sizeof was);
        }
    }
}

static void *other(void *unused) {
    for (;;) {
        race.busy = 1;
        __sync_synchronize();
        if (race.on) interfere();
        race.busy = 0;
        sched_yield();
    }
    return 0;
}

// begin lets the other thread interfere with calls on a socket.
static void begin(int s) {
    int family;
    race.how = pick(5);
    race.socket = s;
    race.kept = dup(s);
    race.second = newsocket(&family);
    race.on = 1;
}

static void end(void) {
    race.on = 0;
    __sync_synchronize();
    while (race.busy) sched_yield();
    dup2(race.kept, race.socket);
    close(race.kept);
    close(race.second);
}

// detour asks the kernel to send a socket's packets by way of another address (RFC 791, RFC 6275).
static void detour(int s, const struct in6_addr *by) {
    unsigned char o4[8] = {pick(2) ? 131 : 137, 7, 4, 0, 0, 0, 0, 0};
    memcpy(o4 + 3, by->s6_addr + 12, 4);
    setsockopt(s, IPPROTO_IP, IP_OPTIONS, o4, sizeof o4);
    unsigned char o6[24] = {0, 2, 2, 1};
    memcpy(o6 + 8, by, 16);
    setsockopt(s, IPPROTO_IPV6, IPV6_RTHDR, o6, sizeof o6);
}

// talk counts a connection and sends a line.
static void talk(int s) {
    struct pollfd p = {s, POLLOUT};
    int e = 0;
    socklen_t n = sizeof e;
    if (poll(&p, 1, 100) != 1 || getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n) || e) return;
    __sync_fetch_and_add(&sum->connected, 1);
    if (pick(2)) return;
    static const char line[] = "GET / HTTP/1.0\r\nHost: a.example.test\r\n\r\n";
    send(s, line, sizeof line - 1, MSG_NOSIGNAL);
    char b[64];
    p.events = POLLIN;
    if (poll(&p, 1, 100) == 1 && recv(s, b, sizeof b, MSG_DONTWAIT) > 0) __sync_fetch_and_add(&sum->answered, 1);
}

// call makes one of the calls that connect, or send to an address.
static int call(int s) {
    struct sockaddr_storage *to = &race.to, *other = &race.other;
    struct iovec v = {"word\n", 5};
    struct mmsghdr m[2] = {{{to, race.len, &v, 1}}, {{other, race.len, &v, 1}}};
    static const int flags[] = {0, MSG_FASTOPEN, MSG_DONTWAIT, MSG_FASTOPEN | MSG_DONTWAIT, MSG_MORE, MSG_OOB};
    int one = 1, flag = flags[pick(6)] | MSG_NOSIGNAL;
    struct sockaddr none = {AF_UNSPEC};
    switch (pick(10)) {
    case 0: return sendto(s, "word\n", 5, flag, (void *)to, race.len);
    case 1: return sendmsg(s, &m[0].msg_hdr, flag);
    case 2: return sendmmsg(s, m, 2, flag);
    case 3: setsockopt(s, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &one, sizeof one); break;
    case 4: // after a connection was dissolved
        connect(s, (void *)to, race.len);
        connect(s, &none, sizeof none);
        return connect(s, (void *)other, race.len);
    case 5: // twice
        connect(s, (void *)to, race.len);
        return connect(s, (void *)other, race.len);
    case 6: // after bind, which chooses the way
        bind(s, (void *)other, race.len);
    }
    return connect(s, (void *)to, race.len);
}

// attempt returns how many calls it made.
static int attempt(void) {
    struct in6_addr a = addrs[often(naddrs)], other = addrs[often(naddrs)];
    int family, port = pick(30) ? ports[often(nports)] : pick(65536);
    if (pick(3) == 0 && !ask(names[often(nnames)], pick(2), &a)) return 0;
    if (pick(40) == 0) for (int i = in4(&a) ? 12 : 0; i < 16; i++) a.s6_addr[i] = pick(256);
    int s = newsocket(&family);
    if (s < 0) return 0;
    struct timeval t = {0, 100000};
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
    if (family == AF_INET && !in4(&a) || pick(12) == 0) family = in4(&a) && pick(2) ? AF_INET : AF_INET6;
    race.len = target(&race.to, family, &a, port);
    target(&race.other, family, &other, port);
    if (pick(10) == 0) race.len = pick(sizeof race.to + 8);
    if (pick(25) == 0) race.to.ss_family = pick(46);
    if (pick(10) == 0) detour(s, &other);
    int raced = pick(3) == 0;
    if (raced) begin(s);
    int r = call(s), e = errno;
    if (raced) end();
    __sync_fetch_and_add(&sum->sent, r >= 0);
    if (r >= 0 || e == EINPROGRESS) talk(s);
    struct linger hard = {1, 0};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(s);
    return 1;
}

int main(int argc, char **argv) {
    char kind[8], value[64];
    state = strtoull(argv[1], 0, 10) * 2654435761u + 88172645463325252u;
    while (scanf("%7s %63s", kind, value) == 2) {
        if (*kind == 'n') strcpy(names[nnames++], value);
        else if (*kind == 'p') ports[nports++] = atoi(value);
        else if (!inet_pton(AF_INET6, value, &addrs[naddrs])) {
            addrs[naddrs].s6_addr[10] = addrs[naddrs].s6_addr[11] = 0xff;
            naddrs += inet_pton(AF_INET, value, addrs[naddrs].s6_addr + 12);
        } else naddrs++;
    }
    sum = mmap(0, sizeof *sum, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = state;
    for (int worker = 0; worker < WORKERS; worker++) {
        if (fork()) continue;
        state = seed + worker * 0x9e3779b97f4a7c15u;
        pthread_t t;
        pthread_create(&t, 0, other, 0);
        for (long i = atol(argv[2]) / WORKERS; i > 0;) i -= attempt();
        _exit(0);
    }
    int bad = 0, status;
    while (wait(&status) > 0) bad |= status;
    printf("done: %ld calls succeeded, %ld connected, %ld answered\n", sum->sent, sum->connected, sum->answered);
    return bad != 0;
}
