package oci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// Mark is the annotation of a merged configuration: the name of its tool.
const Mark = "accessc.tool"

// goVariables change how Go's runtime runs accessc (runtime, "Environment Variables"), and temporary
// where it makes the directory of the run.
var (
	goVariables = []string{"GOCOVERDIR", "GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GORACE", "GOTRACEBACK"}
	temporary   = "TMPDIR"
)

// ErrConfig is wrapped by errors about the configuration of a bundle.
var ErrConfig = errors.New("not a configuration that a tool can be started by")

// ParseConfig reads the configuration of a bundle. It refuses members that runtime-spec 1.3.0 does not
// know: a runtime may know them. Spelling and repetition of members are as runtimes take
// them, and gone in the text of Merge.
func ParseConfig(data []byte) (*specs.Spec, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var c specs.Spec
	err := dec.Decode(&c)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("found text after the document")
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	case c.Process == nil || c.Root == nil || c.Linux == nil:
		return nil, fmt.Errorf("%w: found no process, root or linux", ErrConfig)
	}
	return &c, nil
}

// Merge puts a document into the configuration of a bundle, and returns its text. It refuses all settings of the
// configuration that contradict the document, in a single error; only a setting that takes permissions away replaces
// the bundle's.
// See decision D261.
func Merge(c *specs.Spec, d *Document) ([]byte, error) {
	var found []error
	refuse := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	mergeForeign(c, refuse)
	if d.Entry == nil {
		mergeApart(c, d, refuse)
	}
	mergeMounts(c, d, refuse)
	mergeNamespaces(c, d, refuse)
	mergeSeccomp(c, d, refuse)
	mergeResources(c, d, refuse)
	if len(found) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrConfig, errors.Join(found...))
	}
	p := c.Process
	p.Args, p.Cwd, p.NoNewPrivileges = d.Config.Process.Args, d.Config.Process.Cwd, true
	p.Capabilities = &specs.LinuxCapabilities{}
	p.Env = variables(p.Env, d)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[Mark] = d.Tool
	return backends.JSON(c)
}

// variables are the variables of the bundle: accessc forwards from them by the policy, less the variables that would
// steer accessc itself, or they are forwarded here.
func variables(of []string, d *Document) []string {
	if d.Entry != nil {
		return slices.DeleteFunc(of, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return name == temporary || slices.Contains(goVariables, name)
		})
	}
	var rules []ir.EnvRule
	for _, v := range d.Environment {
		rules = append(rules, ir.EnvRule{Name: v.Name, Prefix: v.Prefix, Read: v.Read, Value: v.Value})
	}
	own := d.Config.Process.Env
	set := func(name string) bool {
		return slices.ContainsFunc(own, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	}
	home := ir.HomeReal
	if d.Home != "" {
		home = ir.HomePrivate
	}
	view := ir.NewEnvView(rules, home, ir.Linux)
	out := slices.DeleteFunc(of, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return set(name) || ir.OwnVariable(name, home == ir.HomePrivate, ir.Linux) ||
			!view.Decide(ir.Forward{Name: name}).Allowed()
	})
	return append(out, own...)
}

// kernelMounts are the file systems of the kernel's that engines mount and the form without an entry point
// leaves out: the policy grants nothing there.
var kernelMounts = []string{"cgroup", "cgroup2", "mqueue", "sysfs"}

// mergeApart puts in place the restrictions that a container without accessc has instead: the root, and every other
// place that is not the policy's, cannot be written.
func mergeApart(c *specs.Spec, d *Document, refuse func(string, ...any)) {
	c.Root.Readonly = true
	c.Process.Rlimits = lowerLimits(c.Process.Rlimits, d.Config.Process.Rlimits)
	l := c.Linux
	l.MaskedPaths = union(l.MaskedPaths, d.Config.Linux.MaskedPaths)
	l.ReadonlyPaths = union(l.ReadonlyPaths, d.Config.Linux.ReadonlyPaths)
	if len(l.Devices) > 0 {
		refuse("linux.devices has %s, which the policy does not grant", l.Devices[0].Path)
	}
	c.Mounts = slices.DeleteFunc(c.Mounts, func(m specs.Mount) bool {
		at := path.Clean(m.Destination)
		return (at == temp || at == shared) && m.Type == "tmpfs" || slices.Contains(kernelMounts, m.Type) ||
			at == "/sys" || strings.HasPrefix(at, "/sys/")
	})
	for i := range c.Mounts {
		m := &c.Mounts[i]
		switch at := path.Clean(m.Destination); {
		case at == processes && kind(*m) == "proc", at == "/dev/pts" && kind(*m) == "devpts":
		case at == "/dev" && kind(*m) == "tmpfs":
			m.Options = union(slices.DeleteFunc(m.Options, writable), []string{"ro"})
		case around(d.Config.Mounts, at) == nil && !readOnly(m.Options):
			refuse("the mount at %s can be written to, and nothing but the policy closes it: mount it with bind and "+
				"ro, or rro", m.Destination)
		}
	}
}

// kind is the type of a mount. Runtimes go by the option where it is a bind mount, whatever type it has
// (runtime-spec, config.md, "mounts").
func kind(m specs.Mount) string {
	if slices.Contains(m.Options, "bind") || slices.Contains(m.Options, "rbind") {
		return "bind"
	}
	return m.Type
}

// writable reports whether an option lets a mount be written to, or the mounts below it. The last option counts.
func writable(option string) bool {
	return option == "rw" || option == "rrw"
}

// readOnly reports whether a mount can be written to nowhere below.
func readOnly(options []string) bool {
	has := func(o string) bool { return slices.Contains(options, o) }
	return !slices.ContainsFunc(options, writable) && (has("rro") || has("ro") && has("bind") && !has("rbind"))
}

func union(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

// lowerLimits takes the lower of two limits of each kind.
func lowerLimits(theirs, ours []specs.POSIXRlimit) []specs.POSIXRlimit {
	for _, l := range ours {
		i := slices.IndexFunc(theirs, func(o specs.POSIXRlimit) bool { return o.Type == l.Type })
		if i < 0 {
			theirs = append(theirs, l)
			continue
		}
		theirs[i].Hard, theirs[i].Soft = min(theirs[i].Hard, l.Hard), min(theirs[i].Soft, l.Soft)
	}
	return theirs
}

// mergeForeign refuses other systems, hooks that run around the entry point, and annotations that change its start.
func mergeForeign(c *specs.Spec, refuse func(string, ...any)) {
	if c.Solaris != nil || c.Windows != nil || c.VM != nil || c.ZOS != nil || c.FreeBSD != nil {
		refuse("it is for another system than Linux, or for a virtual machine")
	}
	if h := c.Hooks; h != nil {
		for _, kind := range []struct {
			name  string
			hooks []specs.Hook
		}{
			//lint:ignore SA1019 runtimes still run it
			{"prestart", h.Prestart},
			{"createRuntime", h.CreateRuntime},
			{"createContainer", h.CreateContainer}, {"startContainer", h.StartContainer},
		} {
			if len(kind.hooks) > 0 {
				refuse("hooks.%s run programs that can change the container before the policy holds", kind.name)
			}
		}
	}
	for name := range c.Annotations {
		// crun.1, "CRUN EXTENSIONS": they choose another way to run the process, or another filter.
		if strings.HasPrefix(name, "run.oci.") || strings.HasPrefix(name, "module.wasm.") {
			refuse("the annotation %s changes how crun starts the process", name)
		}
		// runc and crun hand them to systemd after the limits, which they replace.
		if strings.HasPrefix(name, "org.systemd.property.") {
			refuse("the annotation %s sets a property of the control group beside the policy's limits", name)
		}
	}
}

// mergeMounts adds the mounts of the document behind the mounts of the bundle, so that they are on top.
func mergeMounts(c *specs.Spec, d *Document, refuse func(string, ...any)) {
	theirs := map[string]bool{}
	for _, m := range c.Mounts {
		at := path.Clean(m.Destination)
		switch own := around(d.Config.Mounts, at); {
		case !path.IsAbs(at) || at == "/":
			refuse("the mount at %q is on no place of its own", m.Destination)
		case own == nil, own.Destination == temp && theirs[temp]:
		case (at == temp || at == processes) && kind(m) == own.Type:
			theirs[at] = true
		default:
			refuse("the mount at %s is in the way of %s, which the policy is about", m.Destination, own.Destination)
		}
	}
	for _, m := range d.Config.Mounts {
		if !theirs[m.Destination] {
			c.Mounts = append(c.Mounts, m)
		}
	}
}

// around is the mount that a place is at or below, nil if there is none.
func around(mounts []specs.Mount, at string) *specs.Mount {
	i := slices.IndexFunc(mounts, func(m specs.Mount) bool {
		return at == m.Destination || strings.HasPrefix(at, m.Destination+"/")
	})
	if i < 0 {
		return nil
	}
	return &mounts[i]
}

// mergeNamespaces adds the namespaces that the container must have for itself.
func mergeNamespaces(c *specs.Spec, d *Document, refuse func(string, ...any)) {
	for _, want := range d.Config.Linux.Namespaces {
		found := 0
		for _, n := range c.Linux.Namespaces {
			if n.Type != want.Type {
				continue
			}
			if found++; n.Path != "" {
				refuse("linux.namespaces shares the %s namespace of %s", want.Type, n.Path)
			}
		}
		switch {
		case found == 0:
			c.Linux.Namespaces = append(c.Linux.Namespaces, want)
		case found > 1: // runtimes differ in which of them counts
			refuse("linux.namespaces has %s twice", want.Type)
		}
	}
}

// mergeSeccomp keeps the bundle's filter, if the entry point can do its work under it.
func mergeSeccomp(c *specs.Spec, d *Document, refuse func(string, ...any)) {
	s := c.Linux.Seccomp
	if s == nil || d.Entry == nil && sameFilter(s, d.Config.Linux.Seccomp) {
		c.Linux.Seccomp = d.Config.Linux.Seccomp
		return
	}
	if d.Entry == nil {
		refuse("linux.seccomp is another filter than the policy's, and a container has one; remove it")
		return
	}
	calls := confining
	if d.Entry.Supervision != nil {
		calls = slices.Concat(confining, supervising)
		notifies := func(r specs.LinuxSyscall) bool { return r.Action == specs.ActNotify }
		if s.ListenerPath != "" || slices.ContainsFunc(s.Syscalls, notifies) {
			refuse("linux.seccomp has a listener, beside which the kernel allows none of accessc")
		}
	}
	missing := slices.DeleteFunc(slices.Clone(calls), func(call string) bool { return allows(s, call) })
	if len(missing) > 0 {
		refuse("linux.seccomp does not allow %s, which accessc needs; without a filter of the bundle, it gets one "+
			"that does", strings.Join(missing, ", "))
	}
}

func sameFilter(a, b *specs.LinuxSeccomp) bool {
	x, failed := backends.JSON(a)
	y, err := backends.JSON(b)
	return failed == nil && err == nil && bytes.Equal(x, y)
}

// mergeResources takes the lower of two limits.
func mergeResources(c *specs.Spec, d *Document, refuse func(string, ...any)) {
	ours := d.Config.Linux.Resources
	if ours == nil {
		return
	}
	if c.Linux.Resources == nil {
		c.Linux.Resources = &specs.LinuxResources{}
	}
	theirs := c.Linux.Resources
	for name := range theirs.Unified {
		if strings.HasPrefix(name, "memory.") && ours.Memory != nil ||
			strings.HasPrefix(name, "pids.") && ours.Pids != nil {
			refuse("linux.resources.unified sets %s, and the policy has a limit", name)
		}
	}
	if ours.Memory != nil {
		if theirs.Memory == nil {
			theirs.Memory = &specs.LinuxMemory{}
		}
		theirs.Memory.Limit = lower(theirs.Memory.Limit, *ours.Memory.Limit)
		theirs.Memory.Swap = lower(theirs.Memory.Swap, *ours.Memory.Swap)
		if theirs.Memory.DisableOOMKiller != nil && *theirs.Memory.DisableOOMKiller {
			refuse("linux.resources.memory.disableOOMKiller has the tool hang at its limit")
		}
	}
	if ours.Pids != nil {
		if theirs.Pids == nil {
			theirs.Pids = &specs.LinuxPids{}
		}
		theirs.Pids.Limit = lower(theirs.Pids.Limit, *ours.Pids.Limit)
	}
}

// lower is the lower of two limits, of which the bundle's may be absent, or none at all.
func lower(theirs *int64, ours int64) *int64 {
	if theirs != nil && *theirs > 0 && *theirs < ours {
		return theirs
	}
	return &ours
}
