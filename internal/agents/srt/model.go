package srt

import (
	"path"
	"slices"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model are the settings of the sandbox runtime (@anthropic-ai/sandbox-runtime), as of version 0.0.83
// on Linux (its README, "Filesystem Configuration" and "Mandatory Deny Paths").
type Model struct {
	foreign.Host
	// The lists of filesystem; a list of denied files of credentials belongs to DenyRead.
	DenyRead, AllowRead, AllowWrite, DenyWrite []foreign.Spelled
	// Disabled has the file system as it is; GitConfig lets .git/config be written.
	Disabled, GitConfig bool
	// The lists of network.
	AllowedDomains, DeniedDomains []string
	// Hidden are variables that commands do not get, or not with their value.
	Hidden []string
}

// Pattern is the pattern of an entry, and whether it is none but a path. "dir/**" is dir.
func (s *Model) Pattern(e foreign.Spelled) (foreign.Pattern, bool) {
	if !e.Literal {
		e.Path = foreign.Whole(e.Path)
	}
	abs := s.Absolute(e.Path, s.Dir)
	if e.Glob() {
		return foreign.NewPattern(abs), false
	}
	return foreign.Pattern{Parts: foreign.Split(s.Follow(abs)), Plain: true}, true
}

// Opens reports whether an entry that allows is certainly about a path. srt does not open the target of a path
// that leads over a symlink, and patterns differ between systems.
func (s *Model) Opens(e foreign.Spelled, abs string) (foreign.Pattern, bool) {
	p, plain := s.Pattern(e)
	if !e.Literal {
		e.Path = foreign.Whole(e.Path)
	}
	return p, plain && p.String() == s.Absolute(e.Path, s.Dir) && foreign.Under(abs, p.String())
}

// Reads implements Policy: all paths but the denied ones, and of those the ones that are allowed deeper in.
func (s *Model) Reads(abs string) bool {
	if s.Disabled {
		return true
	}
	denied := -1
	for _, e := range s.DenyRead {
		p, plain := s.Pattern(e)
		switch {
		case plain && foreign.Under(abs, p.String()):
			denied = max(denied, len(p.Parts))
		case !plain && s.Covers(p, abs):
			return false
		}
	}
	return denied < 0 || slices.ContainsFunc(s.AllowRead, func(e foreign.Spelled) bool {
		p, open := s.Opens(e, abs)
		return open && len(p.Parts) >= denied
	})
}

// Writes implements Policy: the paths that are allowed, can be read, and are not denied.
func (s *Model) Writes(abs string) bool {
	if s.Disabled {
		return true
	}
	allowed := slices.ContainsFunc(s.AllowWrite, func(e foreign.Spelled) bool {
		_, open := s.Opens(e, abs)
		return open
	})
	denied := slices.ContainsFunc(s.DenyWrite, func(e foreign.Spelled) bool {
		p, _ := s.Pattern(e)
		return s.Covers(p, abs)
	})
	return allowed && !denied && s.Reads(abs) && !s.Instructs(abs, s.startup())
}

func (s *Model) startup() []string {
	if s.GitConfig {
		return slices.DeleteFunc(slices.Clone(foreign.Startup), func(n string) bool { return n == ".git/config" })
	}
	return foreign.Startup
}

// Connects implements Policy. An entry that denies wins.
func (s *Model) Connects(host string, port uint16) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(entry string) bool { return foreign.Domain(entry, host, port) })
	}
	return !named(s.DeniedDomains) && named(s.AllowedDomains)
}

// Passes implements Policy: all others are passed on.
func (s *Model) Passes(name string) bool { return !slices.Contains(s.Hidden, name) }

// Fetches implements Policy: srt confines commands alone.
func (s *Model) Fetches(string) bool { return false }

// Runs implements Policy: srt runs any command.
func (s *Model) Runs(string) bool { return true }

// Marks implements Policy.
func (s *Model) Marks() foreign.Marks {
	out := foreign.Marks{Paths: []string{s.Dir}, Vars: s.Hidden}
	for _, e := range slices.Concat(s.DenyRead, s.AllowRead, s.AllowWrite, s.DenyWrite) {
		if p, plain := s.Pattern(e); plain {
			out.Paths = append(out.Paths, p.String())
		} else {
			out.Patterns = append(out.Patterns, p)
		}
	}
	for _, name := range foreign.Startup {
		out.Paths = append(out.Paths, path.Join(s.Dir, name))
	}
	for _, e := range slices.Concat(s.AllowedDomains, s.DeniedDomains) {
		host, port := foreign.SplitPort(e)
		out.Hosts = append(out.Hosts, host)
		if port != 0 {
			out.Ports = append(out.Ports, port)
		}
	}
	return out
}
