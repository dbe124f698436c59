package denial

import (
	"encoding/json"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/ir"
)

// refusedAt is a refusal outside of every rule.
func refusedAt(abs string, c ir.Capability) *Denial {
	d := sample()
	op := ir.Access{Cap: c, On: ir.Direct(ir.Sys(strings.TrimPrefix(abs, "/")))}
	d.Operation, d.Wants, d.Verdict = op, ir.Caps(c), d.View.Decide(op)
	return d
}

// TestProbes: every probe is recorded in the report and in the kept refusals, and counts neither in
// the line nor in the summary.
func TestProbes(t *testing.T) {
	l := NewLog(nil)
	for _, p := range probes {
		at := strings.NewReplacer("/**/", "/a/b/", "*", "root").Replace(p.pattern)
		if _, err := path.Match(p.pattern, at); err != nil {
			t.Errorf("%s: %v", p.pattern, err)
		}
		d := refusedAt(at, p.cap)
		if d.probe() != p.why || p.why == "" || len(p.why) > 120 {
			t.Errorf("%s %s: found %q, expected %q", p.cap, at, d.probe(), p.why)
		}
		var doc line
		if err := json.Unmarshal(d.Line(), &doc); err != nil || doc.Probe != p.why {
			t.Errorf("%v: %s", err, d.Line())
		}
		l.Add(d)
	}
	var said strings.Builder
	l.Note(&said, "see there")
	l.Summary(&said, "see there")
	if said.String() != "" {
		t.Errorf("said %q of probes alone", said.String())
	}
	var k Kept
	if err := json.Unmarshal(l.Keep(Kept{}, time.Now()), &k); err != nil || k.Total != len(probes) || k.Probes != len(probes) || len(k.Denials) != len(probes) {
		t.Fatalf("%v: %+v", err, k)
	}
	l.Add(refusedAt("/srv/x", ir.Read))
	l.Note(&said, "see there")
	l.Summary(&said, "see there")
	if got := said.String(); strings.Count(got, "a tool was refused once") != 2 || strings.Contains(got, "/sys") {
		t.Errorf("said %q", got)
	}
}

// TestNoProbe: a place beside a probe's, or a request for more capabilities, is no probe.
func TestNoProbe(t *testing.T) {
	for _, x := range []struct {
		at  string
		cap ir.Capability
	}{
		{"/sys/kernel/mm/transparent_hugepage/enabled", ir.Update}, {"/sys/kernel/mm/transparent_hugepage/defrag", ir.Read}, {"/sys/kernel/mm", ir.Read},
		{"/sys/fs/cgroup/a/cgroup.procs", ir.Read}, {"/sys/fs/cgroup", ir.Read}, {"/sys/fs/cgroups/a/memory.max", ir.Read}, {"/srv/memory.max", ir.Read},
		{"/proc/self/coredump_filter", ir.Read}, {"/proc/1/coredump_filter", ir.Update}, {"/proc/cgroups/x", ir.Read},
		{"/tmp/hsperfdata_root/1", ir.Read}, {"/tmp/hsperfdata_root", ir.Delete}, {"/tmp/hsperfdata_root/1", ir.Create}, {"/usr/lib/x/__pycache__", ir.Delete}, {"/usr/lib/x/__pycache__/a.pyc", ir.Create},
		{"/home/u/__pycache__", ir.Create}, {"/etc/shadow", ir.Read},
	} {
		if d := refusedAt(x.at, x.cap); d.probe() != "" {
			t.Errorf("%s %s is no probe", x.cap, x.at)
		}
	}
	if d := sample(); d.probe() != "" {
		t.Error(".env is no probe")
	}
	d := refusedAt("/proc/cgroups", ir.Read)
	d.Wants = ir.Caps(ir.Read, ir.Update)
	if d.probe() != "" {
		t.Error("opening for writing as well is no probe")
	}
}
