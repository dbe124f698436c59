package denial

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// probe is a place that a runtime or a library asks for at every start, and does without.
type probe struct {
	// pattern is a path as path.Match takes it; "/**/" stands for any directories.
	pattern string
	cap     ir.Capability
	// besides has capabilities that the same call may need, as a call that opens for reading
	// and writing does.
	besides ir.CapSet
	// why names the program that asks, and its way to do without an answer.
	why string
}

const (
	huge  = "/sys/kernel/mm/transparent_hugepage/"
	group = "/sys/fs/cgroup/**/"

	coresWhy  = "glibc, libuv and the JVM count processors; without it they ask sched_getaffinity"
	memoryWhy = "Node looks for the memory limit of its cgroup; without it the memory of the machine counts"
	quotaWhy  = "the Go runtime, Rust programs and ninja look for the processor limit of their cgroup; " +
		"without it all processors count"
	hugeWhy = "the Go runtime and the JVM look for the size of huge pages; without it they use small ones"

	countersWhy = "the JVM shares counters with jps and jstat; without it they do not see it"

	processesWhy = "ps, pgrep, top and agents look at every process; without it they list their own"
	versionWhy   = "Node programs and the JVM ask whether they run in WSL or a container; without it they say no"
	identityWhy  = "D-Bus, telemetry and licences ask which machine this is; without it they do without an identity"
	namesWhy     = "the C library asks a cache of names first; without it it asks the name servers itself"

	// everyProcess has the numbers of processes, as path.Match takes them.
	everyProcess = "/proc/[1-9]*/"
)

// probes were seen under the default policy on Linux 6.18 in November 2026, of Go 1.26, Node 20, OpenJDK 17, Python
// 3.11, glibc 2.36, ripgrep, ninja, ffmpeg, gdb, procps 4 and Claude Code 2.1. The names of version 2 of cgroups are
// the names in Go's internal/runtime/cgroup and in libuv. See decision D61.
var probes = []probe{
	{huge + "hpage_pmd_size", ir.Read, 0, hugeWhy},
	{huge + "enabled", ir.Read, 0, hugeWhy},
	{"/sys/kernel/mm/hugepages", ir.Read, 0, hugeWhy},
	{group + "cpu.cfs_quota_us", ir.Read, 0, quotaWhy},
	{group + "cpu.cfs_period_us", ir.Read, 0, quotaWhy},
	{group + "cpu.max", ir.Read, 0, quotaWhy},
	{group + "memory.limit_in_bytes", ir.Read, 0, memoryWhy},
	{group + "memory.soft_limit_in_bytes", ir.Read, 0, memoryWhy},
	{group + "memory.max", ir.Read, 0, memoryWhy},
	{group + "memory.high", ir.Read, 0, memoryWhy},
	{"/sys/devices/system/cpu/online", ir.Read, 0, coresWhy},
	{"/sys/devices/system/cpu/possible", ir.Read, 0, coresWhy},
	{"/sys/devices/system/node", ir.Read, 0, "libnuma looks for memory nodes; without it there is one"},
	{"/proc/cgroups", ir.Read, 0, "the JVM looks for limits of cgroups; without it the machine's count"},
	{"/proc/self/coredump_filter", ir.Update, ir.CapSet(1 << ir.Read),
		"the JVM chooses the contents of a core dump; without it the system's choice stays"},
	{"/tmp/hsperfdata_*", ir.Read, 0, countersWhy},
	{"/tmp/hsperfdata_*", ir.Create, 0, countersWhy},
	{everyProcess + "stat", ir.Read, 0, processesWhy},
	{everyProcess + "statm", ir.Read, 0, processesWhy},
	{everyProcess + "status", ir.Read, 0, processesWhy},
	{everyProcess + "comm", ir.Read, 0, processesWhy},
	{everyProcess + "cmdline", ir.Read, 0, processesWhy},
	{"/proc/version", ir.Read, 0, versionWhy},
	{"/proc/version_signature", ir.Read, 0, versionWhy},
	{"/proc/sys/kernel/osrelease", ir.Read, 0, versionWhy},
	{"/.dockerenv", ir.Read, 0, versionWhy},
	{"/run/.containerenv", ir.Read, 0, versionWhy},
	{"/etc/machine-id", ir.Read, 0, identityWhy},
	{"/var/lib/dbus/machine-id", ir.Read, 0, identityWhy},
	{"/proc/sys/kernel/random/boot_id", ir.Read, 0, identityWhy},
	{"/sys/class/dmi/id/*", ir.Read, 0, identityWhy},
	{"/sys/devices/virtual/dmi/id/*", ir.Read, 0, identityWhy},
	{"/usr/**/__pycache__", ir.Create, 0,
		"Python keeps compiled modules beside their source; without it each start compiles them"},
}

// dialed are sockets that the same holds for.
var dialed = []string{
	"/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve",
	"/run/systemd/userdb/*", "/run/avahi-daemon/socket",
}

// probe is why the refused operation is a probe, empty for any other.
func (d *Denial) probe() string {
	if op, ok := d.Operation.(ir.Dial); ok {
		return d.dials(op)
	}
	op, ok := d.Operation.(ir.Access)
	if !ok || d.Roots == nil || d.Why != "" || op.On.Fault != 0 || op.On.At.Root.Kind != ir.System {
		return ""
	}
	abs, ok := d.Roots.Path(op.On.At)
	i := slices.IndexFunc(probes, func(p probe) bool {
		return op.Cap == p.cap && d.Wants&^p.besides.With(p.cap) == 0 && p.matches(abs)
	})
	if !ok || i < 0 {
		return ""
	}
	return probes[i].why
}

// dials is why a connection to a socket is a probe.
func (d *Denial) dials(op ir.Dial) string {
	if d.Roots == nil || d.Why != "" || op.On.Fault != 0 || op.On.At.Root.Kind != ir.System {
		return ""
	}
	abs, ok := d.Roots.Path(op.On.At)
	if !ok || !slices.ContainsFunc(dialed, func(p string) bool { return probe{pattern: p}.matches(abs) }) {
		return ""
	}
	return namesWhy
}

// shape is a target with a star for each number of a process or a device, so that the same question about each is a
// single line. See decision D61.
func shape(target string) string {
	if !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") {
		return target
	}
	parts := strings.Split(target, "/")
	for i, p := range parts {
		if bare := strings.TrimRight(p, "0123456789"); bare != p && (bare == "" || parts[1] == "sys") {
			parts[i] = bare + "*"
		}
	}
	return strings.Join(parts, "/")
}

func (p probe) matches(abs string) bool {
	if above, name, ok := strings.Cut(p.pattern, "/**/"); ok {
		return strings.HasPrefix(abs, above+"/") && path.Base(abs) == name
	}
	// Patterns are constants that are well formed.
	ok, _ := path.Match(p.pattern, abs)
	return ok
}
