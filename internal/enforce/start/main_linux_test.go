package start_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/egress"
	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/internal/enforce/start"
)

// The test binary plays three parts: the test, the loader that it starts with a
// specification, and the tool that the loader becomes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		muteCoverage()
	}
	if len(os.Args) == 2 && os.Args[1] == wire.Command {
		if err := egress.Run(os.NewFile(3, "control"), os.NewFile(4, "setup")); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 5 && os.Args[1] == start.PlacesMode {
		rounds, _ := strconv.Atoi(os.Args[3])
		seed, _ := strconv.ParseUint(os.Args[4], 10, 64)
		if err := start.RunPlaces(os.Args[2], rounds, seed); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-loader" {
		load(os.Args[2], "kernel-tool")
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-worker-loader" {
		load(os.Args[2], "kernel-worker")
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-supervised" {
		loadSupervised(os.Args[2], "", false, os.Args[3:]...)
	}
	if len(os.Args) > 2 && os.Args[1] == modeKept {
		_ = os.Setenv("XDG_STATE_HOME", filepath.Join(filepath.Dir(os.Args[2]), "state"))
		loadSupervised(os.Args[2], "", false, os.Args[3:]...)
	}
	if len(os.Args) == 3 && os.Args[1] == modeUndo {
		undoLatest(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == modeBound {
		loadSupervised(os.Args[2], "", false, os.Args[0], modeBound)
	}
	if len(os.Args) == 2 && slices.Contains([]string{modeBound, modeConfined, modeApart, modeSwapping}, os.Args[1]) {
		becomeBound(os.Args[1])
	}
	if len(os.Args) > 2 && os.Args[1] == modeUnmarkable {
		unmarkable(os.Args[2:])
	}
	if len(os.Args) > 3 && os.Args[1] == modeNested {
		nest(os.Args[2:])
	}
	if len(os.Args) > 2 && (os.Args[1] == "kernel-reported" || os.Args[1] == modeTraced) {
		loadSupervised(os.Args[2], os.Args[2]+".report", os.Args[1] == modeTraced)
	}
	if len(os.Args) > 3 && os.Args[1] == "kernel-mounted" {
		mounted(os.Args[2], os.Args[3])
	}
	if len(os.Args) > 2 && os.Args[1] == modeMasked {
		masked(os.Args[2])
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-hog" {
		hog(os.Args[2])
	}
	if len(os.Args) > 1 && os.Args[1] == "kernel-worker" {
		work(os.Stdin, os.Stdout)
		leaveNow()
	}
	if len(os.Args) > 1 && os.Args[1] == partSequence {
		workSequences(os.Stdin, os.Stdout)
		leaveNow()
	}
	if len(os.Args) > 1 && os.Args[1] == "kernel-tool" {
		serve(os.Stdin, os.Stdout)
		leaveNow()
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-thread" {
		becomeThread(os.Args[2:])
		leaveNow()
	}
	if len(os.Args) > 1 && os.Args[1] == "kernel-told" {
		told(os.Args[1:])
		leaveNow()
	}
	if len(os.Args) > 2 && os.Args[1] == "kernel-flagged" {
		flagged(os.Args[2])
		leaveNow()
	}
	if len(os.Args) > 1 && os.Args[1] == "kernel-again" {
		_ = syscall.Exec("/proc/self/exe", []string{"again", "kernel-told", "again"}, os.Environ())
		leaveNow()
	}
	if len(os.Args) > 1 && os.Args[1] == "proxy-by-token" {
		_ = egress.RunByToken(os.NewFile(3, "control"), os.NewFile(4, "setup"))
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == modeWrapped {
		loadWrapped(os.Args[2])
	}
	if len(os.Args) > 2 && os.Args[1] == start.EnterCommand {
		_ = start.Enter(os.Args[2:])
		os.Exit(start.CodeFailed)
	}
	if len(os.Args) > 2 && os.Args[1] == start.SweepCommand {
		_ = start.Sweep(os.Args[2], os.Args[3:]...)
		os.Exit(0)
	}
	alongside()
	_ = unix.Umask(0o022) // files of a test are for its users
	status := m.Run()
	dropPrograms()
	os.Exit(status)
}

// leaveNow ends a tool. Under the race detector os.Exit waits a second for reports.
func leaveNow() { _, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0) }

// alongside lets more tests run at a time than there are processors, unless the command line says how many: a test that
// starts tools waits half of its time.
func alongside() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2+runtime.GOMAXPROCS(0)))
	}
}
