// The program that a policy lists with "hello" first and the variable FOO. It
// tells what it was started with; anything else is a leak.
#include "proc.h"
#include <sys/auxv.h>

extern char **environ;

int main(int argc, char **argv) {
	int fine = argc >= 2 && !strcmp(argv[1], "hello");
	if (!fine) leak("listed program started with %d arguments, first %s", argc, argc > 1 ? argv[1] : "-");
	for (char **e = environ; *e; e++)
		if (**e && strncmp(*e, "FOO=", 4)) {
			leak("listed program sees %s", *e);
			fine = 0;
		}
	if (fine) control("listed");
	return 7;
}
