/* Tells which signal it gets when its parent ends. */
#include <stdio.h>
#include <sys/prctl.h>

int main(void) {
  int number = -1;
  prctl(PR_GET_PDEATHSIG, &number);
  printf("%d\n", number);
  return 0;
}
