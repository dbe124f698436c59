package devcontainer

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model is a development container (containers.dev, "Dev Container metadata reference", as of 2026-03-17). Of
// the machine's files it has those that are mounted into it, and of the caller's variables those that it names.
// Metadata of its image and its features are not part of it.
type Model struct {
	foreign.Host
	Mounts []Mount
	// Env are the variables of containerEnv and remoteEnv, each with its values; "" unsets one.
	Env map[string][]string
	// Offline closes the network.
	Offline bool
}

// Mount is a directory or a file of the machine in the container.
type Mount struct {
	// Source is an absolute path of the machine, empty for a mount of none of its files.
	Source, Target string
	ReadOnly       bool
}

// shows reports whether a mount makes a file of the machine visible: others may lie over a part of it.
func (d *Model) shows(m Mount, abs string) bool {
	if m.Source == "" || d.Follow(m.Source) != m.Source || !foreign.Under(abs, m.Source) {
		return false
	}
	inside := path.Join(m.Target, strings.TrimPrefix(abs, m.Source))
	return !slices.ContainsFunc(d.Mounts, func(o Mount) bool {
		return o.Target != m.Target && foreign.Under(o.Target, m.Target) && foreign.Under(inside, o.Target)
	})
}

// Reads implements Policy.
func (d *Model) Reads(abs string) bool {
	return slices.ContainsFunc(d.Mounts, func(m Mount) bool { return d.shows(m, abs) })
}

// Writes implements Policy.
func (d *Model) Writes(abs string) bool {
	return slices.ContainsFunc(d.Mounts, func(m Mount) bool { return !m.ReadOnly && d.shows(m, abs) })
}

// Connects implements Policy.
func (d *Model) Connects(string, uint16) bool { return !d.Offline }

// Fetches implements Policy: an agent outside of the container is not known.
func (d *Model) Fetches(string) bool { return false }

// Passes implements Policy: of a variable that is given the value of its own name.
func (d *Model) Passes(name string) bool {
	values := d.Env[name]
	return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return v != "${localEnv:"+name+"}" })
}

// Runs implements Policy.
func (d *Model) Runs(string) bool { return true }

// Marks implements Policy.
func (d *Model) Marks() foreign.Marks {
	out := foreign.Marks{Paths: []string{d.Dir}}
	for name := range d.Env {
		out.Vars = append(out.Vars, name)
	}
	for _, m := range d.Mounts {
		if m.Source == "" {
			continue
		}
		out.Paths = append(out.Paths, m.Source)
		for _, o := range d.Mounts {
			if foreign.Under(o.Target, m.Target) {
				out.Paths = append(out.Paths, path.Join(m.Source, strings.TrimPrefix(o.Target, m.Target)))
			}
		}
	}
	return out
}
