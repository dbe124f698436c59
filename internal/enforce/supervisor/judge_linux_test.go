package supervisor

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// judged is the judge of a specification as it is read back from its text.
func judged(t *testing.T, tool *ir.Tool, b *ir.Bindings) *judge {
	t.Helper()
	out, err := landlock.Backend{}.Compile(tool, backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: b}})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := landlock.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJudge(spec, "/tmp/accessc-1/tmp")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJudge: places are found under their roots, and places outside of them are denied.
func TestJudge(t *testing.T) {
	at := func(p string, caps ir.CapSet) ir.FSRule { return ir.FSRule{Written: p, At: ir.In(p), Caps: caps} }
	tool := ir.NewTool("t")
	fork := ir.FSRule{Written: "fork", At: ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}, External: true, Caps: ir.All}
	tool.FS = []ir.FSRule{at("", ir.All), at(".env", 0), at("src", ir.Caps(ir.Read)), fork}
	j := judged(t, tool, &ir.Bindings{Workspace: "/w", Home: "/state/home", External: map[string]string{"fork": "/other/fork"}})
	box := &sandbox{self: unix.Getpid(), roots: &j.roots}
	for path, want := range map[string]struct{ read, write bool }{
		"/w/a": {true, true}, "/w/.env": {}, "/w/.env/x": {}, "/w/src/a": {true, false}, "/w/.git/hooks/x": {true, false},
		"/w": {true, true}, "/wx": {}, "/": {}, "/etc/passwd": {true, false}, "/etc/shadow": {}, "/other/fork/a": {true, true}, "/other/x": {},
		"/state/home/x": {true, true}, "/tmp/accessc-1/tmp/x": {true, true}, "/tmp/accessc-1": {}, "": {}, nowhere: {},
		"/proc/meminfo": {true, false}, "/proc/1/status": {}, "/proc/kcore": {}, "/dev/pts/4711": {}, "/dev/shm": {}, "/dev/shm/x": {},
	} {
		if got := j.access(box.at(path), ir.Read).allowed(); got != want.read {
			t.Errorf("read %s: %v", path, got)
		}
		if got := j.metadata(box.at(path)).allowed(); got != want.write {
			t.Errorf("change %s: %v", path, got)
		}
	}
}

// TestJudgeAddresses: an address inside of another form is the same one.
func TestJudgeAddresses(t *testing.T) {
	tool := ir.NewTool("t")
	allow := func(a string, port uint16) ir.NetRule {
		return ir.NetRule{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr(a)}, Port: port, Allow: true}
	}
	tool.Net = []ir.NetRule{allow("127.0.0.1", 80), allow("::1", 81), allow("10.0.0.1", 80)}
	denied := allow("10.0.0.1", 80)
	denied.Allow = false
	tool.Net = append(tool.Net, denied)
	j := judged(t, tool, &ir.Bindings{Workspace: "/w"})
	for a, want := range map[string]bool{
		"127.0.0.1:80": true, "[::ffff:127.0.0.1]:80": true, "127.0.0.1:81": false, "[::1]:81": true, "[::1%lo]:81": true, "[::1]:80": false,
		"127.0.0.2:80": false, "0.0.0.0:80": false, "10.0.0.1:80": false,
	} {
		if got := j.connect(netip.MustParseAddrPort(a), false).allowed(); got != want {
			t.Errorf("%s: %v", a, got)
		}
	}
}

// TestGrantOn: a place where accessc writes beside the tool counts as the tool's also where only the user could grant it during
// the run.
func TestGrantOn(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{Written: "src", At: ir.In("src"), Caps: ir.All}, {Written: ".env", At: ir.In(".env")}}
	tool.May = []ir.FSRule{{Written: "logs", At: ir.In("logs"), Caps: ir.Write}}
	target := backends.Target{Form: backends.Resolved, Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: "/w", Home: "/state/home"}}}
	spec, _, err := landlock.Build(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := newJudge(spec, "/t")
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Ask(tool, target); err != nil {
		t.Fatal(err)
	}
	asks, err := newJudge(spec, "/t")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ asks, plain bool }{
		"/w/src/x": {true, true}, "/w/logs/x": {true, false}, "/w/.env": {}, "/logs/x": {}, "/state/denials": {},
	} {
		if by := asks.grantOn(path, ir.Write); (by != "") != want.asks {
			t.Errorf("%s: %q", path, by)
		}
		if by := plain.grantOn(path, ir.Write); (by != "") != want.plain {
			t.Errorf("%s, where nothing can be granted: %q", path, by)
		}
	}
}

// TestUnjudged: a specification without a policy is no ground to judge on.
func TestUnjudged(t *testing.T) {
	spec, _, err := landlock.Build(ir.NewTool("t"), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newJudge(spec, "/t"); err == nil {
		t.Error("a portable specification was accepted")
	}
	spec.Supervision.Judged = &landlock.Judged{Policy: []byte(`{"format":"accessc/policy","format_version":1,"tools":[]}`)}
	if _, err := newJudge(spec, "/t"); err == nil {
		t.Error("a policy without a tool was accepted")
	}
}
