package foreign

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// SRT are the settings of the sandbox runtime (@anthropic-ai/sandbox-runtime), as of version 0.0.83
// on Linux (its README, "Filesystem Configuration" and "Mandatory Deny Paths").
type SRT struct {
	Host
	// The lists of filesystem; a list of denied files of credentials belongs to DenyRead.
	DenyRead, AllowRead, AllowWrite, DenyWrite []Spelled
	// Disabled has the file system as it is; GitConfig lets .git/config be written.
	Disabled, GitConfig bool
	// The lists of network.
	AllowedDomains, DeniedDomains []string
	// Hidden are variables that commands do not get, or not with their value.
	Hidden []string
}

// Spelled is an entry of a list of paths.
type Spelled struct {
	Path    string
	Literal bool // wildcards in it are none
}

// glob reports whether an entry is a pattern.
func (s Spelled) glob() bool { return !s.Literal && strings.ContainsAny(s.Path, "*?[]") }

// pattern is the pattern of an entry, and whether it is none but a path. "dir/**" is dir.
func (s *SRT) pattern(e Spelled) (Pattern, bool) {
	if !e.Literal {
		e.Path = whole(e.Path)
	}
	abs := s.absolute(e.Path, s.Dir)
	if e.glob() {
		return NewPattern(abs), false
	}
	return Pattern{parts: split(s.Follow(abs)), plain: true}, true
}

// opens reports whether an entry that allows is certainly about a path. srt does not open the target of a path
// that leads over a symlink, and patterns differ between systems.
func (s *SRT) opens(e Spelled, abs string) (Pattern, bool) {
	p, plain := s.pattern(e)
	if !e.Literal {
		e.Path = whole(e.Path)
	}
	return p, plain && p.String() == s.absolute(e.Path, s.Dir) && under(abs, p.String())
}

// Reads implements Policy: all paths but the denied ones, and of those the ones that are allowed deeper in.
func (s *SRT) Reads(abs string) bool {
	if s.Disabled {
		return true
	}
	denied := -1
	for _, e := range s.DenyRead {
		p, plain := s.pattern(e)
		switch {
		case plain && under(abs, p.String()):
			denied = max(denied, len(p.parts))
		case !plain && s.covers(p, abs):
			return false
		}
	}
	return denied < 0 || slices.ContainsFunc(s.AllowRead, func(e Spelled) bool {
		p, open := s.opens(e, abs)
		return open && len(p.parts) >= denied
	})
}

// Writes implements Policy: the paths that are allowed, can be read, and are not denied.
func (s *SRT) Writes(abs string) bool {
	if s.Disabled {
		return true
	}
	allowed := slices.ContainsFunc(s.AllowWrite, func(e Spelled) bool {
		_, open := s.opens(e, abs)
		return open
	})
	denied := slices.ContainsFunc(s.DenyWrite, func(e Spelled) bool {
		p, _ := s.pattern(e)
		return s.covers(p, abs)
	})
	return allowed && !denied && s.Reads(abs) && !s.instructs(abs, s.startup())
}

func (s *SRT) startup() []string {
	if s.GitConfig {
		return slices.DeleteFunc(slices.Clone(startup), func(n string) bool { return n == ".git/config" })
	}
	return startup
}

// Connects implements Policy. An entry that denies wins.
func (s *SRT) Connects(host string, port uint16) bool {
	named := func(list []string) bool {
		return slices.ContainsFunc(list, func(entry string) bool { return domain(entry, host, port) })
	}
	return !named(s.DeniedDomains) && named(s.AllowedDomains)
}

// domain compares a host and a port with an entry: a name, "*.name" or "*", with a port or without.
func domain(entry, host string, port uint16) bool {
	pattern, own := splitPort(entry)
	if own != 0 && own != port {
		return false
	}
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	base, wildcard := strings.CutPrefix(pattern, "*.")
	switch {
	case pattern == "*":
		return true
	case wildcard:
		_, err := netip.ParseAddr(host)
		return err != nil && strings.HasSuffix(host, "."+base)
	}
	return host == pattern
}

// splitPort splits an entry into its host, an IPv6 address without brackets, and its port, 0 for none.
func splitPort(entry string) (host string, port uint16) {
	if i := strings.LastIndexByte(entry, ':'); i >= 0 && !strings.HasSuffix(entry, "]") && (strings.HasPrefix(entry, "[") || strings.Count(entry, ":") == 1) {
		if n, err := strconv.ParseUint(entry[i+1:], 10, 16); err == nil && n > 0 && entry[i+1] != '0' {
			return strings.Trim(entry[:i], "[]"), uint16(n)
		}
	}
	return strings.Trim(entry, "[]"), 0
}

// Passes implements Policy: all others are passed on.
func (s *SRT) Passes(name string) bool { return !slices.Contains(s.Hidden, name) }

// Fetches implements Policy: srt confines commands alone.
func (s *SRT) Fetches(string) bool { return false }

// Runs implements Policy: srt runs any command.
func (s *SRT) Runs(string) bool { return true }

// Marks implements Policy.
func (s *SRT) Marks() Marks {
	out := Marks{Paths: []string{s.Dir}, Vars: s.Hidden}
	for _, e := range slices.Concat(s.DenyRead, s.AllowRead, s.AllowWrite, s.DenyWrite) {
		if p, plain := s.pattern(e); plain {
			out.Paths = append(out.Paths, p.String())
		} else {
			out.Patterns = append(out.Patterns, p)
		}
	}
	for _, name := range startup {
		out.Paths = append(out.Paths, path.Join(s.Dir, name))
	}
	for _, e := range slices.Concat(s.AllowedDomains, s.DeniedDomains) {
		host, port := splitPort(e)
		out.Hosts = append(out.Hosts, host)
		if port != 0 {
			out.Ports = append(out.Ports, port)
		}
	}
	return out
}
