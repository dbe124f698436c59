/* A rename to a name that is free when it is judged, and the user's a moment later. */
#include "attack.h"
static void *use(void *x) {
  char from[32], p[64];
  int made = 0, i = (long)x;
  snprintf(from, sizeof from, "src/x%d", i);
  for (long n = ROUNDS(1500); n > 0 || !made; n--, i++) {
    snprintf(p, sizeof p, "inbox/f%d", i % 4);
    if (access(from, F_OK)) put(from, "evil");
    if (!rename(from, p)) made++;
  }
  if (made) good("rename");
}
int main(void) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(t + i, 0, use, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
