/* A rename over a file that may be changed, which the user takes away a moment before. */
#include "attack.h"
int main(void) {
  int over = 0;
  for (long n = ROUNDS(1500); n > 0 || !over; n--) {
    if (access("src/x", F_OK)) put("src/x", "tool");
    if (!rename("src/x", "std/f")) over++;
  }
  if (over) good("rename over");
  note("%d", over);
}
