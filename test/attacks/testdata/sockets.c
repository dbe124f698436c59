/* Sockets with names: dialled, sent to and made where the policy denies it. */
#include "attack.h"

static struct sockaddr_un at(const char *p) { struct sockaddr_un a = {AF_UNIX}; strncpy(a.sun_path, p, 107); return a; }

static volatile int stop;
static struct sockaddr_un *shared;
static void *flip(void *x) {
  while (!stop) { strcpy(shared->sun_path, "src/own"); for (volatile int i = 0; i < 200; i++); strcpy(shared->sun_path, "user/st"); for (volatile int i = 0; i < 200; i++); }
}

int main(void) {
  const char *streams[] = {"user/st", "./user/../user/st", "src/ln", "/proc/self/cwd/user/st", "../outside/st", "src/hl", 0};
  symlink("../user/st", "src/ln");
  link("user/st", "src/hl");
  for (int i = 0; streams[i]; i++) {
    struct sockaddr_un a = at(streams[i]);
    int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
    for (int t = 0; t < 3; t++) {
      int s = socket(AF_UNIX, types[t], 0);
      if (!connect(s, (void *)&a, sizeof a)) { write(s, "evil", 4); leak("connect to %s", streams[i]); }
      close(s);
    }
  }
  struct sockaddr_un d = at("user/dg");
  int sv[2];
  if (!socketpair(AF_UNIX, SOCK_DGRAM, 0, sv)) {
    if (sendto(sv[0], "evil", 4, 0, (void *)&d, sizeof d) >= 0) leak("sendto of a pair");
    struct iovec io = {"evil", 4};
    struct mmsghdr m = {{&d, sizeof d, &io, 1}};
    if (sendmsg(sv[0], &m.msg_hdr, 0) >= 0) leak("sendmsg of a pair");
    if (sendmmsg(sv[0], &m, 1, 0) > 0) leak("sendmmsg of a pair");
    if (!connect(sv[0], (void *)&d, sizeof d)) { write(sv[0], "evil", 4); leak("connect of a pair"); }
  }
  if (!socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) {
    struct sockaddr_un a = at("user/st"), un = {AF_UNSPEC};
    connect(sv[0], (void *)&un, 2);
    if (!connect(sv[0], (void *)&a, sizeof a)) leak("connect of a stream pair");
    good("socketpair");
  }
  int s = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (s >= 0 && sendto(s, "evil", 4, 0, (void *)&d, sizeof d) >= 0) leak("sendto");
  const char *places[] = {"gen/s", "secrets/s", "bin/s", ".env", ".git/config", "late/.env", "../outside/s", 0};
  for (int i = 0; places[i]; i++) {
    struct sockaddr_un a = at(places[i]);
    s = socket(AF_UNIX, SOCK_STREAM, 0);
    if (s >= 0 && !bind(s, (void *)&a, sizeof a)) leak("bind to %s", places[i]);
    close(s);
  }
  /* Its own socket, where it may make one, and a name that flips to the user's. */
  struct sockaddr_un a = at("src/own");
  int l = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (l >= 0 && !bind(l, (void *)&a, sizeof a) && !listen(l, 100)) note("its own socket");
  shared = malloc(sizeof *shared);
  *shared = a;
  pthread_t t;
  pthread_create(&t, 0, flip, 0);
  for (long n = ROUNDS(800); n > 0; n--) {
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (s >= 0 && !connect(s, (void *)shared, sizeof *shared)) write(s, "evil", 4);
    close(s);
    int c = accept4(l, 0, 0, SOCK_NONBLOCK);
    close(c);
    if (s < 0) break;
  }
  stop = 1;
  pthread_join(t, 0);
  /* Abstract names and other families. */
  struct sockaddr_un ab = {AF_UNIX};
  memcpy(ab.sun_path, "\0accessc-attack", 15);
  s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (s >= 0 && !connect(s, (void *)&ab, 2 + 15)) leak("an abstract socket of the user");
  for (int f = 2; f < 46; f++) { s = socket(f, SOCK_RAW, 0); if (s >= 0) leak("a raw socket of family %d", f); s = socket(f, SOCK_DGRAM, 0); if (s >= 0 && !stands_in(s)) leak("a datagram socket of family %d", f); }
  if (fine("src/a")) good("read");
}
