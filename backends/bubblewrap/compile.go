package bubblewrap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "bubblewrap" }

// File implements backends.Backend.
func (Backend) File() string { return "bubblewrap.json" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := mounts.New(t, target)
	ledger := plan.Ledger(mounts.Means{
		NoSockets: true, NewSession: true, OwnProcesses: true, Forwards: true, NoDirectory: true, ByName: true,
		Limit: limit,
	})
	s := Spec{
		Header: backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()},
		Launch: backends.NewLaunch(t, target, ledger),
		Calls:  landlock.CallsVersion, Blocks: landlock.Apart(), Ledger: backends.NewRows(ledger),
	}
	if s.Args = arguments(plan, s.Launch); len(s.Args) > MaxArguments {
		why := fmt.Sprintf("bubblewrap takes %d arguments, and this policy has %d: it has too many places",
			MaxArguments, len(s.Args))
		return backends.Output{Refusals: []backends.Refusal{{Why: why}}}, nil
	}
	data, err := backends.JSON(s)
	return backends.Output{Data: data, Elsewhere: ledger}, err
}

// MaxArguments is how many words bwrap takes, the tool's words included (bubblewrap.c, MAX_ARGS; seen with 0.8.0).
const MaxArguments = 9000

// limit says how a limit is held: accessc waits for the tool, and sets resource limits before.
func limit(k ir.LimitKind) ir.Held {
	if k == ir.LimitWallTime {
		return backends.Exact
	}
	return mounts.Rlimits(k)
}

// frame is the arguments that confine every tool. No process of it can be traced, signalled or joined from
// within, it keeps no capability, and it cannot put input into the terminal that it was started from (TIOCSTI).
var frame = []string{
	"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
	"--disable-userns",
	"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--seccomp", Filter, "--clearenv",
}

// Frame returns the arguments that confine every tool.
func Frame() []string { return slices.Clone(frame) }

func arguments(plan *mounts.Plan, l backends.Launch) []string {
	out := Frame()
	if l.Home != "" {
		out = append(out, "--setenv", "HOME", l.Home)
	}
	out = append(out, "--setenv", "TMPDIR", Temp)
	var seals []string
	for _, m := range plan.Mounts {
		args, places := words(m)
		out = append(out, args...)
		for _, p := range places {
			seals = append(seals, "--remount-ro", p)
		}
	}
	// The places that lead to mounts are made with them, and stay as they are from here on.
	out = append(out, seals...)
	if len(plan.Mounts) == 0 || plan.Mounts[0].Place != "/" {
		out = append(out, "--chmod", passed, "/", "--remount-ro", "/")
	}
	return append(out, "--chdir", l.Workspace)
}

// Modes of directories: to be passed and not listed, not to be passed, and the tool's own.
const (
	passed = "0111"
	closed = "0000"
	own    = "0700"
)

// words are the arguments of one mount, and the places that are made read-only once all mounts are made. A
// device is not: bwrap would close it (bubblewrap 0.8, bind_mount() adds MS_NODEV).
func words(m mounts.Mount) (args, seals []string) {
	bind := func(option, from string) []string {
		if m.Node == ir.Unknown {
			option += "-try"
		}
		return []string{option, from, m.Place}
	}
	switch m.Kind {
	case mounts.Lead:
		return []string{"--perms", passed, "--dir", m.Place}, nil
	case mounts.Bind:
		if m.Mode == mounts.ReadWrite {
			return bind("--bind", m.Place), nil
		}
		return bind("--ro-bind", m.Place), nil
	case mounts.Hide:
		return hide(m, bind)
	case mounts.Device:
		return bind("--dev-bind", m.Place), nil
	case mounts.Devices:
		// bwrap shows the terminal of its standard output there (bubblewrap.c, SETUP_MOUNT_DEV).
		return []string{"--dev", m.Place, "--ro-bind", "/dev/null", m.Place + "/console"}, []string{m.Place}
	case mounts.Memory:
		return []string{"--perms", own, "--tmpfs", m.Place}, nil
	case mounts.Processes:
		return []string{"--proc", m.Place}, []string{m.Place}
	case mounts.Link:
		return []string{"--symlink", m.To, m.Place}, nil
	}
	return nil, nil
}

// hide covers a file with a device that a mount without devices does not open, and a directory with an empty directory.
func hide(m mounts.Mount, bind func(option, from string) []string) (args, seals []string) {
	switch m.Node {
	case ir.Dir:
		mode := closed
		if m.Leads {
			mode = passed
		}
		return []string{"--perms", mode, "--tmpfs", m.Place}, []string{m.Place}
	case ir.Unknown:
		return bind("--ro-bind", Nothing(m.Place)), nil
	case ir.Absent, ir.File:
	}
	return bind("--ro-bind", "/dev/null"), nil
}

// Nothing is the symbol, in a portable artifact, of a file or directory that is empty and cannot be opened,
// of the kind that a place has.
func Nothing(place string) string { return "${nothing:" + strings.TrimPrefix(place, "/") + "}" }
