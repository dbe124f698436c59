/* Names that may be changed and deleted but not made come back: one thread deletes, others rename
 * over the name. */
#include "attack.h"
static volatile int left = 1;
static void *over(void *x) {
  char from[32];
  snprintf(from, sizeof from, "src/x%ld", (long)x);
  for (long n = ROUNDS(1200); n > 0; n--) {
    if (access(from, F_OK)) put(from, "tool");
    rename(from, "std/f");
  }
}
int main(void) {
  pthread_t t[3];
  int gone = 0;
  done(open("std/never", O_CREAT | O_WRONLY, 0644), "create");
  done(rename("src/a", "std/never"), "rename to a new name");
  for (long i = 0; i < 3; i++) pthread_create(t + i, 0, over, (void *)i);
  /* One file, so one deletion: a second that succeeds is of a name that was made. */
  for (long n = ROUNDS(1200); n > 0 || !gone; n--) if (!unlink("std/f")) gone++;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  if (gone) good("delete");
  if (gone > 1) leak("%d names were made where none may be", gone - 1);
}
