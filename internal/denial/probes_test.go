package denial

import (
	"encoding/json"
	"fmt"
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
		at := strings.NewReplacer("/**/", "/a/b/", "[1-9]*", "17", "*", "root").Replace(p.pattern)
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
		{"/proc/1/environ", ir.Read}, {"/proc/1/stat", ir.Update}, {"/proc/1/fd/stat", ir.Read},
		{"/srv/proc/1/stat", ir.Read},
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

// TestShapes: the same question about each process is one line with a count, a sensitive place comes first, and neither
// the number of processes nor that of files takes the place of others in what is kept.
func TestShapes(t *testing.T) {
	l := NewLog(nil)
	for i := 1; i < 2*maxKept; i++ {
		l.Add(refusedAt(fmt.Sprintf("/proc/%d/stat", i), ir.Read))
		l.Add(refusedAt(fmt.Sprintf("/proc/%d/task/%d/maps", i, i), ir.Read))
		l.Add(refusedAt(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology", i), ir.Read))
	}
	l.Add(refusedAt("/etc/x1", ir.Read))
	l.Add(refusedAt("/etc/x2", ir.Read))
	l.Add(refusedAt("/srv/app/.env", ir.Read))
	var said strings.Builder
	l.Summary(&said, "see there")
	want := `accessc: a tool was refused 1025 times
  read  /srv/app/.env                               no rule
  read  /proc/*/task/*/maps ×511                    no rule
  read  /sys/devices/system/cpu/cpu*/topology ×511  no rule
  read  /etc/x1                                     no rule
  read  /etc/x2                                     no rule
`
	if said.String() != want {
		t.Errorf("said\n%s\nnot\n%s", said.String(), want)
	}
	var k Kept
	if err := json.Unmarshal(l.Keep(Kept{}, time.Now()), &k); err != nil || k.LeftOut != 0 || len(k.Denials) != 6 {
		t.Fatalf("%v: %+v", err, k)
	}
	for _, e := range k.Denials {
		if e.Sensitive != (e.Target == "/srv/app/.env") {
			t.Errorf("%+v", e)
		}
	}
}

// TestSocketProbes: the C library asks caches of names before name servers; any other socket is no probe.
func TestSocketProbes(t *testing.T) {
	for at, want := range map[string]bool{
		"/run/nscd/socket": true, "/run/systemd/resolve/io.systemd.Resolve": true,
		"/run/systemd/userdb/io.systemd.Multiplexer": true,
		"/run/docker.sock":                           false, "/run/nscd/socket/x": false,
	} {
		d := sample()
		op := ir.Dial{On: ir.Direct(ir.Sys(strings.TrimPrefix(at, "/")))}
		d.Operation, d.Wants, d.Verdict = op, 0, d.View.Decide(op)
		if got := d.probe() != ""; got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}
