package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// condition is a machine on which the gate has to be green.
type condition struct {
	name, about string
	// busy is the number of busy loops beside the tests.
	busy int
	// user has the tests run as an ordinary user. It needs root.
	user bool
	// args are further arguments of go test.
	args []string
	// set changes the environment of the tests, given the place's own directory.
	set func(dir string) ([]string, error)
	// shell is a command that the tests run under, by sh: "$@" is go test.
	shell string
}

// conditions are in the order in which list prints them.
var conditions = []condition{
	{name: "idle", about: "nothing beside the tests"},
	{name: "busy2", about: "beside two busy loops", busy: 2},
	{name: "busy4", about: "beside four busy loops", busy: 4},
	{name: "one", about: "GOMAXPROCS=1", set: vars("GOMAXPROCS=1")},
	{name: "shuffle", about: "in another order", args: []string{"-shuffle=1"}},
	{name: "twice", about: "every test twice in one process", args: []string{"-count=2"}},
	{name: "user", about: "as an ordinary user", user: true},
	{name: "tmpfs", about: "temporary files in memory", shell: `exec unshare --mount -- sh -c 'mount -t tmpfs -o mode=1777 none "$TMPDIR"; exec "$@"' sh "$@"`},
	{name: "disk", about: "temporary files on a disk", set: temporary("/var/tmp")},
	{name: "long", about: "a long path of temporary files", set: temporary("", strings.Repeat("long-", 20), strings.Repeat("path-", 16))},
	{name: "homeless", about: "without HOME", shell: `unset HOME; exec "$@"`},
	{name: "umask", about: "umask 077", shell: `umask 077; exec "$@"`},
	{name: "few", about: "256 file descriptors", shell: `ulimit -n 256; exec "$@"`},
	{name: "locale", about: "another locale", set: vars("LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "LANGUAGE=tr")},
	{name: "offline", about: "without a network", shell: `exec unshare --net -- sh -c 'ip link set lo up; exec "$@"' sh "$@"`},
	{name: "bare", about: "without the optional programs", set: bare},
	{name: "readonly", about: "a module cache that nobody may write", set: readonly},
}

func named(name string) (condition, bool) {
	for _, c := range conditions {
		if c.name == name {
			return c, true
		}
	}
	return condition{}, false
}

func vars(vars ...string) func(string) ([]string, error) {
	return func(string) ([]string, error) { return vars, nil }
}

// temporary has temporary files below a directory, the place's own when it has no name.
func temporary(in string, deeper ...string) func(string) ([]string, error) {
	return func(dir string) ([]string, error) {
		if in != "" {
			var err error
			if dir, err = os.MkdirTemp(in, "accessc-gate-"); err != nil {
				return nil, err
			}
		}
		dir = filepath.Join(append([]string{dir}, deeper...)...)
		return []string{"TMPDIR=" + dir}, os.MkdirAll(dir, 0o777)
	}
}

// needed are the programs that the README asks for, and those of a system's base.
var needed = []string{
	"go", "gofmt", "git", "sh", "bash", "dash", "awk", "basename", "cat", "chmod", "cp", "cut", "date", "dirname", "echo", "env", "expr", "false",
	"find", "grep", "head", "id", "install", "ln", "ls", "mkdir", "mkfifo", "mktemp", "mv", "nohup", "od", "printf", "ps", "pwd", "readlink",
	"realpath", "rm", "rmdir", "sed", "seq", "setsid", "sleep", "sort", "stat", "tail", "tar", "tee", "test", "timeout", "touch", "tr", "true",
	"tty", "uname", "uniq", "wc", "which", "xargs",
}

// bare has a PATH with nothing but what is needed.
func bare(dir string) ([]string, error) {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	for _, name := range needed {
		if file, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(file, filepath.Join(bin, name)); err != nil && !os.IsExist(err) {
				return nil, err
			}
		}
	}
	return []string{"PATH=" + bin}, nil
}

// readonly takes away the right to write the module cache. Root may all the same.
func readonly(dir string) ([]string, error) {
	return nil, exec.Command("chmod", "-R", "a-w", filepath.Join(dir, "mod")).Run()
}
