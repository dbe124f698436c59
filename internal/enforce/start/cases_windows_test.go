package start

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/await"
)

// cases are the claims that the ledger names as unverified, done for real: each starts tools in
// AppContainers and compares their abilities with the ledger.
var cases = map[string]func(*place){
	"absent": absentCase, "ambient": ambientCase, "child-pipes": childPipesCase, "childless": childlessCase, "console": consoleCase,
	"environment": environmentCase, "preparation": preparationCase,
	"hard-link": hardLinkCase, "hidden": hiddenCase, "library": libraryCase, "limits": limitsCase, "listed": listedCase,
	"lists": listsCase, "metadata": metadataCase, "moved": movedCase, "msys": msysCase, "names": namesCase, "network": networkCase,
	"own-list": ownListCase, "pinned": pinnedCase, "pipes": pipesCase, "processes": processesCase, "profile": profileCase,
	"replace": replaceCase, "socket": socketCase, "symlink": symlinkCase,
}

// TestEveryCaseIsThere: the ledger names exactly the existing cases.
func TestEveryCaseIsThere(t *testing.T) {
	if got := slices.Sorted(maps.Keys(cases)); !slices.Equal(got, winjob.Cases()) {
		t.Errorf("there are %v, the ledger names %v", got, winjob.Cases())
	}
}

// TestOnWindows: AppContainers behave as the ledger says.
func TestOnWindows(t *testing.T) {
	if tier := tierOf(obstacles()); tier < 1 {
		if os.Getenv("CI") != "" && !onWine() {
			t.Fatalf("there are no AppContainers here to be relied upon: %+v", obstacles())
		}
		t.Skip("there are no AppContainers here to be relied upon")
	}
	if nested, err := inJob(windows.CurrentProcess(), 0); err != nil || nested {
		t.Logf("this process is in a job: %v, %v", nested, err)
	}
	for _, name := range winjob.Cases() {
		t.Run(name, func(t *testing.T) { cases[name](newPlace(t)) })
	}
}

// outcome is a tool's report of one attempt.
type outcome struct {
	ok   bool
	said string
}

// contained runs this program in an AppContainer, under rules such as "dir: read create". It is
// itself at bin\probe.exe, which every policy lets start.
func (p *place) contained(rules []string, change func(*ir.Tool), words ...string) outcome {
	p.t.Helper()
	return p.attempt(p.prepared(rules, change, words...))
}

func (p *place) prepared(rules []string, change func(*ir.Tool), words ...string) *starting {
	p.t.Helper()
	exe := p.copyOf(`bin\probe.exe`)
	r := p.run(p.spec(func(tool *ir.Tool) {
		tool.Command.Program = exe
		tool.FS = policy(append(rules, "bin: read execute"))
		tool.Home = ir.HomePrivate
		if change != nil {
			change(tool)
		}
	}), words...)
	r.tier, r.excuse = 1, nil
	return r
}

func (p *place) attempt(r *starting) outcome {
	p.t.Helper()
	var status uint32
	var err error
	said := output(p.t, func() { status, err = r.do() })
	if err != nil {
		p.t.Errorf("%q did not start: %v", r.req.Args, err)
	}
	return outcome{err == nil && status == 0, strings.TrimSpace(said)}
}

// policy reads rules in the short form of these tests.
func policy(lines []string) []ir.FSRule {
	var out []ir.FSRule
	for _, line := range lines {
		path, caps, _ := strings.Cut(line, ":")
		r := ir.FSRule{Written: path, At: ir.In(strings.TrimPrefix(path, "."))}
		for _, word := range strings.Fields(caps) {
			c, ok := ir.ParseCapability(word)
			if !ok {
				panic(word)
			}
			r.Caps |= ir.Caps(c)
		}
		out = append(out, r)
	}
	return out
}

func (p *place) in(name string) string { return filepath.Join(p.workspace, name) }

func (p *place) file(name, text string) string {
	p.t.Helper()
	file := p.in(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// copyOf copies this program to a name.
func (p *place) copyOf(name string) string {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.file(name, string(data))
}

// want checks an attempt.
func (p *place) want(ok bool, got outcome, what string) {
	p.t.Helper()
	if got.ok != ok {
		p.t.Errorf("%s: got %v (%s), want %v", what, got.ok, got.said, ok)
	}
}

// listsCase: each capability alone permits its own operations and no others.
func listsCase(p *place) {
	attempts := map[ir.Capability]func() []string{
		ir.Read:   func() []string { return []string{"try", "read", p.file(`d\file`, "x")} },
		ir.Create: func() []string { return []string{"try", "create", p.in(`d\new`)} },
		ir.Update: func() []string { return []string{"try", "update", p.file(`d\file`, "x")} },
		ir.Delete: func() []string { return []string{"try", "delete", p.file(`d\file`, "x")} },
	}
	for _, granted := range []ir.Capability{ir.Read, ir.Create, ir.Update, ir.Delete, ir.Execute} {
		for c, words := range attempts {
			_ = os.Remove(p.in(`d\new`))
			got := p.contained([]string{"d: " + granted.String()}, nil, words()...)
			p.want(c == granted, got, fmt.Sprintf("%s with %s", c, granted))
		}
	}
	exe := p.copyOf(`x\probe.exe`)
	p.want(true, p.contained([]string{"x: read execute"}, nil, "try", "start", exe), "start with execute")
	p.want(false, p.contained([]string{"x: read"}, nil, "try", "start", exe), "start without execute")
	p.file(`d\below\file`, "x")
	p.want(false, p.contained([]string{"d: read", `d/below:`}, nil, "try", "read", p.in(`d\below\file`)), "read below an exception")
	p.want(true, p.contained([]string{"d:", `d/below: read`}, nil, "try", "read", p.in(`d\below\file`)), "read within an exception")
}

// hiddenCase: a file without a grant has no size or times either, but where the directory above
// may be listed.
func hiddenCase(p *place) {
	p.file(`d\file`, "x")
	p.want(false, p.contained([]string{"other: read"}, func(*ir.Tool) { p.file(`other\x`, "") }, "try", "stat", p.in(`d\file`)), "stat")
	p.want(true, p.contained([]string{"d: read", "d/file:"}, nil, "try", "stat", p.in(`d\file`)), "stat below a list")
}

// movedCase: a file that another process moves in during a run is closed, and a file that a
// tool moves keeps its access.
func movedCase(p *place) {
	p.file(`d\x`, "")
	outside := filepath.Join(p.in(".."), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	go p.when(func() { _ = os.Rename(outside, p.in(`d\in`)) })
	p.want(false, p.contained([]string{"d: read create update delete"}, nil, "wait", p.in(`d\in`), "read", p.in(`d\in`)), "read of what was moved in")
	p.file(`ro\x`, "")
	p.file(`rw\file`, "x")
	got := p.contained([]string{"ro: read create", "rw: read create update delete"}, nil, "try", "rename-update", p.in(`rw\file`), p.in(`ro\file`))
	p.want(true, got, "update of what was moved to where it may not be updated")
}

// when does something as soon as the tool of this place waits for it.
func (p *place) when(f func()) {
	await.Until(p.t, "the tool waits", func() bool {
		found, _ := filepath.Glob(filepath.Join(p.at, runPrefix+"*", "tmp", "waiting"))
		return len(found) > 0
	})
	f()
}

// absentCase: a path that is missing at the start gets the grants of the directory above.
func absentCase(p *place) {
	p.file(`d\x`, "")
	go p.when(func() { p.file(`d\later`, "x") })
	p.want(false, p.contained([]string{"d: read", "d/later: read update"}, nil, "wait", p.in(`d\later`), "update", p.in(`d\later`)), "update of what appeared")
}

// pinnedCase: the path of a rule, and the directories that lead to it, can be neither removed
// nor renamed.
func pinnedCase(p *place) {
	p.file(`d\a\file`, "x")
	rules := []string{"d: read create update delete", "d/a/file: read"}
	p.want(false, p.contained(rules, nil, "try", "rename", p.in(`d\a`), p.in(`d\b`)), "rename of what leads to a rule")
	p.want(false, p.contained(rules, nil, "try", "rename", p.in(`d\a\file`), p.in(`d\a\other`)), "rename of a rule's path")
	p.want(false, p.contained(rules, nil, "try", "delete", p.in(`d\a\file`)), "removal of a rule's path")
}

// symlinkCase: an AppContainer makes no symbolic links.
func symlinkCase(p *place) {
	p.file(`d\file`, "x")
	p.want(false, p.contained([]string{"d: read create update delete"}, nil, "try", "symlink", p.in(`d\file`), p.in(`d\link`)), "symlink")
}

// libraryCase: a library loads where execute is granted, and only there.
func libraryCase(p *place) {
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "version.dll"))
	if err != nil {
		p.t.Fatal(err)
	}
	file := p.file(`d\copy.dll`, string(data))
	p.want(false, p.contained([]string{"d: read"}, nil, "try", "library", file), "library with read")
	p.want(true, p.contained([]string{"d: read execute"}, nil, "try", "library", file), "library with execute")
	if _, err := p.prepared([]string{"bin/probe.exe: read"}, nil, "exit", "0").do(); err == nil {
		p.t.Error("the first program started without execute")
	}
}

// listedCase: where programs are listed, those of the workspace start only if listed, and those
// of the system always.
func listedCase(p *place) {
	listed, other := p.copyOf(`d\listed.exe`), p.copyOf(`d\other.exe`)
	only := func(tool *ir.Tool) {
		at := ir.In("d/listed.exe")
		own := ir.In("bin/probe.exe")
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
			{Program: "listed", File: &at, AnyArgs: true, AllEnvs: true}, {Program: "probe", File: &own, AnyArgs: true, AllEnvs: true},
		}}
	}
	rules := []string{"d: read execute"}
	p.want(true, p.contained(rules, only, "try", "start", listed), "a listed program")
	p.want(false, p.contained(rules, only, "try", "start", other), "another program")
	p.want(true, p.contained(rules, only, "try", "shell"), "a program of the system")
}

// childlessCase: a tool that may start no program starts none.
func childlessCase(p *place) {
	none := func(tool *ir.Tool) { tool.Commands = &ir.CommandSet{} }
	r := p.prepared(nil, none, "try", "shell")
	// The tool's own program is not in the list of an empty table.
	r.spec.Programs = []winjob.Program{{File: p.in(`bin\probe.exe`), Grants: []winjob.Grant{"open", "read", "execute"}}}
	p.want(false, p.attempt(r), "a program of the system")
}

// metadataCase: with update, the times of a file can be set, but not those of a directory, and
// not the access list.
func metadataCase(p *place) {
	file := p.file(`d\file`, "x")
	rules := []string{"d: read create update delete"}
	p.want(true, p.contained(rules, nil, "try", "times", file), "times of a file")
	p.want(false, p.contained(rules, nil, "try", "times", p.in("d")), "times of a directory")
	p.want(false, p.contained(rules, nil, "try", "list", file), "the access list")
}

// socketCase: without update of its file a socket is not connected to. With it, the system
// decides, and the test logs the result.
func socketCase(p *place) {
	p.file(`d\x`, "")
	file := p.in(`d\socket`)
	l, err := net.Listen("unix", file)
	if err != nil {
		p.t.Skip(err)
	}
	defer l.Close()
	p.want(false, p.contained([]string{"d: read"}, nil, "try", "connect", "unix", file), "connecting without update")
	p.t.Logf("with update: %+v", p.contained([]string{"d: read update"}, nil, "try", "connect", "unix", file))
}

// replaceCase: replacing a file by a rename takes create and delete, and no update.
func replaceCase(p *place) {
	for caps, want := range map[string]bool{"create delete": true, "update": false} {
		p.file(`d\old`, "old")
		p.file(`d\new`, "new")
		p.want(want, p.contained([]string{"d: " + caps}, nil, "try", "rename", p.in(`d\new`), p.in(`d\old`)), "replacing with "+caps)
	}
}

// hardLinkCase: a hard link takes update of the file, and no read.
func hardLinkCase(p *place) {
	for caps, want := range map[string]bool{"update": true, "read": false} {
		_ = os.Remove(p.in(`to\link`))
		p.file(`to\x`, "")
		file := p.file(`d\file`, "x")
		p.want(want, p.contained([]string{"d: " + caps, "to: read create"}, nil, "try", "link", file, p.in(`to\link`)), "a link with "+caps)
	}
}

// namesCase: a rule on a name that no file can have is about nothing.
func namesCase(p *place) {
	p.file(`d\a`, "x")
	p.want(false, p.contained([]string{"d:", "d/a|b: read"}, nil, "try", "read", p.in(`d\a|b`)), "an impossible name")
	p.want(false, p.contained([]string{"d:", "d/a: "}, nil, "try", "read", p.in(`d\a:stream`)), "a stream of a file that is withheld")
}

// ownListCase: a process that makes a file chooses its list.
func ownListCase(p *place) {
	p.file(`d\x`, "")
	p.want(true, p.contained([]string{"d: create"}, nil, "try", "own", p.in(`d\own`)), "reading what was made with a list of its own")
}

// ambientCase: the system's directories are open to read, the user's are not.
func ambientCase(p *place) {
	root, err := windows.GetWindowsDirectory()
	if err != nil {
		p.t.Fatal(err)
	}
	p.want(true, p.contained(nil, nil, "try", "read", filepath.Join(root, "win.ini")), "a file of the system")
	file := filepath.Join(p.in(".."), "private")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		p.t.Fatal(err)
	}
	p.want(false, p.contained(nil, nil, "try", "read", file), "a file of the user")
	p.want(false, p.contained(nil, nil, "try", "create", file+"2"), "a new file of the user")
}

// profileCase: every AppContainer has a directory to write in, and it goes with the run.
func profileCase(p *place) {
	r := p.prepared(nil, nil)
	r.id = "profilecase"
	name, err := winjob.RunName(r.spec.Container.Security.AppContainerName, r.id)
	if err != nil {
		p.t.Fatal(err)
	}
	local, err := windows.KnownFolderPath(windows.FOLDERID_LocalAppData, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	dir := filepath.Join(local, "Packages", name, "AC")
	r.req.Args = []string{"try", "create", filepath.Join(dir, "new")}
	p.want(true, p.attempt(r), "a file in the profile")
	if _, err := os.Stat(dir); err == nil {
		p.t.Errorf("%s is still there", dir)
	}
}

// pipesCase: a named pipe is open to the tool if it has an entry for all packages.
func pipesCase(p *place) {
	for sddl, want := range map[string]bool{"D:(A;;GA;;;WD)(A;;GA;;;AC)": true, "D:(A;;GA;;;WD)": false} {
		sd, err := windows.SecurityDescriptorFromString(sddl)
		if err != nil {
			p.t.Fatal(err)
		}
		sa := windows.SecurityAttributes{SecurityDescriptor: sd}
		name := fmt.Sprintf(`\\.\pipe\accessc-test-%d-%v`, os.Getpid(), want)
		wide, err := windows.UTF16PtrFromString(name)
		if err != nil {
			p.t.Fatal(err)
		}
		h, err := windows.CreateNamedPipe(wide, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, 1, 512, 512, 0, &sa)
		if err != nil {
			p.t.Fatal(err)
		}
		p.want(want, p.contained(nil, nil, "try", "open", name), sddl)
		_ = windows.CloseHandle(h)
	}
}

// networkCase: the tool reaches no address, not on this machine either, and is not reached.
func networkCase(p *place) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer l.Close()
	p.want(false, p.contained(nil, nil, "try", "connect", "tcp", l.Addr().String()), "this machine")
	p.want(false, p.contained(nil, nil, "try", "connect", "tcp", "1.1.1.1:443"), "an address")
	p.want(false, p.contained(nil, nil, "try", "resolve", "example.com"), "a name")
}

// processesCase: no process of the user can be opened, with any rights.
func processesCase(p *place) {
	for _, right := range []uint32{
		windows.PROCESS_TERMINATE, windows.PROCESS_CREATE_PROCESS, windows.PROCESS_DUP_HANDLE, windows.PROCESS_VM_READ,
		windows.PROCESS_VM_WRITE, windows.PROCESS_CREATE_THREAD, windows.PROCESS_QUERY_INFORMATION, windows.PROCESS_SUSPEND_RESUME,
	} {
		p.want(false, p.contained(nil, nil, "try", "process", fmt.Sprint(os.Getpid()), fmt.Sprint(right)), fmt.Sprintf("right %#x", right))
	}
}

// environmentCase: the variables reach the tool as they were set, in an AppContainer, too.
func environmentCase(p *place) {
	got := p.contained(nil, nil, "env").said
	for _, want := range []string{"LOCALAPPDATA=" + p.home + `\AppData\Local`, "USERPROFILE=" + p.home, "TEMP=" + filepath.Join(p.in("..")) + `\` + runPrefix} {
		if !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			p.t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// limitsCase: memory, processes and time are limited for all of the tool together.
func limitsCase(p *place) {
	limit := func(k ir.LimitKind, v uint64) func(*ir.Tool) {
		return func(tool *ir.Tool) { tool.Limits = []ir.Limit{{Kind: k, Value: v}} }
	}
	p.want(true, p.contained(nil, nil, "try", "memory", "268435456"), "memory without a limit")
	p.want(false, p.contained(nil, limit(ir.LimitMemory, 128<<20), "try", "memory", "268435456"), "memory over the limit")
	p.want(false, p.contained(nil, limit(ir.LimitProcesses, 1), "try", "shell"), "a second process")
	r := p.prepared(nil, limit(ir.LimitCPUTime, 1000), "try", "spin") // which ends by the limit alone
	r.req.Messages = io.Discard
	p.want(false, p.attempt(r), "time")
}
