/* Applies the plan that bench/smallest reads, and becomes a program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void check(long ok, const char *what)
{
	if (ok < 0) {
		perror(what);
		exit(125);
	}
}

int main(int argc, char **argv)
{
	static char line[8192];
	struct landlock_ruleset_attr attr = {0};
	FILE *plan = argc == 3 ? fopen(argv[1], "re") : NULL;

	check(plan && fgets(line, sizeof line, plan) ? 0 : -1, "plan");
	attr.handled_access_fs = strtoull(line, NULL, 16);
	int ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	check(ruleset, "landlock_create_ruleset");
	while (fgets(line, sizeof line, plan)) {
		char *path;
		struct landlock_path_beneath_attr rule = {.allowed_access = strtoull(line, &path, 16)};

		line[strcspn(line, "\n")] = 0;
		rule.parent_fd = open(path + 1, O_PATH | O_CLOEXEC);
		check(rule.parent_fd, path + 1);
		check(syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0), "landlock_add_rule");
		close(rule.parent_fd);
	}
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	check(syscall(SYS_landlock_restrict_self, ruleset, 0), "landlock_restrict_self");
	check(execv(argv[2], argv + 2), argv[2]);
}
