package bubblewrap_test

import (
	"errors"
	"slices"
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

// entries are the mounts that bwrap makes of arguments, in their order (bwrap(1)).
func entries(t rapid.TB, s *bubblewrap.Spec) []mnt.Entry {
	t.Helper()
	options, err := s.Options()
	if err != nil {
		t.Fatal(err)
	}
	var out []mnt.Entry
	add := func(e mnt.Entry) {
		out = slices.DeleteFunc(out, func(o mnt.Entry) bool { return o.Place == e.Place })
		out = append(out, e)
	}
	read := ir.Caps(ir.Read, ir.Execute)
	perms := ""
	for _, o := range options {
		mode := perms
		perms = ""
		switch name, try := strings.CutSuffix(o.Name, "-try"); name {
		case "--perms":
			perms = o.Values[0]
		case "--bind", "--ro-bind":
			e := mnt.Entry{Place: o.Values[1], Exists: try}
			switch from := o.Values[0]; {
			case from != e.Place: // a cover
			case name == "--bind":
				e.Gives = ir.All
			default:
				e.Gives = read
			}
			add(e)
		case "--tmpfs":
			e := mnt.Entry{Place: o.Values[0], Gives: ir.All}
			if mode == "0000" || mode == "0111" {
				e.Gives = ir.Write // until it is made read-only
			}
			add(e)
		case "--remount-ro":
			for i := range out {
				if out[i].Place == o.Values[0] {
					out[i].Gives &= read
				}
			}
		case "--dir":
			add(mnt.Entry{Place: o.Values[0]})
		}
	}
	return out
}

// TestProperty: what bwrap makes of the emitted text permits what the policy says, or the ledger in it
// states the difference.
func TestProperty(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 4000, mnt.Cases, func(rt *rapid.T) {
		mnt.Compare(rt, func(tool *ir.Tool, target backends.Target) mnt.Artifact {
			s := compile(rt, tool, target)
			ledger, err := backends.Ledger(s.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			return mnt.Artifact{View: ir.NewView(tool, ir.Linux, ir.Facts{}), Entries: entries(rt, s), Ledger: ledger}
		}, seen)
	})
	irtest.Happened(t, seen, 50_000, "alike", "mounts.whole", "mounts.starts", "mounts.unread", "mounts.late", "mounts.missing", "mounts.own-name", "mounts.apart")
}

// TestParse: a document without one of the options that confine any tool, or with one that no compiler
// writes, is refused.
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
