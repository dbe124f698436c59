// A program that no policy of these scenes lets start.
#include "proc.h"

int main(int argc, char **argv) {
	leak("unlisted program started as %s, %s", argv[0] ? argv[0] : "-", argc > 1 ? argv[1] : "-");
	return 8;
}
