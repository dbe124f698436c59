package cursor

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
)

// Model is sandbox.json, as of Cursor 3.23 (cursor.com/docs/reference/sandbox): what commands in the sandbox may do.
// What its documents leave open permits nothing here.
type Model struct {
	foreign.Host
	// ReadOnly has no file be written, Unconfined is a sandbox that is off, Bounded has the workspace and the system
	// be read.
	ReadOnly, Unconfined, Bounded bool
	// Write are absolute paths that are writable too, Protected those that are read alone.
	Write, Protected []string
	// Everyone has hosts be allowed that are in no list.
	Everyone        bool
	Allowed, Denied []string
	// Ignored are the files .cursorignore of the workspace.
	Ignored []Ignored
}

// Ignored is a file of patterns about what lies below a directory, in the syntax of gitignore(5).
type Ignored struct{ Dir, Text string }

// patterns are those of the lines that ignore. Lines that take something back count for nothing here.
func (i Ignored) patterns() (out []foreign.Pattern) {
	for line := range strings.FieldsFuncSeq(i.Text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimRight(strings.TrimPrefix(line, "\ufeff"), " ")
		at := strings.Trim(line, "/")
		if at == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		if !strings.Contains(strings.TrimRight(line, "/"), "/") {
			at = "**/" + at
		}
		out = append(out, foreign.NewPattern(i.Dir+"/"+at))
	}
	return out
}

// Names at any depth of a writable directory: those that no command writes, and those that Cursor's list of files to
// ignore has by itself, which no command reads.
var (
	hiddenNames = []string{".env", ".env.*", "credentials.json", "secrets.json", "*.key", "*.pem", "id_rsa"}
	systemDirs  = []string{"/bin", "/lib", "/lib64", "/sbin", "/usr"}
)

func keptNames() []string {
	return slices.Concat(foreign.Startup, []string{".cursor", ".claude", ".git", ".cursorignore", "*.code-workspace"})
}

// roots are the directories that are writable.
func (c *Model) roots() []string {
	out := []string{c.Dir}
	for _, abs := range c.Write {
		if c.Follow(abs) == abs && path.IsAbs(abs) {
			out = append(out, abs)
		}
	}
	return out
}

// named reports whether a path has one of some names in it: one at the top of a writable directory, or one that is
// there.
func (c *Model) named(abs string, names []string) bool {
	for _, root := range c.roots() {
		if !foreign.Under(abs, root) {
			continue
		}
		parts := foreign.Split(strings.TrimPrefix(abs, root))
		for _, name := range names {
			want := foreign.Split(name)
			for from := range len(parts) - len(want) + 1 {
				to := from + len(want)
				if slices.EqualFunc(want, parts[from:to], foreign.MatchName) &&
					(from == 0 && !foreign.Wild(name) || c.Exists(path.Join(root, path.Join(parts[:to]...)))) {
					return true
				}
			}
		}
	}
	return false
}

// Reads implements Policy.
func (c *Model) Reads(abs string) bool {
	if (foreign.Under(abs, c.Dir) || foreign.Under(abs, c.Home)) && c.named(abs, hiddenNames) {
		return false
	}
	for _, i := range c.Ignored {
		if slices.ContainsFunc(i.patterns(), func(p foreign.Pattern) bool { return c.Covers(p, abs) }) {
			return false
		}
	}
	return !c.Bounded || slices.ContainsFunc(append(c.roots(), systemDirs...),
		func(dir string) bool { return foreign.Under(abs, dir) })
}

// Writes implements Policy.
func (c *Model) Writes(abs string) bool {
	below := func(dir string) bool { return foreign.Under(abs, dir) }
	closed := slices.ContainsFunc(c.Protected,
		func(p string) bool { return foreign.Under(abs, c.Follow(c.Absolute(p, c.Dir))) })
	return !c.ReadOnly && c.Reads(abs) && slices.ContainsFunc(c.roots(), below) && !closed && !c.named(abs, keptNames())
}

// Connects implements Policy: to names alone, since private addresses are refused. An entry that denies counts for its
// host and for the names below.
func (c *Model) Connects(host string, port uint16) bool {
	_, err := netip.ParseAddr(host)
	if err == nil || c.Unconfined || host == "localhost" {
		return false
	}
	denied := slices.ContainsFunc(c.Denied, func(e string) bool {
		base := strings.TrimPrefix(e, "*.")
		return foreign.Domain(base, host, port) || foreign.Domain("*."+base, host, port)
	})
	return !denied && (c.Everyone || slices.ContainsFunc(c.Allowed,
		func(e string) bool { return !strings.Contains(e, ":") && foreign.Domain(e, host, port) }))
}

// Fetches implements Policy: the file is about commands.
func (c *Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (c *Model) Passes(string) bool { return true }

// Runs implements Policy: which commands run is for other settings to say.
func (c *Model) Runs(string) bool { return true }

// Marks implements Policy.
func (c *Model) Marks() foreign.Marks {
	out := foreign.Marks{Paths: slices.Concat(c.roots(), systemDirs), Hosts: slices.Concat(c.Allowed, c.Denied)}
	for _, p := range c.Protected {
		out.Paths = append(out.Paths, c.Follow(c.Absolute(p, c.Dir)))
	}
	for _, i := range c.Ignored {
		out.Patterns = append(out.Patterns, i.patterns()...)
	}
	for _, root := range c.roots() {
		for _, name := range slices.Concat(keptNames(), hiddenNames) {
			if foreign.Wild(name) {
				out.Patterns = append(out.Patterns, foreign.NewPattern(path.Join(root, "**", name)))
				continue
			}
			out.Paths = append(out.Paths, path.Join(root, name))
		}
	}
	return out
}
