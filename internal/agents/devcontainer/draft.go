package devcontainer

import (
	"path"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
)

// confine writes rules for files: those that a mount shows and no other one hides.
func (c *reader) confine() {
	var points []importer.Point
	for i, m := range c.mounts {
		if m.source == "" {
			continue
		}
		points = append(points, importer.Point{Abs: m.source, Entry: m.entry, Opens: true})
		for j, o := range c.mounts {
			if i != j && ir.Within(o.target, m.target) {
				points = append(points, importer.Point{Abs: c.t.Host.Follow(path.Join(m.source,
					strings.TrimPrefix(o.target, m.target))), Entry: o.entry})
			}
		}
	}
	c.t.Files(points, func(abs string) importer.Access {
		var out importer.Access
		for i, m := range c.mounts {
			if m.source == "" || !ir.Within(abs, m.source) {
				continue
			}
			at := path.Join(m.target, strings.TrimPrefix(abs, m.source))
			hidden := false
			for j, o := range c.mounts {
				hidden = hidden || i != j && ir.Within(o.target, m.target) && ir.Within(at, o.target)
			}
			out.Read, out.Write = out.Read || !hidden, out.Write || !hidden && !m.readOnly
		}
		return out
	})
	if !c.model.Offline {
		e := &importer.Entry{Key: "network, which nothing closes"}
		e.Become(importer.LeftOut, "every host is open; write that rule yourself")
		c.t.Entries = append(c.t.Entries, e)
	}
}

// forward writes rules for variables: of the caller's none is passed on but those that are named.
func (c *reader) forward() {
	names := []string{"PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TERM"}
	for _, name := range names {
		if c.env[name] == nil {
			c.t.Draft.Env = append(c.t.Draft.Env,
				importer.EnvRule{Name: name, Read: false, From: "the container has its own"})
		}
	}
	for _, n := range c.d.Root.Children('{') {
		for _, item := range n.Children('{') {
			if e := c.env[item.Key]; e != nil && e.Fate == importer.Carried &&
				(n.Key == "containerEnv" || n.Key == "remoteEnv") {
				c.t.Draft.Env = append(c.t.Draft.Env, importer.EnvRule{Name: item.Key, Read: true, From: e.From()})
				c.env[item.Key] = nil
			}
		}
	}
}

// evaluation is the model of the container.
func (c *reader) evaluation() foreign.Policy {
	for _, m := range c.mounts {
		c.model.Mounts = append(c.model.Mounts, Mount{Source: m.source, Target: m.target, ReadOnly: m.readOnly})
	}
	return &c.model
}
