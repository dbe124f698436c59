package recorded

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var roots = &ir.Bindings{
	Workspace: "/ws", Home: "/state/home", Temp: "/tmp/run", External: map[string]string{"fork": "/srv/fork", irtest.Elsewhere.Name: "/home/u"},
}

// operation draws an operation as a supervisor judges one, and the capabilities that it wants.
func operation(t *rapid.T) (ir.Operation, ir.CapSet) {
	place := func() ir.Place {
		if rapid.IntRange(0, 4).Draw(t, "outside") == 0 {
			return ir.Direct(ir.Sys(strings.TrimSuffix("srv/"+irtest.Path(t, irtest.Names, 2), "/")))
		}
		// The kernel knows places, whose deepest root is that of their path.
		abs, _ := roots.Path(irtest.Place(t, irtest.Names))
		return ir.Direct(roots.Locate(abs))
	}
	kind := func() ir.NodeKind { return irtest.Kind(t, ir.Unknown, ir.Absent, ir.File, ir.Dir) }
	switch rapid.IntRange(0, 9).Draw(t, "operation") {
	case 0:
		return ir.Rename{Src: place(), Dst: place(), SrcKind: kind(), DstKind: kind()}, 0
	case 1:
		return ir.Link{Src: place(), Dst: place()}, 0
	case 2:
		return ir.Exchange{A: place(), B: place(), AKind: kind(), BKind: kind()}, 0
	case 3:
		return ir.Copy{Src: place(), Dst: place(), DstKind: kind()}, 0
	case 4:
		addr := netip.MustParseAddr(rapid.SampledFrom([]string{"::1", "10.0.0.1", "127.0.0.1"}).Draw(t, "address"))
		to := ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: addr}, Port: rapid.SampledFrom([]uint16{80, 443, 0}).Draw(t, "port")}
		return ir.Connect{To: to, Own: rapid.Bool().Draw(t, "own")}, 0
	case 5:
		return ir.Dial{On: place()}, 0
	case 6:
		if rapid.Bool().Draw(t, "script") {
			by := place()
			return ir.Start{On: place(), Interpreter: &by}, 0
		}
		return ir.Start{On: place()}, 0
	case 7:
		return ir.Listen{Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Port: rapid.Uint16().Draw(t, "port")}, 0
	case 8:
		file := place()
		return ir.Run{Program: rapid.SampledFrom([]string{"git", "/bin/git", "-sh"}).Draw(t, "program"), File: &file, Args: rapid.SliceOf(rapid.String()).Draw(t, "args")}, 0
	default:
		name := rapid.SampledFrom([]ir.NameKind{ir.NameAny, ir.NameDir, ir.NameFile, ir.NameLink}).Draw(t, "name")
		c := rapid.SampledFrom(ir.Capabilities[:]).Draw(t, "capability")
		return ir.Access{Cap: c, On: place(), Name: name}, irtest.Caps(t)
	}
}

// allowed asks a policy about everything that an operation needs.
func allowed(v *ir.View, op ir.Operation, wants ir.CapSet) bool {
	a, ok := op.(ir.Access)
	if !ok {
		return v.Decide(op).Allowed()
	}
	for _, c := range wants.With(a.Cap).List() {
		if !v.Decide(ir.Access{Cap: c, On: a.On, Name: a.Name}).Allowed() {
			return false
		}
	}
	return true
}

// TestReplay: the verdict on an operation that went through a record is the verdict on the
// operation.
func TestReplay(t *testing.T) {
	granted, denied := 0, 0
	irtest.Check(t, 100_000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Names, 5)
		v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
		op, wants := operation(rt)
		want := allowed(v, op, wants)
		a, ok := Of(op, wants, roots)
		if !ok {
			rt.Fatalf("%+v is not recorded", op)
		}
		text, err := json.Marshal(a)
		if err != nil {
			rt.Fatal(err)
		}
		var again Access
		if err := json.Unmarshal(text, &again); err != nil {
			rt.Fatal(err)
		}
		ops, err := again.Operations(roots)
		if err != nil || len(ops) == 0 {
			rt.Fatalf("%s: %v", text, err)
		}
		got := true
		for _, o := range ops {
			got = got && v.Decide(o).Allowed()
		}
		if got != want {
			rt.Fatalf("%+v: found %v, expected %v, by %s", op, got, want, text)
		}
		if got {
			granted++
		} else {
			denied++
		}
	})
	if granted == 0 || denied == 0 {
		t.Errorf("%d granted, %d denied", granted, denied)
	}
}

const good = `{"format":"accessc/run","format_version":2,"tool":"t","traced":true,"roots":{"workspace":"/ws","user_home":"/home/u","external":{"fork":"/srv/fork"}},
"accesses":[{"allowed":true,"times":2,"operation":"read","paths":["/ws/a"],"needs":["read"]}]}`

// TestLoad: a file that is no record, or one that could mislead, gets an error with its name, and
// nothing hangs.
func TestLoad(t *testing.T) {
	for text, want := range map[string]string{
		"": "is empty: the run goes on, or its accessc was killed", good[:len(good)-20]: "or a part of one", "[]": "is not the record of a run", `{"format":"accessc/denials","format_version":1}`: `found the format "accessc/denials"`,
		strings.Replace(good, `sion":2`, `sion":3`, 1):                                 "has version 3 of the format; this accessc reads 2",
		strings.Replace(good, `"/ws/a"`, `"/ws/../a"`, 1):                              `accesses[0]: "/ws/../a" is no canonical path`,
		strings.Replace(good, `"/ws/a"`, `"ws"`, 1):                                    "is no canonical path",
		strings.Replace(good, `"/ws/a"`, `"/a","/b"`, 1):                               "accesses[0]: read of 2 paths",
		strings.Replace(good, `"needs":["read"]`, `"needs":[""]`, 1):                   "an unknown capability",
		strings.Replace(good, `"read","paths"`, `"fly","paths"`, 1):                    `an unknown operation "fly"`,
		strings.Replace(good, `"read","paths":["/ws/a"]`, `"connect","host":"*.a"`, 1): "is no name or address",
		strings.Replace(good, `"times":2`, `"times":-2`, 1):                            "found -2 times",
		strings.Replace(good, `"workspace":"/ws",`, "", 1):                             "not where the workspace was",
		strings.Repeat(" ", maxFile+1):                                                 "larger than",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "x.json: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "has no records") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600)
	runs, err := Load(dir)
	if err != nil || len(runs) != 1 || len(runs[0].Accesses.Accesses) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if err := os.Symlink("x.json", filepath.Join(dir, "y.json")); err == nil {
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "y.json: is not a regular file") {
			t.Error(err)
		}
	}
}

// TestBindings: a rule has the place that it had in the run, or the one that it names by itself.
func TestBindings(t *testing.T) {
	r := Run{Accesses: Accesses{Roots: &Roots{Workspace: "/ws", UserHome: "/home/u", External: map[string]string{"fork": "/srv/fork", "gone": "/srv/gone"}}}}
	tool := ir.NewTool("t")
	for _, name := range []string{"fork", "new", "~/x", "/opt/kit"} {
		tool.FS = append(tool.FS, ir.FSRule{At: ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, External: true})
	}
	got, _ := json.Marshal(r.Bindings(tool).External)
	if want := `{"/opt/kit":"/opt/kit","fork":"/srv/fork","~/x":"/home/u/x"}`; string(got) != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// FuzzRun: a record that is accepted can be asked about.
func FuzzRun(f *testing.F) {
	f.Add(good)
	f.Add(`{"format":"accessc/run","format_version":2,"accesses":[{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := &Run{}
		if json.Unmarshal([]byte(text), r) != nil || r.check() != nil || r.Roots == nil {
			return
		}
		v := ir.NewView(ir.NewTool("t"), ir.Linux, ir.Facts{Bindings: r.Bindings(nil)})
		for _, a := range r.Accesses.Accesses {
			ops, err := a.Operations(r.Bindings(nil))
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range ops {
				v.Decide(op)
			}
		}
	})
}
