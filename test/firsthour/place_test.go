//go:build linux

package firsthour_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// ordinary is the number of a user without privileges.
const ordinary = 65534

// A place is a fresh workspace with the files of a scenario, a fresh home, and fresh state of
// accessc. They belong to a user without privileges.
type place struct {
	testing.TB
	*scenario
	dir      string // has the others
	ws, user string // the workspace, and the home of the user
	free     string // a port
	tool     string // the one in question
}

// newPlace lays out a scenario and runs its setup.
func newPlace(t testing.TB, s *scenario) *place {
	t.Helper()
	// Not TempDir: chromium's sockets need short paths.
	dir, err := os.MkdirTemp("", "hour-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &place{TB: t, scenario: s, dir: dir, ws: dir + "/ws", user: dir + "/home", tool: "t"}
	p.free = freePort(t)
	for _, d := range []string{"state", "config", "tmp"} {
		p.must(os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	p.lay()
	return p
}

// sensitive are files of the place that no proposal may reach, with paths from the workspace and the home.
var sensitive = struct{ ws, user []string }{[]string{".env"}, []string{".ssh/id_ed25519", ".aws/credentials"}}

// lay writes the files of the scenario and runs its setup.
func (p *place) lay() {
	p.Helper()
	s := p.scenario
	for dir, files := range map[string][]string{p.ws: sensitive.ws, p.user: sensitive.user} {
		for _, f := range files {
			p.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
			p.must(os.WriteFile(filepath.Join(dir, f), []byte("SECRET=1\n"), 0o600))
		}
	}
	for _, f := range s.files {
		p.write(f.Name, string(f.Data))
	}
	for _, part := range s.home {
		to := filepath.Join(p.user, part)
		p.must(os.MkdirAll(filepath.Dir(to), 0o755))
		if out, err := exec.Command("cp", "-a", filepath.Join(os.Getenv("HOME"), part), to).CombinedOutput(); err != nil {
			p.Fatalf("%v\n%s", err, out)
		}
	}
	p.own()
	if s.setup != "" {
		if out, err := p.sh(s.setup); err != nil {
			p.Fatalf("setup: %v\n%s", err, out)
		}
	}
}

// again lays everything out anew but the configuration and the state that accessc keeps for the user.
func (p *place) again() {
	p.Helper()
	kept := func(name string) bool { return name == "accessc.toml" || name == ".accessc" }
	beside := func(name string) bool { return slices.Contains([]string{"ws", "state", "config", "tmp"}, name) }
	for dir, stays := range map[string]func(string) bool{p.ws: kept, p.dir: beside} {
		entries, err := os.ReadDir(dir)
		p.must(err)
		for _, e := range entries {
			if !stays(e.Name()) {
				p.must(os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
	}
	if out, status := p.accessc("home", "clear", "--yes"); status != 0 {
		p.Fatalf("home clear: %s", out)
	}
	p.lay()
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write makes a file of the workspace. Scripts can be started.
func (p *place) write(name, text string) {
	p.Helper()
	text = p.expand(text)
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	file := filepath.Join(p.ws, name)
	p.must(os.MkdirAll(filepath.Dir(file), 0o755))
	p.must(testbuild.WriteFile(file, []byte(text), mode))
}

// own gives everything to the user.
func (p *place) own() {
	p.Helper()
	if os.Getuid() == 0 {
		p.must(os.Chmod(p.dir, 0o755))
		p.must(exec.Command("chown", "-R", fmt.Sprint(ordinary), p.dir).Run())
	}
}

// expand puts the places of the run into a text.
func (p *place) expand(text string) string {
	return strings.NewReplacer(
		"${ws}", p.ws, "${home}", p.user, "${dir}", p.dir, "${packages}", packages(), "${server}", pages.Listener.Addr().String(),
		"${port}", port(pages.Listener), "${free}", p.free, "${registry}", registry(), "${goproxy}", goproxy(), "${accessc}", filepath.Join(bin, "accessc"),
	).Replace(text)
}

// port is that of a listener.
func port(l net.Listener) string { return fmt.Sprint(l.Addr().(*net.TCPAddr).Port) }

// freePort is a port at which a tool can listen.
func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return port(l)
}

// registry is the host that npm is configured to install from.
var registry = sync.OnceValue(func() string {
	out, err := exec.Command("npm", "config", "get", "registry").Output()
	if err != nil {
		return "registry.invalid"
	}
	u, err := url.Parse(strings.TrimSpace(string(out)))
	if err != nil {
		return "registry.invalid"
	}
	return u.Hostname()
})

// goproxy is the host that Go is configured to download modules from.
var goproxy = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
	u, perr := url.Parse(first)
	if err != nil || perr != nil || u.Hostname() == "" {
		return "goproxy.invalid"
	}
	return u.Hostname()
})

// command is a command of the user in the workspace.
func (p *place) command(words ...string) *exec.Cmd {
	p.Helper()
	cmd := exec.CommandContext(await.Context(p.TB), words[0], words[1:]...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Dir = p.ws
	cmd.Env = []string{
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + p.user, "LANG=C.UTF-8", "TERM=dumb", "USER=nobody",
		"TMPDIR=" + p.dir + "/tmp", "XDG_STATE_HOME=" + p.dir + "/state", "XDG_CONFIG_HOME=" + p.dir + "/config",
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary, NoSetGroups: false}}
	}
	return cmd
}

// sh runs a script as the user, unconfined.
func (p *place) sh(script string) (string, error) {
	p.Helper()
	out, err := p.command("sh", "-e", "-c", p.expand(script)).CombinedOutput()
	return string(out), err
}

// accessc runs the program under test, and returns its output and the tool's.
func (p *place) accessc(words ...string) (out string, status int) {
	p.Helper()
	b, err := p.command(append([]string{filepath.Join(bin, "accessc")}, words...)...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.Fatalf("accessc %s: %v\n%s", strings.Join(words, " "), err, b)
	}
	if exit != nil {
		status = exit.ExitCode()
	}
	return string(b), status
}

// configure writes accessc.toml: the tool t, and its policy.
func (p *place) configure(policy string) {
	p.Helper()
	text := "[tools.t]\nsource = \"local\"\ncommand = { program = \"sh\", args = [\"-e\", \"-c\", '''\n" + p.run + "'''] }\n" + policy
	p.write("accessc.toml", text)
	p.own()
}

// try starts the tool once and tells whether it has done its work.
func (p *place) try(flags ...string) (works bool, said string) {
	p.Helper()
	words := append([]string{"exec", "--no-prompt"}, flags...)
	for _, gap := range p.accept {
		words = append(words, "--accept", gap)
	}
	if p.tool == "t" {
		words = append(words, "t")
	} else {
		words = append(words, "--command", "--tool", p.tool, "--", "sh", "-e", "-c", p.expand(p.run))
	}
	said, status := p.accessc(words...)
	p.must(os.WriteFile(p.dir+"/out", []byte(said), 0o644))
	if status != 0 {
		return false, fmt.Sprintf("%s\nstatus %d", said, status)
	}
	if out, err := p.sh("out=${dir}/out\n" + p.after); err != nil {
		return false, fmt.Sprintf("%s\nafter: %v\n%s", said, err, out)
	}
	return true, said
}
