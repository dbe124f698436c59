package oci

import (
	"cmp"
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
)

// Apart is the form for runtimes whose kernel has no Landlock, such as gVisor: mounts and masks, and
// nothing of accessc inside.
type Apart struct{}

// Name implements backends.Backend.
func (Apart) Name() string { return "oci-mounts" }

// File implements backends.Backend.
func (Apart) File() string { return "oci-mounts.json" }

// Platform implements backends.Backend.
func (Apart) Platform() ir.Platform { return ir.Linux }

// Compile implements backends.Backend. The ledger is in the artifact.
func (Apart) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	words, refusal := command(t.Command)
	if refusal != "" {
		return backends.Output{Refusals: []backends.Refusal{{Why: refusal}}}, nil
	}
	plan := mounts.New(t, target)
	ledger := apartLedger(plan, t)
	launch := backends.NewLaunch(t, target, nil)
	d := Document{
		Header: backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()},
		Tool:   t.Name, Home: launch.Home, Accept: launch.Accept, Environment: launch.Environment,
		Ledger: backends.NewRows(ledger),
		Config: Config{
			Root: &Root{Readonly: true},
			Process: Process{
				Args: words, Cwd: launch.Workspace, Env: backends.Texts(backends.Assigned(t, temp, launch.Home, nil)),
				NoNewPrivileges: true, Capabilities: map[string][]string{}, Rlimits: rlimits(t.Limits),
			},
			Mounts: apartMounts(plan),
			Linux: Linux{
				Namespaces: []specs.LinuxNamespace{
					{Type: specs.MountNamespace}, {Type: specs.PIDNamespace}, {Type: specs.NetworkNamespace},
					{Type: specs.IPCNamespace},
				},
				Resources: resources(t.Limits), Seccomp: apartSeccomp(), MaskedPaths: slices.Clone(masked),
				ReadonlyPaths: slices.Clone(fixed),
			},
		},
	}
	data, err := backends.JSON(d)
	return backends.Output{Data: data, Elsewhere: ledger}, err
}

// masked and fixed are the parts of the kernel's file systems that the image's processes are kept from, as
// engines do, and all of /sys, of which the base has nothing.
var (
	masked = []string{
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys",
	}
	fixed = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// command is the words that start a tool without accessc, or the reason why there are none.
func command(c *ir.Command) (words []string, refusal string) {
	if c == nil {
		return nil, "a container starts a command, and the tool has none"
	}
	words = append([]string{c.Program}, c.Args...)
	if c.Shell {
		words = []string{"/bin/sh", "-c", c.Program}
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "{{") }) {
		return nil, "accessc fills in the {{}} of a command, and does not start here"
	}
	return words, ""
}

// rlimits are the limits of processes.
func rlimits(limits []ir.Limit) []specs.POSIXRlimit {
	var out []specs.POSIXRlimit
	for _, l := range limits {
		value := l.Value
		kind := ""
		switch l.Kind {
		case ir.LimitCPUTime:
			kind, value = "RLIMIT_CPU", (l.Value+999)/1000
		case ir.LimitOpenFiles:
			kind = "RLIMIT_NOFILE"
		case ir.LimitFileSize:
			kind = "RLIMIT_FSIZE"
		case ir.LimitMemory, ir.LimitProcesses, ir.LimitWallTime:
			continue
		}
		out = append(out, specs.POSIXRlimit{Type: kind, Hard: value, Soft: value})
	}
	return out
}

// Places of the container's own: the file system of its processes, a directory for temporary files, which is only the
// tool's, and shared memory.
const (
	processes = "/proc"
	temp      = "/tmp"
	shared    = "/" + ir.LinuxShared
)

// apartMounts are the mounts of a plan, in order. The base is the image's, and its devices and /proc the
// runtime's.
func apartMounts(plan *mounts.Plan) []specs.Mount {
	out := []specs.Mount{
		{Destination: processes, Type: "proc", Source: "proc"},
		{Destination: temp, Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "nodev", "mode=1777"}},
	}
	var own []specs.Mount
	for _, m := range plan.Mounts {
		switch {
		case m.Kind == mounts.Memory:
			own = append(own, specs.Mount{Destination: shared, Type: "tmpfs", Source: "tmpfs",
				Options: []string{"nosuid", "nodev", "noexec", "mode=1777"}})
		case ofImage(plan, m), m.Kind != mounts.Bind && m.Kind != mounts.Hide:
		case m.Place == tempSymbol:
			if m.NoExec {
				out[1].Options = append(out[1].Options, "noexec")
			}
		default:
			own = append(own, mountOf(m))
		}
	}
	slices.SortStableFunc(own, func(a, b specs.Mount) int {
		return cmp.Compare(strings.ReplaceAll(a.Destination, "/", "\x00"),
			strings.ReplaceAll(b.Destination, "/", "\x00"))
	})
	return append(out, own...)
}

// tempSymbol is the place of the directory for temporary files, which each run has anew.
const tempSymbol = "${tmp}"

// ofImage reports whether a mount shows a place of the system, which the image has.
func ofImage(plan *mounts.Plan, m mounts.Mount) bool {
	return slices.ContainsFunc(plan.View().Entries(), func(e ir.Entry) bool {
		return e.Rule.At.Root.Kind == ir.System && e.Rule.At.String() == m.Place
	})
}

// mountOf is a mount of a plan in the words of the specification. Without recursion it shows no file systems
// below, which could not be made read-only on every kernel.
func mountOf(m mounts.Mount) specs.Mount {
	out := specs.Mount{Destination: m.Place, Type: "bind", Source: m.Place,
		Options: []string{"bind", "ro", "nosuid", "nodev"}}
	switch {
	case m.Kind == mounts.Hide && m.Node == ir.Dir:
		mode := "mode=0000"
		if m.Leads {
			mode = "mode=0111"
		}
		out.Type, out.Source, out.Options = "tmpfs", "tmpfs",
			[]string{"ro", "nosuid", "nodev", "noexec", mode, "size=4k"}
	case m.Kind == mounts.Hide && m.Node == ir.Unknown:
		out.Source = "${nothing:" + strings.TrimPrefix(m.Place, "/") + "}"
	case m.Kind == mounts.Hide:
		// A device on a mount without devices cannot be opened.
		out.Source = "/dev/null"
	case m.Mode == mounts.ReadWrite:
		out.Options[1] = "rw"
	}
	if m.NoExec || m.Kind == mounts.Hide && m.Node != ir.Dir {
		out.Options = append(out.Options, "noexec")
	}
	return out
}
