package landlock_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// portable builds the specification of a tool with these rules and no protected paths.
func portable(t *testing.T, fs []ir.FSRule, net ...ir.NetRule) (*landlock.Spec, ir.Ledger) {
	t.Helper()
	tool := ir.NewTool("t")
	tool.Protects, tool.FS, tool.Net = false, fs, net
	spec, ledger, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	return spec, ledger
}

func granted(spec *landlock.Spec, prefix string) string {
	var out []string
	for _, p := range spec.Paths {
		if strings.HasPrefix(p.Path, prefix) {
			text := fmt.Sprint(strings.TrimPrefix(p.Path, prefix), p.Access)
			if p.Entries != nil {
				text += fmt.Sprint("but", p.Entries.Except)
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

// TestRights has the rights of the workspace for sets of capabilities: a set that would let the
// kernel permit more gets less, and refer goes with names and with what links need.
func TestRights(t *testing.T) {
	at := func(p string, caps ...ir.Capability) ir.FSRule {
		return ir.FSRule{Written: p, At: ir.In(p), Caps: ir.Caps(caps...)}
	}
	const read, write = "read_file read_dir", "write_file truncate"
	const make, remove = "make_reg make_dir make_sym make_fifo make_sock", "remove_file remove_dir"
	for _, c := range []struct {
		fs   []ir.FSRule
		want string
		// links is true where hard links are refused, metadata where mode, owner and times
		// are.
		links, metadata bool
	}{
		{[]ir.FSRule{at("", ir.Read)}, "[" + read + "]", false, true},
		{[]ir.FSRule{at("", ir.Read, ir.Execute)}, "[execute " + read + "]", false, true},
		{[]ir.FSRule{at("", ir.Read, ir.Update)}, "[" + read + " " + write + " refer]", false, false},
		{[]ir.FSRule{at("", ir.Read, ir.Create)}, "[" + read + " " + make + " refer]", true, true},
		{[]ir.FSRule{at("", ir.Read, ir.Delete)}, "[" + read + " " + remove + " refer]", false, true},
		{[]ir.FSRule{at("", ir.Read, ir.Create, ir.Update)}, "[" + read + " " + write + " " + make + " refer]", false, false},
		{nil, "", false, true},
	} {
		spec, _ := portable(t, c.fs)
		if got := granted(spec, "${workspace}"); got != c.want {
			t.Errorf("%v: got %s, want %s", c.fs, got, c.want)
		}
		group := func(name string) bool {
			return slices.ContainsFunc(spec.Filter, func(b landlock.Block) bool { return b.Group == name })
		}
		if group("links") != c.links || group("metadata") != c.metadata || group("set-id") == c.metadata {
			t.Errorf("%v: links %v, metadata %v, set-id %v", c.fs, group("links"), group("metadata"), group("set-id"))
		}
	}
}

// TestDevices leaves out rights that only directories have, and adds the right without which a
// terminal's modes cannot be set.
func TestDevices(t *testing.T) {
	spec, _ := portable(t, nil)
	for path, want := range map[string]string{
		"null": "[read_file write_file truncate]", "urandom": "[read_file]", "tty": "[read_file write_file truncate ioctl_dev]",
		"ptmx": "[read_file write_file truncate ioctl_dev]",
	} {
		if got := granted(spec, "/dev/"+path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for _, p := range spec.Paths {
		if p.Path == "/dev/shm" || p.Path == "/proc/self/fd" {
			t.Errorf("%s is granted by the ruleset, and a supervisor answers for it", p.Path)
		}
	}
}

// TestPorts lists the ports of rules about hosts, each once and in order.
func TestPorts(t *testing.T) {
	host := ir.Host{Kind: ir.HostName, Name: "a.b"}
	addr := ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("192.0.2.1")}
	for _, c := range []struct {
		net  []ir.NetRule
		want string
	}{
		{[]ir.NetRule{{Host: host, Allow: true}}, "[80 443]"},
		{[]ir.NetRule{{Host: host, Allow: true}, {Host: host, Port: 443, Allow: true}, {Host: host, Port: 22, Allow: true}}, "[22 80 443]"},
		{[]ir.NetRule{{Host: host, Port: 9000, Allow: true}, {Host: host, Port: 8000, Allow: true}}, "[8000 9000]"},
		{[]ir.NetRule{{Host: host, Scheme: "https", Allow: true}}, "[443]"},
		{[]ir.NetRule{{Host: host, Scheme: "gopher", Allow: true}}, "[]"},
		{[]ir.NetRule{{Host: host, Port: 22}}, "[]"},
		{[]ir.NetRule{{Host: addr, Port: 22, Allow: true}}, "[]"},
		{[]ir.NetRule{{Host: addr, Port: 22, Allow: true}, {Host: addr, Port: 22, Path: []string{"x"}}}, "[22]"},
	} {
		spec, _ := portable(t, nil, c.net...)
		got := []uint16{}
		for _, p := range spec.Ports {
			got = append(got, p.Port)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: got %v, want %s", c.net, got, c.want)
		}
	}
}
