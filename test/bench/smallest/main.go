//go:build linux

// The command smallest applies a list of Landlock rules and becomes a program: the least cost
// of a loader written in Go. Its plan is a file of lines "RIGHTS PATH", rights in hexadecimal,
// of which the first names the rights that are handled.
//
//	smallest PLAN PROGRAM
package main

import (
	"os"
	"strconv"
	"strings"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

func main() {
	plan, err := os.ReadFile(os.Args[1])
	check(err)
	head, rest, _ := strings.Cut(string(plan), "\n")
	handled, err := strconv.ParseUint(head, 16, 64)
	check(err)
	ruleset, err := ll.LandlockCreateRuleset(&ll.RulesetAttr{HandledAccessFS: handled}, 0)
	check(err)
	for line := range strings.Lines(rest) {
		mask, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		rights, err := strconv.ParseUint(mask, 16, 64)
		check(err)
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		check(err)
		check(ll.LandlockAddPathBeneathRule(ruleset, &ll.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}, 0))
		check(unix.Close(fd))
	}
	// Go moves goroutines between threads; execve takes the rules of the one that calls it.
	check(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	check(ll.LandlockRestrictSelf(ruleset, 0))
	check(unix.Exec(os.Args[2], os.Args[2:3], os.Environ()))
}

func check(err error) {
	if err != nil {
		println(err.Error())
		os.Exit(125)
	}
}
