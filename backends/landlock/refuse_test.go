package landlock_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// TestParseRefuses changes one word of a specification that is read at a time.
func TestParseRefuses(t *testing.T) {
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{{At: ir.In(""), Caps: ir.All}, {At: ir.In(".env")}}
	tool.Net = []ir.NetRule{
		{Host: ir.Host{Kind: ir.HostName, Name: "a.b"}, Port: 8443, Allow: true},
		{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("192.0.2.1")}, Port: 9, Allow: true},
	}
	spec, _, err := landlock.Build(tool, backends.Target{Form: backends.Portable})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := landlock.Parse(data); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"format":              {`"format":"accessc/landlock"`, `"format":"accessc/other"`},
		"version":             {`"format_version":`, `"format_version":9`},
		"calls":               {`"calls":`, `"calls":9`},
		"right of a path":     {`"path":"/dev/null","access":["read_file"`, `"path":"/dev/null","access":["read_fil"`},
		"right of a port":     {`"port":8443,"access":["connect_tcp"`, `"port":8443,"access":["connect"`},
		"a level less":        {`"levels":[`, `"levels":[],"other":[`},
		"no filter":           {`"filter":[`, `"filter":[],"other":[`},
		"constant":            {`"not_in":["IPPROTO_IP"`, `"not_in":["IPPROTO_XX"`},
		"not JSON":            {`{`, ``},
		"right of a level":    {`"make_reg"`, `"make_red"`},
		"argument of a block": {`"arg":`, `"arg":9`},
	} {
		text := strings.Replace(string(data), c[0], c[1], 1)
		if text == string(data) {
			t.Errorf("%s: the specification has no %s", name, c[0])
			continue
		}
		if _, err := landlock.Parse([]byte(text)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

// TestHeld has the words of the ledger for capabilities and moves, at kernels that differ.
func TestHeld(t *testing.T) {
	at := func(p string, caps ...ir.Capability) ir.FSRule {
		return ir.FSRule{Written: p, At: ir.In(p), Caps: ir.Caps(caps...)}
	}
	all := at("", ir.Read, ir.Create, ir.Update, ir.Delete, ir.Execute)
	env := at(".env")
	newest := landlock.MaxABI
	for _, c := range []struct {
		fs     []ir.FSRule
		aspect ir.Aspect
		abi    int
		is     ir.Enforcement
		gap    ir.Gap
	}{
		{[]ir.FSRule{all}, ir.AspectRead, newest, ir.Exact, ""},
		{[]ir.FSRule{all}, ir.AspectRead, 0, ir.Unenforced, ""},
		{[]ir.FSRule{all}, ir.AspectUpdate, 3, ir.Exact, ""},
		{[]ir.FSRule{all}, ir.AspectUpdate, 2, ir.Stricter, ""},
		{[]ir.FSRule{all}, ir.AspectMove, 2, ir.Exact, ""},
		{[]ir.FSRule{all}, ir.AspectMove, 1, ir.Stricter, ""},
		{[]ir.FSRule{all}, ir.AspectCreate, newest, ir.Exact, ""},
		{[]ir.FSRule{all, env}, ir.AspectRead, newest, ir.Supervised, ir.GapFSRevoke},
		{[]ir.FSRule{all, env}, ir.AspectExecute, newest, ir.Supervised, ir.GapFSRevoke},
		{[]ir.FSRule{all, env}, ir.AspectUpdate, 2, ir.Supervised, ir.GapFSRevoke},
		{[]ir.FSRule{at("", ir.Read), env}, ir.AspectRead, newest, ir.Stricter, ""},
		{[]ir.FSRule{at("", ir.Execute)}, ir.AspectExecute, newest, ir.Stricter, ""},
		{[]ir.FSRule{at("", ir.Read, ir.Create)}, ir.AspectCreate, newest, ir.Supervised, ir.GapFSCreate},
		{[]ir.FSRule{at("", ir.Read, ir.Create, ir.Delete)}, ir.AspectCreate, newest, ir.Supervised, ir.GapFSCreate},
		{[]ir.FSRule{at("", ir.Read)}, ir.AspectMove, newest, ir.Exact, ""},
		{[]ir.FSRule{at("", ir.Read)}, ir.AspectOthers, newest, ir.Assumed, ""},
	} {
		_, ledger := portable(t, c.fs)
		row, ok := ledger.Cell(ir.FS, ir.FSRuleID(0), c.aspect, ir.Linux, c.abi)
		if !ok || row.Is != c.is || c.gap != "" && row.Gap != c.gap {
			t.Errorf("%v: %s at ABI %d: got %v %s, want %v %s", c.fs, c.aspect, c.abi, row.Is, row.Gap, c.is, c.gap)
		}
	}
	_, ledger := portable(t, nil)
	for abi, want := range map[int]ir.Enforcement{0: ir.Unenforced, 1: ir.Weaker, 5: ir.Weaker, 6: ir.Exact, newest: ir.Exact} {
		if row, ok := ledger.Cell(ir.Process, ir.DefaultRule, ir.AspectSignal, ir.Linux, abi); !ok || row.Is != want {
			t.Errorf("signals at ABI %d: got %v, want %v", abi, row.Is, want)
		}
	}
}
