#include <stdio.h>

#include "generated/version.h"

int main(void) {
	printf("version %d\n", VERSION);
	return 0;
}
