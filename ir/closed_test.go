package ir

import "testing"

// TestClosed: at a file system of the kernel nothing is granted, whatever rules say about it, about what is around it
// and about what is in it; where nothing is granted anyway, and beside it, nothing changes.
func TestClosed(t *testing.T) {
	tool := NewTool("t")
	tool.FS = []FSRule{
		{Written: ".", At: In(""), Caps: All}, {Written: "root/proc", At: In("root/proc"), Caps: All},
		{Written: "root/proc/1", At: In("root/proc/1"), Caps: Caps(Read)}, {Written: "secret", At: In("secret")},
	}
	bind := &Bindings{Workspace: "/w"}
	kernels := []Closed{{In("root/proc"), "proc"}, {In("root/sys"), "sysfs"}, {In("secret/dev"), "devtmpfs"}, {Sys("opt/root/proc"), "proc"}, {Sys("sys"), "sysfs"}}
	with, without := NewView(tool, Linux, Facts{Bindings: bind, Closed: kernels}), NewView(tool, Linux, Facts{Bindings: bind})
	for _, at := range []Location{
		In("root/proc"), In("root/proc/1/mem"), In("root/proc/2"), In("root/sys/kernel"), In("root"), In("root/x"), In("secret/dev/x"), In("a"),
		Sys("opt/root/proc/1"), Sys("opt/x"), Sys("sys/kernel"),
	} {
		closed := false
		for _, k := range kernels {
			closed = closed || at.Under(k.At)
		}
		for _, c := range All.List() {
			got := with.Decide(Access{Cap: c, On: Direct(at)}).Allowed()
			if want := !closed && without.Decide(Access{Cap: c, On: Direct(at)}).Allowed(); got != want {
				t.Errorf("%s of %s: %v, not %v", c, at, got, want)
			}
		}
	}
	named := 0
	for _, e := range with.Entries() {
		if e.ID == ClosedRule {
			named++
		}
	}
	if stated := len(with.Stated()) - len(without.Stated()); named != 3 || stated != 1 {
		t.Errorf("%d places are closed where something is granted, and the ledger has %d rows more", named, stated)
	}
	if with.Decide(Rename{Src: Direct(In("root")), Dst: Direct(In("moved")), SrcKind: Dir}).Allowed() {
		t.Error("a directory around one is moved")
	}
}

// TestNamesInClosedPlaces: a rule by name opens nothing where the kernel shows itself.
func TestNamesInClosedPlaces(t *testing.T) {
	tool := NewTool("t")
	tool.FS = []FSRule{
		{At: In(""), Names: []string{"environ"}, Caps: All}, {At: In("proc"), Names: []string{"mem"}, Caps: All},
	}
	v := NewView(tool, Linux, Facts{Closed: []Closed{{At: In("proc"), Why: "it is procfs"}}})
	for path, want := range map[string]bool{
		"proc/1/environ": false, "proc/environ": false, "proc/1/mem": false, "proc": false, "a/environ": true,
	} {
		if got := v.Decide(Access{Cap: Read, On: Direct(In(path))}).Allowed(); got != want {
			t.Errorf("read %s: %v", path, got)
		}
	}
}
