package oci

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// Directory is the place of accessc in the container, and Source its place in the bundle. Program
// and Specification are the files in both.
const (
	Directory     = "/.accessc-start"
	Source        = "accessc"
	Program       = "accessc"
	Specification = "landlock.json"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "oci" }

// File implements backends.Backend.
func (Backend) File() string { return "oci.json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Compile implements backends.Backend. The ledger is in the artifact: a manifest has the ledger of the system itself.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	d, refusal, err := Build(t, target)
	if err != nil || refusal != "" {
		return backends.Output{Refusals: []backends.Refusal{{Why: refusal}}}, err
	}
	held, err := backends.Ledger(d.Ledger)
	if err != nil {
		return backends.Output{}, err
	}
	data, err := backends.JSON(d)
	return backends.Output{Data: data, Elsewhere: held}, err
}

// Build compiles a tool to the value that the artifact is the text of, or says why it cannot.
func Build(t *ir.Tool, target backends.Target) (d *Document, refusal string, err error) {
	switch {
	case t.Command == nil:
		return nil, "a container starts a command, and the tool has none", nil
	case strings.HasPrefix(t.Name, "-"):
		return nil, "the entry point would read the tool's name as an option", nil
	}
	target.Image = true
	target.Facts.Base = imageBase(t.Base)
	if own := t.Command.Program; target.Facts.Program == nil && target.Facts.Bindings != nil && !t.Command.Shell &&
		path.IsAbs(own) {
		// This host does not have it; the image may.
		at := target.Facts.Bindings.Locate(path.Clean(own))
		target.Facts.Program = &at
	}
	spec, held, err := landlock.Build(inside(t), target)
	if err != nil {
		return nil, "", err
	}
	// The processes of the container are the tool's and the entry point's.
	spec.Needs = slices.DeleteFunc(spec.Needs, func(r backends.Row) bool {
		return r.Gap == string(ir.GapProcessSignal)
	})
	text, err := Text(spec)
	if err != nil {
		return nil, "", err
	}
	view := ir.NewView(t, ir.Linux, target.Facts)
	return &Document{
		Header: backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()},
		Tool:   t.Name, Home: spec.Home, Entry: spec, Accept: spec.Accept,
		Config: Config{
			Process: Process{Args: args(t.Name, text), Cwd: target.Place(ir.In("")), NoNewPrivileges: true,
				Capabilities: map[string][]string{}},
			Mounts: entryMounts(view, target),
			Linux: Linux{
				Namespaces: []specs.LinuxNamespace{{Type: specs.MountNamespace}, {Type: specs.PIDNamespace}},
				Resources:  resources(t.Limits), Seccomp: seccomp(),
			},
		},
		Ledger: backends.NewRows(ledger(view, held)),
	}, "", nil
}

// Text is the file of the specification that the entry point applies.
func Text(s *landlock.Spec) ([]byte, error) { return backends.JSON(s) }

// args starts the tool from the specification with this text and no other. accessc reads the
// command from it.
func args(tool string, text []byte) []string {
	sum := sha256.Sum256(text)
	return []string{
		Directory + "/" + Program, "exec", "--artifact", Directory + "/" + Specification, "--sha256",
		hex.EncodeToString(sum[:]), "--in-container", tool,
	}
}

// ofGroup are the limits that the container's control group holds.
func ofGroup(k ir.LimitKind) bool { return k == ir.LimitMemory || k == ir.LimitProcesses }

// inside is the tool as the entry point confines it: the limits that the container holds are left to that.
func inside(t *ir.Tool) *ir.Tool {
	in := *t
	in.Limits = slices.DeleteFunc(slices.Clone(t.Limits), func(l ir.Limit) bool { return ofGroup(l.Kind) })
	return &in
}

// imageBase is the base as it is listed, at the places that a runtime makes: the device that makes
// pseudo-terminals is the container's own (runtime-spec, config-linux.md, "Default Devices").
func imageBase(b ir.BaseName) []ir.FSRule {
	out := ir.BaseRules(b, ir.Linux)
	for i := range out {
		if out[i].At == ir.Sys("dev/ptmx") {
			out[i].At = ir.Sys("dev/pts/ptmx")
		}
	}
	return out
}

// entryMounts are the file system of the processes, a directory for temporary files, the roots that the
// policy has on the host, at the same paths, and accessc.
func entryMounts(v *ir.View, target backends.Target) []specs.Mount {
	out := []specs.Mount{
		{Destination: processes, Type: "proc", Source: "proc"},
		{Destination: temp, Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "nodev", "mode=1777"}},
	}
	var roots []specs.Mount
	for _, r := range v.Tree() {
		switch kind := r.At.Root.Kind; {
		case !r.IsRoot(), kind == ir.External && !grants(r, ir.All):
			continue
		case kind != ir.Workspace && kind != ir.Home && kind != ir.External:
			continue
		}
		place := target.Place(r.At)
		bound := specs.Mount{Destination: place, Type: "bind", Source: place,
			Options: []string{"rbind", "ro", "nosuid", "nodev"}}
		if grants(r, ir.Write) {
			bound.Options[1] = "rw"
		}
		roots = append(roots, bound)
	}
	slices.SortStableFunc(roots, func(a, b specs.Mount) int { return cmp.Compare(a.Destination, b.Destination) })
	roots = slices.CompactFunc(roots, func(a, b specs.Mount) bool { return a.Destination == b.Destination })
	return append(append(out, roots...), specs.Mount{
		Destination: Directory, Type: "bind", Source: Source, Options: []string{"bind", "ro", "nosuid", "nodev"},
	})
}

// grants reports whether some place of a root, or some name in it, has some of the capabilities.
func grants(root *ir.Region, caps ir.CapSet) bool {
	found := false
	root.WalkRoot(func(r *ir.Region) {
		found = found || r.Caps&caps != 0
		for _, n := range backends.NamedIn(r) {
			found = found || n.Caps&caps != 0
		}
	})
	return found
}

// resources are the limits of the control group, nil for none. Without a limit of its own, swap
// would be memory beside the limit.
func resources(limits []ir.Limit) *specs.LinuxResources {
	var out specs.LinuxResources
	for _, l := range limits {
		value := int64(min(l.Value, 1<<63-1))
		switch l.Kind {
		case ir.LimitMemory:
			out.Memory = &specs.LinuxMemory{Limit: &value, Swap: &value}
		case ir.LimitProcesses:
			out.Pids = &specs.LinuxPids{Limit: &value}
		case ir.LimitCPUTime, ir.LimitWallTime, ir.LimitOpenFiles, ir.LimitFileSize:
		}
	}
	if out.Memory == nil && out.Pids == nil {
		return nil
	}
	return &out
}
