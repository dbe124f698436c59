package start

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/seatbelt"
	"github.com/accessc/accessc/backends/seatbelt/start"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/sbpl"
	"github.com/accessc/accessc/test/testbuild"
)

// likeMac is a host whose sandbox-exec is this project's reader of profiles: it refuses a text
// that it cannot read, starts the programs that the text lets start, and otherwise prints the
// system's own message. The started programs are those of this system.
type likeMac struct {
	// nested is true inside of another sandbox, idle where profiles do nothing.
	nested, idle bool
	// fails names a call that fails.
	fails string
	// aborts names a program that ends by SIGABRT under a profile.
	aborts string
	// running are the processes of the user.
	running int
	// spelled maps a path to the file system's own spelling.
	spelled map[string]string

	// policy is that of the proxy, held the other end of the hold on it, and holds whether
	// the sweeper has that.
	policy []byte
	held   *os.File
	holds  bool

	calls   []string
	became  []string
	env     []string
	printed string
}

func (m *likeMac) called(name string) error {
	m.calls = append(m.calls, name)
	if m.fails == name {
		return errors.New(name + " fails")
	}
	return nil
}

func (m *likeMac) run(argv, env []string) (ended, error) {
	end, _, err := m.start(argv, env)
	return end, errors.Join(err, m.called("run "+filepath.Base(argv[0])))
}

func (m *likeMac) start(argv, env []string) (ended, string, error) {
	if argv[0] == sandboxExec {
		var end ended
		if end, argv = m.apply(argv); argv == nil {
			return end, "", nil
		}
	}
	var out, said bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	if err != nil {
		return ended{}, "", err
	}
	return endOf(cmd.ProcessState, said.String()), out.String(), nil
}

// apply is sandbox-exec: it returns how that ends, or the command that it becomes.
func (m *likeMac) apply(argv []string) (ended, []string) {
	params := map[string]string{}
	for argv = argv[1:]; len(argv) > 1 && argv[0] == "-D"; argv = argv[2:] {
		name, value, _ := strings.Cut(argv[1], "=")
		params[name] = value
	}
	if len(argv) < 3 || argv[0] != "-f" {
		return ended{code: 64, said: "usage"}, nil
	}
	text, err := os.ReadFile(argv[1])
	if err != nil {
		return ended{code: exitProfile, said: err.Error()}, nil
	}
	profile, err := sbpl.Parse(string(text), params)
	if err != nil {
		return ended{code: exitProfile, said: err.Error()}, nil
	}
	if m.nested {
		return ended{code: exitSystem, said: "sandbox-exec: sandbox_apply: Operation not permitted\n"}, nil
	}
	argv = argv[2:]
	if filepath.Base(argv[0]) == m.aborts {
		return ended{}, []string{"/bin/sh", "-c", "kill -ABRT $$"}
	}
	file, _ := filepath.EvalSymlinks(argv[0])
	allowed, err := profile.Allows("process-exec*", sbpl.Request{Path: file})
	if (err != nil || !allowed || argv[0] == setIDProgram) && !m.idle {
		return ended{code: exitSystem, said: "sandbox-exec: execvp() of '" + argv[0] + "' failed: Operation not permitted\n"}, nil
	}
	return ended{}, argv
}

func (m *likeMac) spelling(path string) (string, error) {
	if other, ok := m.spelled[path]; ok {
		return other, nil
	}
	is, err := filepath.EvalSymlinks(path)
	return is, errors.Join(err, m.called("spelling"))
}

func (m *likeMac) userDirectories() ([]string, error) {
	var out []string
	for _, dir := range []string{"/T", "/C"} {
		out = append(out, os.TempDir()+dir)
		if err := os.MkdirAll(os.TempDir()+dir, 0o700); err != nil {
			return nil, err
		}
	}
	return out, m.called("user directories")
}

func (m *likeMac) processes() (int, error) { return m.running, m.called("processes") }

func (m *likeMac) descriptors() error           { return m.called("descriptors") }
func (m *likeMac) limit([]backends.Limit) error { return m.called("limit") }

func (m *likeMac) egress(p *proxied, _ []string) (egressEnd, error) {
	m.policy = p.setup.Policy
	err := m.called("egress")
	if err != nil {
		return egressEnd{}, err
	}
	held, hold, err := os.Pipe()
	m.held = held
	return egressEnd{port: 40001, url: &url.URL{Scheme: "http", Host: "127.0.0.1:40001", User: url.UserPassword("x", "token")}, hold: hold}, err
}

func (m *likeMac) sweepAfter(_ string, holds []*os.File) error {
	m.holds = len(holds) == 2 // the proxy's and the home's
	return m.called("sweep")
}

var errBecame = errors.New("the process would be another one now")

func (m *likeMac) become(file string, argv, env []string) error {
	m.became, m.env = argv, env
	end, out, err := m.start(argv, env)
	m.printed = out + end.said
	return errors.Join(err, m.called("become"), errBecame)
}

// place is a workspace for a start, in a directory for temporary files of its own.
type place struct{ ws, home, tmp string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := place{dir + "/w s", dir + "/state/home", dir + "/tmp"}
	for _, d := range []string{p.ws, p.tmp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", p.tmp)
	t.Chdir(dir)
	return p
}

func (p place) spec(t *testing.T, tool *ir.Tool, form backends.Form) *start.Spec {
	t.Helper()
	target := backends.Target{
		Form: form, Context: "{}\n", Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: p.ws, Home: p.home}},
	}
	out, err := seatbelt.Backend{}.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatalf("%v %v", err, out.Refusals)
	}
	s, err := start.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// left lists the files that the runs have left behind.
func (p place) left(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"/" + runPrefix + "*", "/T/*", "/C/*"} {
		some, err := filepath.Glob(p.tmp + pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, some...)
	}
	return found
}

func shellTool(text string) *ir.Tool {
	tool := ir.NewTool("t")
	tool.Command = &ir.Command{Program: text, Shell: true}
	return tool
}

// harmless is a tool whose policy macOS can enforce: nothing moves into the private
// directories, since the workspace has the same grants.
func harmless(text string) *ir.Tool {
	tool := shellTool(text)
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In("src/deep/.key"), Caps: 0}}
	return tool
}

func request(args ...string) *Request {
	return &Request{
		Args: args, Environ: []string{"PATH=/usr/bin:/bin", "SECRET=1", "LANG=C"}, Messages: io.Discard, Accept: []string{"fs.move", "limits.processes"},
	}
}

// TestProfileStart: a tool is started under its profile, after a canary, with its own
// environment, in its workspace.
func TestProfileStart(t *testing.T) {
	p := newPlace(t)
	m := &likeMac{}
	tool := harmless(`pwd; env; cat "$ACCESSC_CONTEXT"; echo "$1" >&2; printf x`)
	err := startProfile(request("an arg"), p.spec(t, tool, backends.Resolved), m)
	if !errors.Is(err, errBecame) {
		t.Fatal(err)
	}
	want := []string{"user directories", "spelling", "spelling", "spelling", "run canary", "run sandbox-exec", "run sandbox-exec", "sweep", "limit", "become"}
	if !slices.Equal(m.calls, append([]string{"descriptors"}, want...)) {
		t.Errorf("calls %q", m.calls)
	}
	if len(m.became) < 7 || m.became[0] != "/usr/bin/sandbox-exec" || m.became[1] != "-D" || m.became[3] != "-f" || m.became[5] != "/bin/sh" {
		t.Errorf("became %q", m.became)
	}
	for _, want := range []string{p.ws + "\n", "{}\n", "an arg\n", "HOME=" + p.home + "\n", "LANG=C\n", "TMPDIR=" + strings.TrimPrefix(m.became[2], "TMP=") + "\n",
		"DIRHELPER_USER_DIR_SUFFIX=" + filepath.Base(m.became[2]) + "\n",
	} {
		if !strings.Contains(m.printed, want) {
			t.Errorf("no %q in %q", want, m.printed)
		}
	}
	if strings.Contains(m.printed, "SECRET") {
		t.Errorf("a variable that no rule forwards: %q", m.printed)
	}
	if info, err := os.Stat(p.ws + "/src/deep"); err != nil || !info.IsDir() {
		t.Errorf("the directory that leads to a rule was not made: %v", err)
	}
	if _, err := os.Lstat(p.ws + "/src/deep/.key"); err == nil {
		t.Error("the rule's own path was made")
	}
	if left := p.left(t); len(left) > 0 {
		t.Errorf("left behind %q", left)
	}
}

// reaching is a tool with a rule about a host.
func reaching(text string) *ir.Tool {
	tool := harmless(text)
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "a.test"}, Scheme: "https", Allow: true}}
	tool.Env = append(tool.Env, ir.EnvRule{Name: "HTTPS_PROXY", Read: true})
	return tool
}

// TestProfileEgress: the proxy of a tool with host rules starts before the canary. The profile
// opens its port, its variables take the place of the caller's, and it is held until the
// tool is gone.
func TestProfileEgress(t *testing.T) {
	p := newPlace(t)
	m := &likeMac{}
	req := request()
	req.Environ = append(req.Environ, "HTTPS_PROXY=http://corporate:8080")
	if err := startProfile(req, p.spec(t, reaching("env"), backends.Resolved), m); !errors.Is(err, errBecame) {
		t.Fatal(err)
	}
	defer m.held.Close()
	order := []string{"egress", "run canary", "run sandbox-exec", "run sandbox-exec", "sweep", "become"}
	got := slices.DeleteFunc(m.calls, func(call string) bool { return !slices.Contains(order, call) })
	if !slices.Equal(got, order) || !m.holds {
		t.Errorf("calls %q, held %v", got, m.holds)
	}
	if !slices.Contains(m.became, "PROXY=40001") || !bytes.Contains(m.policy, []byte("a.test")) {
		t.Errorf("became %q, policy %s", m.became, m.policy)
	}
	if strings.Contains(m.printed, "corporate") || strings.Count(m.printed, "HTTPS_PROXY=http://x:token@") != 1 {
		t.Errorf("variables %q", m.printed)
	}
}

// TestProfileEgressEnds: the proxy ends when the start fails after it.
func TestProfileEgressEnds(t *testing.T) {
	for _, fails := range []string{"run canary", "run sandbox-exec", "sweep", "limit"} {
		p := newPlace(t)
		m := &likeMac{fails: fails}
		if err := startProfile(request(), p.spec(t, reaching("true"), backends.Resolved), m); err == nil || slices.Contains(m.calls, "become") {
			t.Errorf("%s: %v, calls %q", fails, err, m.calls)
		}
		if n, err := m.held.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%s: the proxy is held: %v", fails, err)
		}
		_ = m.held.Close()
	}
}

// TestProfileCanary: a canary that does not show that the profile is in force stops the start.
func TestProfileCanary(t *testing.T) {
	open := func(s *start.Spec) { s.Profile = "(version 1)(allow default)" }
	for _, c := range []struct {
		name   string
		host   likeMac
		change func(*start.Spec)
		says   string
	}{
		{"a profile that allows everything", likeMac{}, open, "canary was not denied"},
		{"a system that applies nothing", likeMac{idle: true}, nil, "canary was not denied"},
		{"inside another sandbox", likeMac{nested: true}, nil, "no sandbox inside another one"},
		{"a text that is no profile", likeMac{}, func(s *start.Spec) { s.Profile = "(version 1" }, "refuses the profile"},
		{"a parameter that is not defined", likeMac{}, func(s *start.Spec) { s.Profile += "(allow signal (literal (param \"X\")))" }, "refuses the profile"},
		{"no canary to start", likeMac{fails: "run canary"}, nil, "does not start without"},
		{"a compiler that aborts", likeMac{aborts: "canary"}, nil, "compiler of profiles aborted (SIGABRT)"},
		{"a base under which nothing runs", likeMac{aborts: "true"}, nil, "/usr/bin/true does not run under the profile, which permits it (signal SIGABRT"},
		{"no sandbox-exec", likeMac{fails: "run sandbox-exec"}, nil, "sandbox-exec fails"},
		{"a rule that reaches the canary", likeMac{}, func(s *start.Spec) { s.Profile += `(allow file-read-data (subpath "/"))` }, ""},
		{"that, and a system that applies nothing", likeMac{idle: true}, func(s *start.Spec) { s.Profile += `(allow file-read-data (subpath "/"))` }, "canary was not denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			spec := p.spec(t, harmless("true"), backends.Resolved)
			if c.change != nil {
				c.change(spec)
			}
			err := startProfile(request(), spec, &c.host)
			started := slices.Contains(c.host.calls, "become")
			if started != (c.says == "") || c.says != "" && !strings.Contains(err.Error(), c.says) {
				t.Errorf("started %v, %v", started, err)
			}
			if left := p.left(t); len(left) > 0 {
				t.Errorf("left behind %q", left)
			}
		})
	}
}

// TestProfileFailsClosed: after any failure the tool does not start, nothing is left behind,
// and the code tells the failure.
func TestProfileFailsClosed(t *testing.T) {
	p := newPlace(t)
	file := func(path, text string, mode os.FileMode) {
		if err := testbuild.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	file(p.ws+"/plain", "", 0o644)
	program := func(name string) *ir.Tool {
		tool := harmless("")
		tool.Command = &ir.Command{Program: name}
		return tool
	}
	limited := harmless("true")
	limited.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}}
	crowded := harmless("true")
	crowded.Limits = []ir.Limit{{Kind: ir.LimitProcesses, Value: 300}}
	for _, c := range []struct {
		name string
		host likeMac
		tool *ir.Tool
		form backends.Form
		code int
		says string
	}{
		{"descriptors", likeMac{fails: "descriptors"}, harmless("true"), backends.Resolved, CodeFailed, "descriptors fails"},
		{"spelling", likeMac{fails: "spelling"}, harmless("true"), backends.Resolved, CodeFailed, "spelling fails"},
		{"egress", likeMac{fails: "egress"}, reaching("true"), backends.Resolved, CodeFailed, "the hosts of the policy: egress fails"},
		{"user directories", likeMac{fails: "user directories"}, harmless("true"), backends.Resolved, CodeFailed, "user directories fails"},
		{"processes", likeMac{fails: "processes"}, crowded, backends.Resolved, CodeFailed, "processes fails"},
		{"no room for processes", likeMac{running: 300}, crowded, backends.Resolved, CodeFailed, "limits.processes = 300: this user has 300"},
		{"sweep", likeMac{fails: "sweep"}, harmless("true"), backends.Resolved, CodeFailed, "sweep fails"},
		{"limit", likeMac{fails: "limit"}, harmless("true"), backends.Resolved, CodeFailed, "limit fails"},
		{"portable", likeMac{}, harmless("true"), backends.Portable, CodeFailed, "portable"},
		{"an unmet cell", likeMac{}, limited, backends.Resolved, CodeFailed, "--accept limits.memory"},
		{"no program", likeMac{}, program("no-such-program"), backends.Resolved, CodeNotFound, "not found in PATH"},
		{"no executable", likeMac{}, program("./plain"), backends.Resolved, CodeNotRunnable, "not an executable file"},
		{"another case", likeMac{spelled: map[string]string{p.ws: strings.ToUpper(p.ws)}}, harmless("true"), backends.Resolved, CodeFailed, "to the system"},
		{"no command", likeMac{}, func() *ir.Tool { t := harmless(""); t.Command = nil; return t }(), backends.Resolved, CodeFailed, "has no command"},
	} {
		err := startProfile(request(), p.spec(t, c.tool, c.form), &c.host)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if slices.Contains(c.host.calls, "become") {
			t.Errorf("%s: the tool started", c.name)
		}
		if left := p.left(t); len(left) > 0 {
			t.Errorf("%s: left behind %q", c.name, left)
		}
	}
}

// TestProfileDirectories: a link or a file in the place of a directory that leads to a
// rule stops the start, since the rule would be about nothing.
func TestProfileDirectories(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"a link": func(at string) error { return os.Symlink("/", at) },
		"a file": func(at string) error { return os.WriteFile(at, nil, 0o644) },
	} {
		p := newPlace(t)
		spec := p.spec(t, harmless("true"), backends.Resolved)
		if err := put(p.ws + "/src"); err != nil {
			t.Fatal(err)
		}
		m := &likeMac{}
		if err := startProfile(request(), spec, m); !strings.Contains(err.Error(), "is not a directory") || slices.Contains(m.calls, "become") {
			t.Errorf("%s: %v, calls %q", name, err, m.calls)
		}
	}
}

// TestRemoveRun: with the directory of a run those of its tool go, and no other that a file there
// names.
func TestRemoveRun(t *testing.T) {
	p := newPlace(t)
	run, other := p.tmp+"/accessc-1", p.tmp+"/T/accessc-2"+ofTool
	own := p.tmp + "/T/accessc-1" + ofTool
	for _, dir := range []string{run, own + "/closed", other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(own+"/closed", 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(run+besideFile, []byte(strings.Join([]string{own, other, p.ws, "x"}, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeRun(run); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{run: false, own: false, other: true, p.ws: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestCloseOthers: descriptors that were inherited do not reach the tool.
func TestCloseOthers(t *testing.T) {
	inherited, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	if err := closeOthers(); err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(uintptr(inherited), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
	if flags, err := unix.FcntlInt(2, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
		t.Errorf("standard error has the flags %#x, %v", flags, err)
	}
}
