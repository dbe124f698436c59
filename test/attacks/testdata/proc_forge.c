// Writes into what accessc tells its user, and into its reports.
#include "proc.h"

// forge: names that would end a line, colour a terminal or turn a text around.
static void forge(int argc, char **argv) {
	prctl(PR_SET_NAME, "a\n{\"x\":1}\x1b[2");
	static const char *names[] = {
		"secret", "secret\n{\"event\":\"denied\",\"tool\":\"forged\"}", "secret\x1b]0;owned\x07\x1b[31m", "secret\xe2\x80\xae txt.exe",
		"secret\xc2\x9b" "31m", "secret\xff\xfe", "secret\r\naccessc: forged", "secret\u2066x\u2069", "secret\u2028y", "secret\x7f\b\b\b",
	};
	char path[300];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s", names[i]);
		open(path, O_RDWR);
		snprintf(path, sizeof path, "closed/%s", names[i]);
		open(path, O_RDWR | O_CREAT, 0600);
		mkdir(path, 0700);
		rename("src", path);
		char *args[] = {(char *)names[i], (char *)names[i], 0};
		execv(argc ? "/bin/true" : names[i], args);
	}
	control("forge");
	exit(3);
}

// reach: REPORT RECORD: files of the user that accessc writes.
static void reach(int argc, char **argv) {
	char name[128];
	for (int i = 0; i < argc; i++) {
		int fd = open(argv[i], O_RDWR);
		if (fd >= 0) leak("opened %s", argv[i]);
		if (!truncate(argv[i], 0)) leak("truncated %s", argv[i]);
		if (!unlink(argv[i])) leak("removed %s", argv[i]);
		if (!chmod(argv[i], 0666)) leak("mode of %s", argv[i]);
		if (!rename(argv[i], "src/r")) leak("moved %s", argv[i]);
		if (!link(argv[i], "src/r")) leak("linked %s", argv[i]);
		if (!rename("src/mine", argv[i])) leak("replaced %s", argv[i]);
	}
	for (int fd = 3; fd < 64; fd++) {
		if (fcntl(fd, F_GETFD) >= 0) leak("descriptor %d", fd);
		snprintf(name, sizeof name, "/proc/%d/fd/%d", getppid(), fd);
		if (open(name, O_WRONLY) >= 0) leak("opened %s", name);
	}
	open("secret", O_RDONLY);
	int fd = open("src/fine", O_WRONLY | O_CREAT, 0600);
	if (fd >= 0) control("reach");
	exit(3);
}

MAIN({"forge", forge}, {"reach", reach})
