package codex

import (
	"strings"

	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
)

// networkOf reads the rules for hosts.
func (c *reader) networkOf(e *source.Entry) {
	if e.Value.Table == nil {
		c.Wrong(e, "expected a table")
		return
	}
	other := func(e *source.Entry) {
		c.Add(e, "network."+e.Key, "").Become(importer.LeftOut, "it is about Codex' proxy, or sockets of this machine")
	}
	members := importer.Tables{
		"enabled": func(e *source.Entry) {
			c.network = e.Value.Bool
			c.Add(e, "network.enabled", "").Become(importer.Carried, "hosts need rules")
		},
		"mode": func(e *source.Entry) {
			c.limited = e.Value.Text != "full"
			c.Add(e, "network.mode", e.Value.Text).Become(importer.Carried, "it bounds what is carried over")
		},
		"domains": c.domains,
	}
	for _, key := range strings.Fields(`allow_local_binding unix_sockets proxy_url socks_url enable_socks5 enable_socks5_udp allow_upstream_proxy
		dangerously_allow_non_loopback_proxy dangerously_allow_all_unix_sockets`) {
		members[key] = other
	}
	c.Table(e.Value.Table, "network", members)
	if !c.network || c.limited {
		for _, l := range c.allowed {
			l.Entry.Become(importer.LeftOut, "the network is not enabled, or not for all methods")
		}
		c.allowed = nil
	}
}

func (c *reader) domains(e *source.Entry) {
	if e.Value.Table == nil {
		c.Wrong(e, "expected a table")
		return
	}
	for i := range e.Value.Table.Entries {
		h := &e.Value.Table.Entries[i]
		list := &c.allowed
		if h.Value.Text != "allow" {
			list = &c.denied
		}
		if h.Value.Text != "allow" && h.Value.Text != "deny" {
			c.Wrong(h, "expected allow or deny")
		}
		note := c.Add(h, "network.domains", h.Key+" "+h.Value.Text)
		names := []string{h.Key}
		if base, both := strings.CutPrefix(h.Key, "**."); both {
			names = []string{base, "*." + base}
		}
		for _, n := range names {
			*list = append(*list, importer.Listed{Spelled: foreign.Spelled{Path: n}, Entry: note})
		}
	}
}

// environment reads which variables commands get.
func (c *reader) environment(e *source.Entry) {
	if e.Value.Table == nil {
		c.Wrong(e, "expected a table")
		return
	}
	other := func(e *source.Entry) {
		c.Add(e, e.Key, "").Become(importer.LeftOut, "the base's variables alone are passed on")
	}
	c.Table(e.Value.Table, "shell_environment_policy", importer.Tables{
		"inherit": func(e *source.Entry) {
			note := c.Add(e, "shell_environment_policy.inherit", e.Value.Text)
			switch e.Value.Text {
			case "all":
			case "core":
				c.kept = []string{"HOME", "PATH", "USER"}
			case "none":
				c.kept = []string{}
			default:
				c.Wrong(e, "expected all, core or none")
			}
			note.Become(importer.Carried, "the others are not passed on")
		},
		"exclude": func(e *source.Entry) {
			for i, v := range c.Array(e) {
				c.dropped = append(c.dropped,
					importer.Listed{Spelled: foreign.Spelled{Path: v.Text},
						Entry: c.Add(e, importer.ElementOf("shell_environment_policy.exclude", i), v.Text)})
			}
		},
		"include_only": func(e *source.Entry) {
			only := []string{}
			for i, v := range c.Array(e) {
				c.Add(e, importer.ElementOf("shell_environment_policy.include_only", i),
					v.Text).Become(importer.Carried, "the others are not passed on")
				only = append(only, v.Text)
			}
			c.only = only
		},
		"set": other, "ignore_default_excludes": other, "experimental_use_profile": other,
	})
}
