// Measures connections: load each NAME PORT COUNT prints the nanoseconds that each of COUNT
// connections takes until its first answer; load hold NAME PORT COUNT HELD keeps the last HELD of
// them open, and lets each answer again before it closes; load receive NAME PORT BYTES reads that
// many bytes and prints the nanoseconds.
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *why, long i) {
    printf("connection %ld: ", i);
    fflush(stdout);
    perror(why);
    exit(1);
}

static void word(int s, long i) {
    char b[16];
    if (write(s, "word\n", 5) != 5) fail("write", i);
    ssize_t n = read(s, b, sizeof b);
    if (n != 10) fail("read", i);
}

int main(int argc, char **argv) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *to;
    if (getaddrinfo(argv[2], argv[3], &hints, &to)) return printf("no address\n"), 1;
    long count = atol(argv[4]), held = argc > 5 ? atol(argv[5]) : 1;
    int *open = malloc(held * sizeof *open);
    for (long i = 0; i < held; i++) open[i] = -1;
    long receive = strcmp(argv[1], "receive") == 0 ? count : 0, each = strcmp(argv[1], "each") == 0;
    if (receive) count = 1;
    for (long i = 0; i < count; i++) {
        int *s = &open[i % held];
        if (*s >= 0) {
            if (!each) word(*s, i);
            close(*s);
        }
        long begin = now();
        *s = socket(AF_INET, SOCK_STREAM, 0);
        if (*s < 0 || connect(*s, to->ai_addr, to->ai_addrlen)) fail("connect", i);
        if (!receive) word(*s, i);
        static char b[1 << 18];
        for (ssize_t n; receive > 0; receive -= n) {
            if ((n = read(*s, b, sizeof b < receive ? sizeof b : receive)) <= 0) fail("read", i);
        }
        if (held == 1) printf("%ld\n", now() - begin);
    }
    if (held > 1) {
        for (long i = 0; i < held; i++) word(open[i], i);
        printf("%ld answered\n", count);
    }
    return 0;
}
