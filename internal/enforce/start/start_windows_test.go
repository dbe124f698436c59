package start

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
)

// roleCommand, as the first word of the command line, has this program be a tool.
const roleCommand = "__role"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == roleCommand {
		os.Exit(roles[os.Args[2]](os.Args[3:]))
	}
	os.Exit(m.Run())
}

// wineIgnores are the restrictions that Wine accepts and does not apply, or does not report.
// Tests excuse them there, and one test asserts that no others need it.
var wineIgnores = []string{aboutLimits, aboutUI, aboutPrivileges, aboutIntegrity}

// place is a workspace with the directories that a start needs around it.
type place struct {
	t                   *testing.T
	workspace, home, at string
	journals            journals
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := os.MkdirTemp("", "place-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			t.Error(err)
		}
	})
	p := &place{t, filepath.Join(dir, "ws"), filepath.Join(dir, "home"), dir, journals{filepath.Join(dir, "journal")}}
	if err := os.Mkdir(p.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMP", dir)
	t.Setenv("TMP", dir)
	return p
}

// spec compiles a policy for the place.
func (p *place) spec(change func(*ir.Tool)) *Spec {
	p.t.Helper()
	tool := ir.NewTool("probe")
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	tool.Command = &ir.Command{Program: exe, Args: []string{roleCommand}}
	if change != nil {
		change(tool)
	}
	slash := filepath.ToSlash
	facts := ir.Facts{Bindings: &ir.Bindings{Workspace: slash(p.workspace), Home: slash(p.home)}, Base: []ir.FSRule{}}
	out, err := winjob.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: facts, Context: `{"root":"ws"}`})
	if err != nil || len(out.Refusals) > 0 {
		p.t.Fatal(err, out.Refusals)
	}
	spec, err := Parse(out.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return spec
}

// run is a start at tier 0 in which the restrictions that Wine ignores are excused.
func (p *place) run(spec *Spec, words ...string) *starting {
	req := &Request{Spec: spec, Args: words, Environ: os.Environ(), Messages: io.Discard}
	s := newStarting(&run{req: req, spec: spec, launch: spec.Launch}, p.journals)
	s.excuse = func(d doubt) bool { return onWine() && slices.Contains(wineIgnores, d.about) }
	return s
}

// output runs f with the standard output and error in a pipe, and returns the text written to
// them.
func output(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old, err := windows.GetStdHandle(windows.STD_OUTPUT_HANDLE)
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(w.Fd())); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, r)
		read <- b.String()
	}()
	f()
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, old); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	return strings.ReplaceAll(<-read, "\r", "")
}

// TestStatus: the status of the tool is that of the start.
func TestStatus(t *testing.T) {
	p := newPlace(t)
	for _, want := range []uint32{0, 7, 255, 0xc0000005} {
		got, err := p.run(p.spec(nil), "exit", fmt.Sprint(int32(want))).do()
		if err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
}

// TestArguments: every argument reaches the tool as it is.
func TestArguments(t *testing.T) {
	p := newPlace(t)
	want := []string{"", "a b", `"`, `\`, `a\"b\\`, `c:\dir\`, "näme", "日本", "%PATH%", "^&|<>", "--flag=x y"}
	got := output(t, func() { p.start(p.run(p.spec(nil), append([]string{"args"}, want...)...)) })
	if strings.TrimSpace(got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %s\nwant %q", got, want)
	}
}

// TestEnvironment: the tool has the variables that the policy forwards and those that the
// specification sets, and no others.
func TestEnvironment(t *testing.T) {
	p := newPlace(t)
	machine := map[string]string{}
	for _, name := range []string{"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "PROCESSOR_ARCHITECTURE", "USERNAME"} {
		machine[name] = os.Getenv(name)
		// The caller's value is not the tool's.
		t.Setenv(name, "another")
	}
	t.Setenv("SECRET_TOKEN", "leak")
	t.Setenv("Forwarded", "yes")
	t.Setenv("NODE_OPTIONS", "--require x")
	spec := p.spec(func(tool *ir.Tool) {
		tool.Env = []ir.EnvRule{{Name: "FORWARDED", Read: true}, {Name: "NODE_OPT", Prefix: true, Read: true}}
	})
	got := map[string]string{}
	for _, kv := range strings.Split(output(t, func() { p.start(p.run(spec, "env")) }), "\n") {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			got[strings.ToUpper(name)] = value
		}
	}
	for name, value := range map[string]string{
		"FORWARDED": "yes", "HOME": p.home, "USERPROFILE": p.home, "APPDATA": p.home + `\AppData\Roaming`,
		"LOCALAPPDATA": p.home + `\AppData\Local`, "SYSTEMROOT": os.Getenv("SystemRoot"), "WINDIR": os.Getenv("SystemRoot"),
		"COMSPEC": os.Getenv("SystemRoot") + `\System32\cmd.exe`, "SYSTEMDRIVE": filepath.VolumeName(os.Getenv("SystemRoot")),
		"PATHEXT": ".COM;.EXE;.BAT;.CMD", "PROGRAMDATA": machine["ProgramData"], "ALLUSERSPROFILE": machine["ProgramData"],
		"PROGRAMFILES": machine["ProgramFiles"], "PROGRAMFILES(X86)": machine["ProgramFiles(x86)"], "OS": "Windows_NT",
		"NUMBER_OF_PROCESSORS": fmt.Sprint(runtime.NumCPU()), "PROCESSOR_ARCHITECTURE": machine["PROCESSOR_ARCHITECTURE"], "USERNAME": machine["USERNAME"],
	} {
		if !strings.EqualFold(got[name], value) {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
		delete(got, name)
	}
	for _, name := range []string{"TEMP", "TMP", "TMPDIR", "XDG_RUNTIME_DIR"} {
		if !strings.HasPrefix(strings.ToLower(got[name]), strings.ToLower(filepath.Join(p.at, runPrefix))) {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	for name := range got {
		own := ir.OwnVariable(name, true, ir.Windows)
		// Wine adds these to every process.
		wine := onWine() && strings.HasPrefix(name, "WINE")
		if !own && !wine {
			t.Errorf("the tool has %s", name)
		}
	}
}

// TestWorkingDirectory: the tool starts in the workspace.
func TestWorkingDirectory(t *testing.T) {
	p := newPlace(t)
	if got := output(t, func() { p.start(p.run(p.spec(nil), "where")) }); !strings.EqualFold(got, p.workspace+" <nil>\n") {
		t.Errorf("got %q, want %s", got, p.workspace)
	}
}

// TestContext: the tool finds its Context, and nothing of the run stays behind.
func TestContext(t *testing.T) {
	p := newPlace(t)
	if got := output(t, func() { p.start(p.run(p.spec(nil), "read", "${ACCESSC_CONTEXT}")) }); got != `{"root":"ws"}`+" <nil>\n" {
		t.Errorf("got %q", got)
	}
	p.left(0)
}

// left checks how many directories and journals of runs there are.
func (p *place) left(want int) {
	p.t.Helper()
	dirs, err1 := filepath.Glob(filepath.Join(p.at, runPrefix+"*"))
	journals, err2 := filepath.Glob(filepath.Join(p.journals.dir, "*"+journalSuffix))
	if err1 != nil || err2 != nil || len(dirs) != want || len(journals) != want {
		p.t.Errorf("left behind: %v %v, %v %v; want %d of each", dirs, journals, err1, err2, want)
	}
}

// TestHandles: the tool has the three standard handles and none of the loader's others,
// also where those can be inherited.
func TestHandles(t *testing.T) {
	p := newPlace(t)
	inherit := windows.SecurityAttributes{InheritHandle: 1}
	inherit.Length = uint32(unsafe.Sizeof(inherit))
	// The number of the last handle is above all that the tool has of its own.
	var event windows.Handle
	for range 1000 {
		var err error
		if event, err = windows.CreateEvent(&inherit, 1, 0, nil); err != nil {
			t.Fatal(err)
		}
		defer windows.CloseHandle(event)
	}
	got := output(t, func() { p.start(p.run(p.spec(nil), "handle", fmt.Sprint(uintptr(event)))) })
	want := "given false\n/dev/stdin true\n/dev/stdout true\n/dev/stderr true\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestGroups: the tool has the group of administrators for denial only, and this process
// has it enabled, where it has it at all.
func TestGroups(t *testing.T) {
	p := newPlace(t)
	got := output(t, func() { p.start(p.run(p.spec(nil), "token")) })
	if !strings.Contains(got, "enabled [] <nil>\n") {
		t.Errorf("got %s", got)
	}
	if mine, err := enabled(windows.GetCurrentProcessToken(), []string{"S-1-5-32-544"}); err != nil || onWine() && len(mine) != 1 {
		t.Errorf("this process has %v, %v", mine, err)
	}
}

// TestDefaultList: objects that the tool makes without an access list are open to the user and the
// system, whatever the list of this process is.
func TestDefaultList(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	tok, err := restrictedToken(newPlace(t).spec(nil).Token)
	if err != nil {
		t.Fatal(err)
	}
	defer tok.Close()
	want := []string{"0 0x10000000 S-1-5-18", "0 0x10000000 " + user.User.Sid.String()}
	if got, err := defaultList(tok); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if err := setDefaultList(tok, "no list"); err == nil {
		t.Error("a text that is no list was set")
	}
}

// TestPrivilegesGo: privileges that are named leave the token.
func TestPrivilegesGo(t *testing.T) {
	before, err := privileges(windows.GetCurrentProcessToken())
	if err != nil {
		t.Fatal(err)
	}
	if before < 2 {
		t.Skip("this process has no privileges to take away")
	}
	tok, err := restrictedToken(winjob.Token{
		Restricted: winjob.RestrictedToken{PrivilegesToDelete: []string{"SeShutdownPrivilege", "SeUndockPrivilege"}}, Integrity: "S-1-16-8192",
		DefaultDACL: "D:(A;;GA;;;${user})",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer tok.Close()
	if after, err := privileges(tok); err != nil || after >= before {
		t.Errorf("%d privileges before, %d after, %v", before, after, err)
	}
}

// start does a run that must succeed.
func (p *place) start(r *starting) {
	p.t.Helper()
	if status, err := r.do(); err != nil || status != 0 {
		p.t.Errorf("got %d, %v", status, err)
	}
}
