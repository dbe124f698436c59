package bubblewrap_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/bubblewrap"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

func compile(t rapid.TB, tool *ir.Tool, target backends.Target) *bubblewrap.Spec {
	t.Helper()
	out, err := bubblewrap.Backend{}.Compile(tool, target)
	if err != nil {
		t.Fatal(err)
	}
	s, err := bubblewrap.Parse(out.Data)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Data)
	}
	return s
}

// TestProperty: the sandbox that bwrap makes of the emitted text permits the operations that the policy
// permits, or the ledger in it states the difference.
func TestProperty(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 4000, mnt.Cases, func(rt *rapid.T) {
		mnt.Compare(rt, func(tool *ir.Tool, target backends.Target) mnt.Artifact {
			s := compile(rt, tool, target)
			ledger, err := backends.Ledger(s.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			entries, err := mnt.Bubblewrap(s)
			if err != nil {
				rt.Fatal(err)
			}
			return mnt.Artifact{View: ir.NewView(tool, ir.Linux, ir.Facts{}), Entries: entries, Ledger: ledger}
		}, seen)
	})
	irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.starts", "mounts.late", "mounts.missing", "mounts.apart")
	irtest.Happened(t, seen, "mounts.unread", "mounts.own-name")
}

// TestParse: a document without one of the options that confine any tool, or with an option that no compiler writes, is
// refused.
func TestParse(t *testing.T) {
	out, err := bubblewrap.Backend{}.Compile(ir.NewTool("t"), backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Data)
	if _, err := bubblewrap.Parse(out.Data); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"--disable-userns", `, ""}, {`"--unshare-net"`, `"--share-net"`}, {`"ALL"`, `"CAP_KILL"`}, {`"--dev"`, `"--dev-bind"`},
		{`"--clearenv"`, `"--new-session"`}, {`"--chdir", "${workspace}"`, `"--chdir"`}, {`"format_version": 1`, `"format_version": 2`},
		{`"calls": `, `"calls": 9`}, {`"args"`, `"words"`}, {`"EPERM"`, `"EFUN"`},
	} {
		other := strings.Replace(text, change[0], change[1], 1)
		if other == text {
			t.Fatalf("%s is not in the document", change[0])
		}
		if _, err := bubblewrap.Parse([]byte(other)); !errors.Is(err, bubblewrap.ErrSpec) {
			t.Errorf("%s: %v", change[0], err)
		}
	}
}

// TestArguments: a policy of which bwrap would not take all arguments is refused by the compiler.
func TestArguments(t *testing.T) {
	for places, good := range map[int]bool{1000: true, 3000: false} {
		tool := ir.NewTool("t")
		for i := range places {
			name := fmt.Sprintf("file%d", i)
			tool.FS = append(tool.FS, ir.FSRule{Written: name, At: ir.In(name), Caps: ir.Caps(ir.Read)})
		}
		out, err := bubblewrap.Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil || (len(out.Refusals) == 0) != good || (out.Data != nil) != good {
			t.Errorf("%d places: %v, %+v", places, err, out.Refusals)
		}
	}
}

var update = flag.Bool("update", false, "write what the compiler yields now into the golden files")

// TestGolden compares the text of whole artifacts.
func TestGolden(t *testing.T) {
	tool := ir.NewTool("deploy")
	tool.Command = &ir.Command{Program: "make", Args: []string{"-j4"}}
	fork := ir.Location{Root: ir.Root{Kind: ir.External, Name: "fork"}}
	tool.FS = []ir.FSRule{
		{At: ir.In(""), Caps: ir.Caps(ir.Read)}, {At: ir.In("build"), Caps: ir.All}, {At: ir.In("build/a/keys")}, {At: ir.In("build/token")},
		{At: ir.In("build/gone")}, {Written: "fork", At: fork, External: true, Caps: ir.Write.With(ir.Read)},
	}
	tool.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "api.example.com"}, Scheme: "https", Allow: true}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitWallTime, Value: 120_000}, {Kind: ir.LimitMemory, Value: 1 << 30}}
	tool.Accept = []ir.Acceptance{{Gap: ir.GapFSExecute}}
	files := map[string]ir.NodeKind{"/w/build/token": ir.File, "/w/build/gone": ir.Absent}
	host := backends.Target{
		Form:  backends.Resolved,
		Facts: ir.Facts{Bindings: &ir.Bindings{Workspace: "/w", Home: "/state/home", External: map[string]string{"fork": "/data/fork"}}},
		Node: func(place string) (ir.NodeKind, string) {
			if kind, listed := files[place]; listed {
				return kind, place
			}
			if to, link := map[string]string{"/bin": "/usr/bin", "/lib": "/usr/lib", "/lib64": "/usr/lib64", "/sbin": "/usr/sbin"}[place]; link {
				return ir.Dir, to
			}
			return ir.Dir, place
		},
	}
	for name, target := range map[string]backends.Target{"portable": {Form: backends.Portable}, "resolved": host} {
		out, err := bubblewrap.Backend{}.Compile(tool, target)
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".json"
		if *update {
			if err := os.WriteFile(file, out.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(out.Data, want) {
			t.Errorf("%s differs from what is compiled now: %v", file, err)
		}
	}
}
