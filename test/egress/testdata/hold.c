// Keeps connections open and tries to make others: hold NAME PORT ADDRESS. NAME is granted and
// ADDRESS is not. It prints "up" once its connections are open and "closed" once all of them have
// ended, and tries on for a while.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HELD 10

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(struct sockaddr *to, socklen_t len) {
    int s = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(s, to, len) == 0) return s;
    close(s);
    return -1;
}

int main(int argc, char **argv) {
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *to;
    struct sockaddr_in denied = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    inet_pton(AF_INET, argv[3], &denied.sin_addr);
    if (getaddrinfo(argv[1], argv[2], &hints, &to)) return printf("no address\n"), 1;
    struct pollfd held[HELD];
    for (int i = 0; i < HELD; i++) {
        held[i] = (struct pollfd){dial(to->ai_addr, to->ai_addrlen), POLLIN};
        char b[16];
        if (held[i].fd < 0 || write(held[i].fd, "word\n", 5) != 5 || read(held[i].fd, b, sizeof b) <= 0) return printf("no connection\n"), 1;
    }
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) break; // all of them hold the connections
    }
    write(1, "up\n", 3);
    int open = HELD;
    for (double end = now() + 20; now() < end;) {
        close(dial((void *)&denied, sizeof denied));
        close(dial(to->ai_addr, to->ai_addrlen));
        if (open == 0 || poll(held, HELD, 1) <= 0) continue;
        for (int i = 0; i < HELD; i++) {
            char b[16];
            if (held[i].revents == 0 || recv(held[i].fd, b, sizeof b, MSG_DONTWAIT) > 0) continue;
            close(held[i].fd);
            held[i].fd = -1;
            open--;
        }
        if (open == 0) {
            write(1, "closed\n", 7);
            end = now() + 0.2;
        }
    }
    return open > 0;
}
