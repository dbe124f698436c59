//go:build linux

package attacks_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// A procScene is one attack on processes, programs, the network, limits or the host.
type procScene struct {
	name string
	// source is the hostile program below testdata, without its suffix.
	source string
	// toml defines the tool t without its source and command; empty is procWorkspace.
	toml string
	// denied and allowed are questions as accessc can takes them, asked before the attack.
	denied, allowed []string
	// setup lays out more than every place has; it may start the target of the attack.
	setup func(*procPlace)
	// runs are the arguments of the starts, one after the other. A % stands for a value that
	// setup has put into the place.
	runs [][]string
	// means is another program that confines the tool, nil for none.
	means *means
	// leaks are those that its ledger foretells.
	leaks leaks
	// flags are those of exec.
	flags []string
	// env is added to the environment of accessc.
	env []string
	// start replaces the start of accessc, for attacks that need more than its arguments.
	start func(*testing.T, *procPlace, *exec.Cmd) ([]byte, error)
	// good are the controls: words of CONTROL lines without which the attack proves nothing.
	good []string
	// verdict looks at the host afterwards.
	verdict func(*testing.T, *procPlace, string)
	// root is set where root can try more than another user, and so plays the scene in the gate as well.
	root bool
	// status is the exit status that a start has; -1 for any.
	status int
}

// A procPlace is the disk of one scene for one user.
type procPlace struct {
	disk
	values map[string]string
}

// procWorkspace is a supervised tool: it writes below src, and does not see secret.
const procWorkspace = `
[[tools.t.access.fs]]
path = "."
read = true
execute = true
[[tools.t.access.fs]]
path = "src"
read = true
write = true
execute = true
[[tools.t.access.fs]]
path = "secret"
`

// procListed is procWorkspace with programs that are listed with arguments and variables.
const procListed = procWorkspace + `
[[tools.t.access.fs]]
path = "script"
read = true
write = true
execute = true
[[tools.t.access.env]]
name = "FOO"
read = true
[[tools.t.access.env]]
name = "BAR"
read = true
[tools.t.access.commands]
"./tool" = {}
"./script" = {}
"./bin/listed" = { args = [["hello", "**"]], envs = ["FOO"] }
"./bin/fewer" = { envs = ["FOO"] }
`

// procReader is a tool that needs no supervisor.
const procReader = `
[tools.t.access]
accept = ["fs.metadata"]
[[tools.t.access.fs]]
path = "."
read = true
execute = true
`

// procBuild makes accessc and the hostile programs, and returns their directory.
func procBuild(t *testing.T) string {
	bin := hostile(t, "proc_exec", "proc_host", "proc_life", "proc_net", "proc_listed", "proc_unlisted", "proc_forge")
	compile(t, bin, "proc_evil", "-shared", "-fPIC")
	return bin
}

// newProcPlace lays a scene out.
func newProcPlace(t *testing.T, s procScene, bin string, uid int) *procPlace {
	d := newDisk(t, bin, "./tool", uid)
	p := &procPlace{disk: d, values: map[string]string{"ws": d.ws}}
	p.make(p.ws + "/src")
	p.make(p.ws + "/bin")
	for to, from := range map[string]string{"tool": s.source, "bin/listed": "proc_listed", "bin/unlisted": "proc_unlisted",
		"bin/evil.so": "proc_evil", "script": "proc_listed", "bin/fewer": "proc_host"} {
		data, err := os.ReadFile(filepath.Join(bin, from))
		if err != nil {
			t.Fatal(err)
		}
		p.write(to, string(data), 0o755)
	}
	p.write("secret", "TOP-SECRET", 0o600)
	toml := s.toml
	if toml == "" {
		toml = procWorkspace
	}
	if s.setup != nil {
		s.setup(p)
	}
	p.write("accessc.toml", "[tools.t]\nsource = \"local\"\ncommand = \"./tool\"\n"+p.fill(toml), 0o644)
	return p
}

func (p *procPlace) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *procPlace) own(path string) { p.must(os.Lchown(path, p.uid, p.uid)) }

// write makes a file of the user in the workspace.
func (p *procPlace) write(name, content string, mode os.FileMode) {
	path := filepath.Join(p.ws, name)
	p.must(testbuild.WriteFile(path, []byte(content), mode))
	p.must(os.Chmod(path, mode))
	p.own(path)
}

// fill puts the values of setup into words: %name%.
func (p *procPlace) fill(text string) string {
	for name, value := range p.values {
		text = strings.ReplaceAll(text, "%"+name+"%", value)
	}
	return text
}

// victim starts a process of the same user outside of the run.
func (p *procPlace) victim() *os.Process {
	cmd := p.as(exec.Command("cat"))
	cmd.Env = []string{"SECRET=zebra-of-another"}
	in, err := cmd.StdinPipe()
	p.must(err)
	p.must(cmd.Start())
	p.t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	return cmd.Process
}

// filled puts the values of setup into questions.
func (p *procPlace) filled(questions []string) (out []string) {
	for _, q := range questions {
		out = append(out, p.fill(q))
	}
	return out
}

var procLeak = regexp.MustCompile(`(?m)^.*(LEAK|TOP-SECRET).*$`)

// procPlay runs one scene for one user and judges it.
func procPlay(t *testing.T, s procScene, bin string, uid int) {
	p := newProcPlace(t, s, bin, uid)
	if _, done := asked.LoadOrStore(s.name+s.toml, true); !done {
		p.ask(t, p.filled(s.denied), p.filled(s.allowed))
	}
	ctx := await.Context(t)
	var all strings.Builder
	start := func(ctx context.Context, args []string) *exec.Cmd {
		return p.command(ctx, slices.Concat([]string{"exec", "--no-prompt"}, s.flags, []string{"t"}, args)...)
	}
	switch {
	case s.means != nil:
		start = s.means.ready(&p.disk, s.leaks)
	case runtime != "":
		start = p.inside(s.flags)
	}
	for _, args := range s.runs {
		args = slices.Clone(args)
		for i := range args {
			args[i] = p.fill(args[i])
		}
		cmd := start(ctx, args)
		for _, e := range s.env {
			cmd.Env = append(cmd.Env, p.fill(e))
		}
		var out []byte
		var err error
		if s.start != nil {
			out, err = s.start(t, p, cmd)
		} else {
			out, err = cmd.CombinedOutput()
		}
		if ctx.Err() != nil {
			t.Errorf("%v does not end", args)
		}
		if s.status >= 0 && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() != s.status {
			t.Errorf("%v ends with %v, %v", args, cmd.ProcessState, err)
		}
		all.Write(out)
	}
	text := p.told(all.String())
	told := map[string]bool{}
	for _, line := range procLeak.FindAllString(text, -1) {
		if !told[line] && len(told) < 20 && !s.leaks.foretold(line) {
			t.Error(line)
		}
		told[line] = true
	}
	if leak := s.leaks.missing(text); leak != "" {
		t.Errorf("the ledger foretells more than there is: %s", leak)
	}
	for _, g := range s.good {
		if !strings.Contains(text, "CONTROL "+g+"\n") {
			t.Errorf("the control did not succeed: %s", g)
		}
	}
	if s.verdict != nil {
		s.verdict(t, p, text)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%.3000s", text)
	}
}

// procStill fails if a process of the run is still at work after its end. A process that was
// killed takes a while to go on a busy host.
func procStill(t *testing.T, p *procPlace, _ string) {
	t.Cleanup(func() {
		for _, pid := range procLeft(p) {
			syscall.Kill(procNumber(pid), syscall.SIGKILL)
		}
	})
	await.Until(t, "no process of the tool is at work or has its lock", func() bool { return len(procLeft(p)) == 0 && !procLocked(p) })
}

// procLocked reports whether a process has the tool's lock: one that starts another and ends within an instant is on no list.
func procLocked(p *procPlace) bool {
	f, err := os.Open(p.ws + "/src/lock")
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == syscall.EWOULDBLOCK
}

// procLeft lists the processes of a run that are at work.
func procLeft(p *procPlace) (out []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		exe, err := os.Readlink("/proc/" + e.Name() + "/exe")
		if err != nil || !strings.HasPrefix(exe, p.ws) {
			continue
		}
		status, _ := os.ReadFile("/proc/" + e.Name() + "/status")
		if !regexp.MustCompile(`(?m)^State:\s+[ZX]`).Match(status) {
			out = append(out, e.Name())
		}
	}
	return out
}

func procNumber(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// procRun plays all scenes as every player.
func procRun(t *testing.T, bin string, scenes []procScene) {
	slots := make(chan struct{}, 6)
	for _, s := range scenes {
		for user, uid := range players(s.root) {
			t.Run(user+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				procPlay(t, s, bin, uid)
			})
		}
	}
}
