package oci_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/oci"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/mnt"
)

// apart compiles a tool for a container without accessc, and reads the document back.
func apart(t fataler, tool *ir.Tool, target backends.Target) *oci.Document {
	t.Helper()
	tool.Command = &ir.Command{Program: "make"}
	out, err := oci.Apart{}.Compile(tool, target)
	if err != nil || out.Data == nil {
		t.Fatal(err, out.Refusals)
	}
	doc, err := oci.Parse(out.Data)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// entries are the mounts that a runtime makes, as far as the tool can tell.
func entries(c oci.Config) []mnt.Entry {
	var out []mnt.Entry
	for _, m := range c.Mounts {
		has := func(o string) bool { return slices.Contains(m.Options, o) }
		e := mnt.Entry{Place: m.Destination, Gives: ir.All, Exists: m.Destination != "${workspace}"}
		switch {
		case m.Destination == "/tmp":
			e.Place, e.Exists = "${tmp}", false
		case m.Type != "bind" && has("ro"), m.Type == "bind" && m.Source != m.Destination:
			e.Gives = 0 // covers
		case has("ro"):
			e.Gives = ir.Caps(ir.Read, ir.Execute)
		}
		if has("noexec") {
			e.Gives = e.Gives.Without(ir.Execute)
		}
		out = append(out, e)
	}
	return out
}

// TestMountsAgainstPolicy: the mounts that a runtime makes permit the operations that the policy permits, or
// the ledger states the difference.
func TestMountsAgainstPolicy(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 2000, mnt.Cases, func(rt *rapid.T) {
		mnt.Compare(rt, func(tool *ir.Tool, target backends.Target) mnt.Artifact {
			doc := apart(rt, tool, target)
			ledger, err := backends.Ledger(doc.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			return mnt.Artifact{View: ir.NewView(tool, ir.Linux, ir.Facts{}), Entries: entries(doc.Config), Ledger: ledger}
		}, seen)
	})
	irtest.Happened(t, seen, "alike", "mounts.whole", "mounts.late", "mounts.missing", "mounts.apart")
	irtest.Happened(t, seen, "mounts.unread", "mounts.own-name")
}

// TestEveryCellApart states each cell once, with a sentence wherever it is not exact, and a gap where it is weaker.
func TestEveryCellApart(t *testing.T) {
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := irtest.ToolByName(rt, irtest.Plain, 5)
		tool.Base = rapid.SampledFrom([]ir.BaseName{ir.BaseSystem, ir.BaseMinimal, ir.BaseNone}).Draw(rt, "base")
		tool.Net = irtest.NetRules(rt, 4)
		tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitCPUTime, Value: 1000}, {Kind: ir.LimitWallTime, Value: 1}}
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "make"}}}
		ledger, err := backends.Ledger(apart(rt, tool, backends.Target{Form: backends.Portable}).Ledger)
		if err != nil {
			rt.Fatal(err)
		}
		for _, c := range ir.NewView(tool, ir.Linux, ir.Facts{}).Cells() {
			checkRows(rt, ledger.On(0, 0), c, 1)
		}
	})
}

// TestMovedApart: cells of places that other tools may move assume that none does, cells of a root do not.
func TestMovedApart(t *testing.T) {
	ledger, err := backends.Ledger(apart(t, example(), backends.Target{Form: backends.Portable}).Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range ir.NewView(example(), ir.Linux, ir.Facts{}).Cells() {
		r, ok := c.Rule.(*ir.FSRule)
		if !ok || c.Resource != ir.FS {
			continue
		}
		for _, row := range ledger {
			if slices.Contains(row.Rules, c.ID) && slices.Contains(row.Aspects, c.Aspect) && row.Resource == ir.FS {
				if got, want := slices.ContainsFunc(row.Held.Causes, func(c ir.Cause) bool { return c.ID == "oci.moved" }), r.At == ir.In("out") || r.At == ir.In("out/.env") || r.Guards(); got != want {
					t.Errorf("%s %v: %+v", r.Written, c.Aspect, row.Held)
				}
			}
		}
	}
}

// host is a disk with the workspace of the example.
func host(place string) (ir.NodeKind, string) {
	switch place {
	case "/", "/srv", "/state", "/state/home", "/srv/project", "/srv/project/out", "/srv/fork", "/state/home/deploy", "/usr":
		return ir.Dir, place
	case "/srv/project/out/.env":
		return ir.File, place
	}
	return ir.Absent, place
}

// mergedApart merges the example, without accessc inside, into a configuration.
func mergedApart(t *testing.T, config string) (*specs.Spec, []byte, error) {
	t.Helper()
	target := backends.Target{Form: backends.Resolved, Node: host, Facts: ir.Facts{Bindings: &ir.Bindings{
		Workspace: "/srv/project", Home: "/state/home/deploy", External: map[string]string{"fork": "/srv/fork"},
	}}}
	c, err := oci.ParseConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	text, err := oci.Merge(c, apart(t, example(), target))
	return c, text, err
}

// TestMergeApart looks at all that a merge changes where accessc does not start inside.
func TestMergeApart(t *testing.T) {
	config := with(t, `{"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}`, `{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["ro", "nosuid", "rw"]},
		{"destination": "/dev/pts", "type": "devpts"}, {"destination": "/dev/mqueue", "type": "mqueue"}, {"destination": "/dev/shm", "type": "tmpfs"},
		{"destination": "/sys", "type": "none", "source": "/sys", "options": ["rbind"]}, {"destination": "/sys/fs/cgroup", "type": "cgroup"},
		{"destination": "/tmp", "type": "tmpfs"}, {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["bind", "ro"]}`)
	config = strings.Replace(config, `"PATH=/bin",`, `"PATH=/bin", "TOKEN=x", "GOGC=1", "HOME=/root",`, 1)
	c, text, err := mergedApart(t, config)
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = s.Validate(doc)
	}
	if err != nil {
		t.Error(err)
	}
	p := c.Process
	if !slices.Equal(p.Args, []string{"make"}) || p.Cwd != "/srv/project" || !c.Root.Readonly || !p.NoNewPrivileges {
		t.Errorf("the process is %+v", p)
	}
	if want := []string{"PATH=/bin", "GOGC=1", "GODEBUG=madvdontneed=1", "TERM=xterm", "TMPDIR=/tmp", "HOME=/state/home/deploy"}; !slices.Equal(p.Env, want) {
		t.Errorf("the environment is %q", p.Env)
	}
	var mounts []string
	for _, m := range c.Mounts {
		mounts = append(mounts, m.Destination+" "+m.Type+" "+strings.Join(m.Options, ","))
	}
	want := []string{
		"/proc proc ", "/dev tmpfs ro,nosuid", "/dev/pts devpts ", "/usr bind bind,ro", "/tmp tmpfs nosuid,nodev,mode=1777",
		"/dev/shm tmpfs nosuid,nodev,noexec,mode=1777",
		"/srv/fork bind bind,ro,nosuid,nodev,noexec", "/srv/project bind bind,ro,nosuid,nodev",
		"/srv/project/out bind bind,rw,nosuid,nodev,noexec", "/srv/project/out/.env bind bind,ro,nosuid,nodev,noexec",
		"/state/home/deploy bind bind,rw,nosuid,nodev",
	}
	if !slices.Equal(mounts, want) {
		t.Errorf("the mounts are\n%s", strings.Join(mounts, "\n"))
	}
	if !slices.Contains(c.Linux.MaskedPaths, "/sys") || !slices.Contains(c.Linux.MaskedPaths, "/proc/kcore") || !slices.Contains(c.Linux.ReadonlyPaths, "/proc/sys") {
		t.Errorf("masks are %q, read-only %q", c.Linux.MaskedPaths, c.Linux.ReadonlyPaths)
	}
	if i := slices.IndexFunc(p.Rlimits, func(l specs.POSIXRlimit) bool { return l.Type == "RLIMIT_CPU" }); i < 0 || p.Rlimits[i].Hard != 60 {
		t.Errorf("the limits are %+v", p.Rlimits)
	}
	if !slices.ContainsFunc(c.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type == specs.NetworkNamespace && n.Path == "" }) {
		t.Errorf("the namespaces are %+v", c.Linux.Namespaces)
	}
}

// TestContradictionsApart: without accessc inside, more parts of a bundle grant access that the policy denies.
func TestContradictionsApart(t *testing.T) {
	mount := func(m string) string { return with(t, `"mounts": [`, `"mounts": [`+m+`, `) }
	for name, c := range map[string]struct{ config, want string }{
		"a volume":                        {mount(`{"destination": "/data", "type": "bind", "source": "/x", "options": ["rbind", "rw"]}`), "/data can be written to"},
		"one with mounts inside":          {mount(`{"destination": "/data", "type": "bind", "source": "/x", "options": ["rbind", "ro"]}`), "/data can be written to"},
		"both words":                      {mount(`{"destination": "/data", "type": "bind", "source": "/x", "options": ["bind", "ro", "rw"]}`), "/data can be written to"},
		"both words, below as well":       {mount(`{"destination": "/data", "type": "bind", "source": "/x", "options": ["rro", "rrw"]}`), "/data can be written to"},
		"rw below":                        {mount(`{"destination": "/data", "type": "bind", "source": "/x", "options": ["bind", "ro", "rrw"]}`), "/data can be written to"},
		"a host's devices, called memory": {with(t, `"type": "tmpfs", "source": "tmpfs"`, `"type": "tmpfs", "source": "/dev", "options": ["rbind"]`), "/dev can be written to"},
		"memory in the place of a cover":  {mount(`{"destination": "/srv/project/out/.env", "type": "tmpfs"}`), "in the way of /srv/project"},
		"in the workspace":                {mount(`{"destination": "/srv/project/out", "type": "bind", "source": "/x", "options": ["bind", "ro"]}`), "in the way of /srv/project"},
		"a device":                        {with(t, `"linux": {`, `"linux": {"devices": [{"path": "/dev/kvm", "type": "c", "major": 10, "minor": 232}], `), "linux.devices has /dev/kvm"},
		"the host's network":              {with(t, `{"type": "pid"}`, `{"type": "pid"}, {"type": "network", "path": "/proc/1/ns/net"}`), "shares the network namespace"},
		"another filter":                  {with(t, `"linux": {`, `"linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW"}, `), "another filter"},
	} {
		if _, text, err := mergedApart(t, c.config); err == nil || !strings.Contains(err.Error(), c.want) || text != nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// passesFilter evaluates a filter as libseccomp does: a call passes if one of its rules is true.
func passesFilter(s *specs.LinuxSeccomp, call string, args [6]uint64) bool {
	for _, r := range s.Syscalls {
		if !slices.Contains(r.Names, call) || r.Action != specs.ActAllow {
			continue
		}
		all := true
		for _, a := range r.Args {
			switch a.Op {
			case specs.OpEqualTo:
				all = all && args[a.Index] == a.Value
			case specs.OpMaskedEqual:
				all = all && args[a.Index]&a.Value == a.ValueTwo
			case specs.OpNotEqual, specs.OpLessThan, specs.OpLessEqual, specs.OpGreaterEqual, specs.OpGreaterThan:
				all = false // the filter has none of these
			default:
				all = false
			}
		}
		if all {
			return true
		}
	}
	return false
}

// TestFilterApart: the filter lets no call pass that the one of accessc would refuse a tool without a network, and
// refuses none of a tool's ordinary calls.
func TestFilterApart(t *testing.T) {
	s := apart(t, example(), backends.Target{Form: backends.Portable}).Config.Linux.Seccomp
	blocks := slices.Concat(landlock.Always(), landlock.Apart())
	values := []uint64{0, 1, 2, 5, 10, 0o100, 0o644, 0o4755, 0o2755, 0x5401, 0x5412, 0x8901, 0x541b, 0x541c, 0x541d, 0x5423, 1024, 1026, 35, 0x40049409, 0x7e020000, 0x20000000, 0o20000000, 1 << 40, 17, 0o20644, 0o60644, 0o10644, 0o100644}
	var calls []string
	for _, g := range slices.Concat(landlock.Allowed(), landlock.Refused()) {
		calls = append(calls, g.Calls...)
	}
	irtest.Many(t, 1_000_000, func(r *rand.Rand) error {
		call := calls[r.IntN(len(calls))]
		var args [6]uint64
		for i := range args {
			args[i] = values[r.IntN(len(values))]
		}
		refused := slices.ContainsFunc(blocks, func(b landlock.Block) bool { return b.Refuses(call, args) })
		switch passes := passesFilter(s, call, args); {
		case passes && refused:
			t.Fatalf("%s %v passes", call, args)
		case passes && strings.HasPrefix(call, "mknod") && device(call, args):
			t.Fatalf("%s %o makes a device", call, args)
		case !passes && !refused && call != "ioctl" && call != "setsockopt" && !strings.HasPrefix(call, "mknod") && !high(args):
			t.Fatalf("%s %v does not pass", call, args)
		}
		return nil
	})
	for _, c := range []struct {
		call string
		args [6]uint64
		want bool
	}{
		{"ioctl", [6]uint64{0, 0x5401}, true}, {"ioctl", [6]uint64{0, 0x40049409}, true}, {"ioctl", [6]uint64{0, 0xffffffff80045430}, true},
		{"ioctl", [6]uint64{0, 0x5412}, false}, {"ioctl", [6]uint64{0, 0x541c}, false}, {"ioctl", [6]uint64{0, 0x541d}, false}, {"ioctl", [6]uint64{0, 0x5423}, false},
		{"ioctl", [6]uint64{0, 1<<32 | 0x5412}, false}, {"ioctl", [6]uint64{0, 0x8914}, false},
		{"fcntl", [6]uint64{0, 2}, true}, {"fcntl", [6]uint64{0, 1024}, false}, {"fcntl", [6]uint64{0, 1026}, false},
		{"prctl", [6]uint64{38}, true}, {"prctl", [6]uint64{35}, false}, {"setsockopt", [6]uint64{0, 1, 16}, true}, {"setsockopt", [6]uint64{0, 6, 31}, false},
		{"ioctl", [6]uint64{0, 0x5000940e}, false},
		{"socketpair", [6]uint64{1, 1 | 0o2000000}, true}, {"socketpair", [6]uint64{1, 2}, false}, {"socket", [6]uint64{1, 1}, false},
		{"clone", [6]uint64{17}, true}, {"clone", [6]uint64{0x10000011}, false}, {"openat2", [6]uint64{}, false}, {"mknod", [6]uint64{0, 0o20666}, false}, {"mknodat", [6]uint64{0, 0, 0o60666}, false},
		{"mknod", [6]uint64{0, 0o10666}, true}, {"mknodat", [6]uint64{0, 0, 0o100666}, true}, {"mount", [6]uint64{}, false},
	} {
		if got := passesFilter(s, c.call, c.args); got != c.want {
			t.Errorf("%s %v: %v", c.call, c.args, got)
		}
	}
}

// device reports whether mknod(2) or mknodat(2) would make anything but a file, a fifo or a socket.
func device(call string, args [6]uint64) bool {
	mode := args[1]
	if call == "mknodat" {
		mode = args[2]
	}
	return !slices.Contains([]uint64{0, 0o100000, 0o010000, 0o140000}, mode&0o170000)
}

// high reports whether an argument has bits above the low 32, which the filter of accessc compares only for a few
// calls.
func high(args [6]uint64) bool {
	return slices.ContainsFunc(args[:], func(a uint64) bool { return a>>32 != 0 })
}

// TestGoldenApart compares the document of the example with the reviewed document.
func TestGoldenApart(t *testing.T) {
	tool := example()
	out, err := oci.Apart{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "mounts.json")
	if *update {
		if err := os.WriteFile(file, out.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(out.Data, want) {
		t.Errorf("%s differs (%v); run with -update and review the difference", file, err)
	}
	for _, c := range []*ir.Command{nil, {Program: "x", Args: []string{"{{context}}"}}} {
		tool.Command = c
		if out, err := (oci.Apart{}).Compile(tool, backends.Target{Form: backends.Portable}); err != nil || out.Data != nil || len(out.Refusals) != 1 {
			t.Errorf("%+v: %+v %v", c, out, err)
		}
	}
}
