// A program that knows no proxy: it connects to a name and a port, sends a word unless that is
// empty, and prints a line.
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int e = getaddrinfo(argv[1], argv[2], &hints, &list);
    if (e) {
        printf("%s: %s\n", argv[1], gai_strerror(e));
        return 1;
    }
    for (struct addrinfo *a = list; a; a = a->ai_next) {
        int s = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (connect(s, a->ai_addr, a->ai_addrlen)) {
            perror("connect");
            close(s);
            continue;
        }
        if (argv[3][0]) {
            dprintf(s, "%s\n", argv[3]);
        }
        char line[200];
        ssize_t n = read(s, line, sizeof line - 1);
        if (n > 0) {
            line[n] = 0;
            printf("%s", line);
            return 0;
        }
        perror("read");
    }
    return 1;
}
