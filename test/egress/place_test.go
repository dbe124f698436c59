//go:build linux

package egress_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"
)

// A user is an identity that a tool starts with.
type user string

// Root is root of the world. Ordinary has no privilege: it is the world's root under another
// number, in a user namespace of its own.
const (
	root     user = "root"
	ordinary user = "user"
)

// nobody is the number of the ordinary user. Clients that look it up find a name.
const nobody = 65534

// A place is a workspace with a policy for one user.
type place struct {
	testing.TB
	w    *world
	user user
	dir  string // contains the others
	ws   string
	home string
}

var built struct {
	sync.Once
	bin string
	err error
}

// accessc builds the program under test once and returns its path. Where this test runs without
// the repository, as test/kernels runs it, the program is the installed one.
func accessc(t testing.TB, w *world) string {
	built.Do(func() {
		if _, err := os.Stat("../../go.mod"); err != nil {
			built.bin, built.err = exec.LookPath("accessc")
			return
		}
		built.bin = w.file("accessc")
		built.err = testbuild.Program(built.bin, "cmd/accessc")
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.bin
}

// newPlace lays out a workspace whose tool, t, runs any command line under the rules.
func newPlace(t testing.TB, w *world, u user, rules string) *place {
	dir, err := os.MkdirTemp(w.dir, "place-")
	if err != nil {
		t.Fatal(err)
	}
	p := &place{TB: t, w: w, user: u, dir: dir, ws: dir + "/ws", home: dir + "/home"}
	p.must(os.Chmod(dir, 0o755))
	p.write("bin/run", "#!/bin/sh\nexec \"$@\"\n")
	p.must(os.Chmod(p.ws+"/bin/run", 0o755))
	p.must(os.MkdirAll(p.home, 0o755))
	p.write("ca.pem", string(w.ca.pem))
	p.write("accessc.toml", `[tools.t]
source = "local"
command = "bin/run"
[[tools.t.access.fs]]
path = "."
read = true
write = true
execute = true
`+readable()+rules)
	return p
}

// authorities are the variables that name the world's authority to clients with roots of their
// own.
var authorities = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CARGO_HTTP_CAINFO"}

// readable are the rules for the variables of the clients.
func readable() (out string) {
	for _, name := range append([]string{"PATH", "HOME", "LANG"}, authorities...) {
		out += "[[tools.t.access.env]]\nname = \"" + name + "\"\nread = true\n"
	}
	return out
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write makes a file in the workspace.
func (p *place) write(name, content string) {
	name = filepath.Join(p.ws, name)
	p.must(os.MkdirAll(filepath.Dir(name), 0o755))
	p.must(os.WriteFile(name, []byte(content), 0o644))
}

// command is a command of the place's user, in a directory of the workspace.
func (p *place) command(ctx context.Context, in string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = filepath.Join(p.ws, in)
	p.must(os.MkdirAll(cmd.Dir, 0o755))
	cmd.WaitDelay = 2 * time.Second
	cmd.Env = []string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home, "LANG=C", "TMPDIR=/tmp",
		"XDG_CONFIG_HOME=" + p.home + "/.config", "XDG_STATE_HOME=" + p.home + "/.state",
	}
	for _, name := range authorities {
		cmd.Env = append(cmd.Env, name+"="+p.ws+"/ca.pem")
	}
	if p.user == ordinary {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: 0, Size: 1}},
			Credential:  &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true},
		}
	}
	return cmd
}

// exec is a start of the tool with the report below the place's directory. These tests are not
// about signals, which kernels below ABI 6 do not restrict.
func (p *place) exec(ctx context.Context, in, report string, args ...string) *exec.Cmd {
	all := []string{accessc(p.TB, p.w), "exec", "-C", p.ws, "--no-prompt", "--accept", "process.signal", "--report", filepath.Join(p.dir, report), "t", "--"}
	return p.command(ctx, in, append(all, args...)...)
}

// unheld is in the refusal of exec to start a tool under rules for hosts.
var unheld = regexp.MustCompile(`net\.host|net\.address|no Landlock`)

// holds skips the test where the host cannot hold rules for hosts, or cannot start tools at all,
// as exec says itself.
func (p *place) holds(t testing.TB) {
	t.Helper()
	out, err := p.exec(t.Context(), "", "holds.jsonl", "true").CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 125 && unheld.Match(out):
		t.Skipf("%s", out)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
}

// has returns the first program of a list that is not installed where every tool may read. The
// C compiler is not needed for programs that lie beside their sources.
func has(programs string) (missing string) {
	for _, p := range strings.Fields(programs) {
		if p == "cc" && compiled("storm") {
			continue
		}
		at, err := exec.LookPath(p)
		if err != nil || !strings.HasPrefix(at, "/usr/") && !strings.HasPrefix(at, "/bin/") {
			return p
		}
	}
	return ""
}
