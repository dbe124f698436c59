package firejail

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/mounts"
	"github.com/accessc/accessc/internal/strictjson"
	"github.com/accessc/accessc/ir"
)

// format identifies the document, in its comment.
const format = "accessc/firejail"

// formatVersion is the version of the document.
const formatVersion = 1

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "firejail" }

// File implements backends.Backend.
func (Backend) File() string { return "firejail.profile" }

// Platform implements backends.Backend.
func (Backend) Platform() ir.Platform { return ir.Linux }

// Comment is the first lines of a profile, which firejail ignores.
type Comment struct {
	backends.Header
	Tool string `json:"tool"` // the tool's name
	// Accept are the gaps that the policy accepts.
	Accept []string `json:"accept,omitempty"`
	// Ledger says how firejail holds every cell.
	Ledger []backends.Row `json:"ledger"`
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := mounts.New(t, target)
	lines := append([]string{"private-cwd " + target.Place(ir.In(""))}, places(plan)...)
	for _, l := range lines {
		if _, place, _ := strings.Cut(l, " "); !plain(place) && !slices.Contains(everything, l) {
			return backends.Output{Refusals: []backends.Refusal{{Why: fmt.Sprintf("firejail does not take %q for the name of one place", place)}}}, nil
		}
		if len(l) > maxLine {
			why := fmt.Sprintf("firejail reads %d bytes of a line, and that of the place %.40s… has %d", maxLine, l, len(l))
			return backends.Output{Refusals: []backends.Refusal{{Why: why}}}, nil
		}
	}
	ledger := plan.Ledger(mounts.Means{HostTree: true, OwnProcesses: true})
	c := Comment{
		Header: backends.Header{Format: format, Version: formatVersion, Form: target.Form.String()}, Tool: t.Name,
		Ledger: backends.NewRows(ledger),
	}
	for _, a := range t.Accept {
		c.Accept = append(c.Accept, string(a.Gap))
	}
	comment, err := backends.Compact(c)
	if err != nil {
		return backends.Output{}, err
	}
	temporary := "env " + variable + target.Place(ir.Location{Root: ir.Root{Kind: ir.Temp}})
	text := slices.Concat(comments(comment), frame, []string{temporary}, lines)
	return backends.Output{Data: []byte(strings.Join(text, "\n") + "\n"), Elsewhere: ledger}, nil
}

// variable begins the words of the one line about the environment. Where an unprivileged user starts firejail, the loader takes TMPDIR away: firejail
// is set-user-id (ld.so(8), secure-execution mode).
const variable = "TMPDIR="

// special are the characters that firejail takes for parts of patterns, lists and comments, and those at which it
// refuses a whole profile (util.c, reject_meta_chars; both seen with 0.9.72).
const special = "*?[,#\\!\"%&;<>^{}"

// plain reports whether firejail takes a place for just that name. It makes one blank of several and of tabs, drops
// those at the end of a line, and ends a line at a carriage return (util.c, line_remove_spaces).
func plain(place string) bool {
	if symbol, rest, found := strings.Cut(place, "}"); found && strings.HasPrefix(symbol, "${") {
		place = rest
	}
	return !strings.ContainsAny(place, special) && !strings.ContainsFunc(place, unicode.IsControl) &&
		!strings.Contains(place, "  ") && !strings.HasPrefix(place, " ") && !strings.HasSuffix(place, " ")
}

// mark begins each line of the comment.
const mark = "# "

// maxLine is how many bytes of a line firejail reads. It takes the rest for a line of its own (profile.c, MAX_READ), and refuses the
// profile or does as the rest says.
const maxLine = 8190

// longest is the number of bytes of the comment in one line.
const longest = 4096

// comments are the lines of a comment.
func comments(text []byte) []string {
	var out []string
	for part := range slices.Chunk(text, longest) {
		out = append(out, mark+string(part))
	}
	return out
}

// uncomment joins the lines of the comment that a profile begins with.
func uncomment(data []byte) (comment, rest []byte) {
	for rest = data; bytes.HasPrefix(rest, []byte(mark)); {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		comment = append(comment, line[len(mark):]...)
	}
	return comment, rest
}

// frame is the part that all profiles have. Without restrict-namespaces a tool could make a namespace, and with
// capabilities in it try the kernel's rarer parts. A private /dev has cameras, microphones, disks and keys of the host, and
// the socket of its log, unless each is taken away (firejail(1), --private-dev).
var frame = []string{
	"quiet", "caps.drop all", "nonewprivs", "noroot", "restrict-namespaces", "seccomp", "net none", "ipc-namespace", "dbus-user none", "dbus-system none",
	"private-dev", "no3d", "nodvd", "noinput", "noprinters", "nosound", "notv", "nou2f", "novideo", "blacklist /dev/log",
}

// places are the lines about files. firejail applies whitelist first and the others in their order (sandbox.c,
// fs_whitelist and fs_blacklist).
func places(plan *mounts.Plan) []string {
	var shown, rest []string
	tops := []string{"/dev", "/proc", "/run"}
	for _, m := range plan.Mounts {
		if covered(plan, m) {
			continue
		}
		if i := strings.IndexByte(m.Place[1:], '/'); strings.HasPrefix(m.Place, "/") && i >= 0 {
			tops = append(tops, m.Place[:i+1])
		} else if strings.HasPrefix(m.Place, "/") {
			tops = append(tops, m.Place)
		}
		inner := within(plan, m)
		switch {
		case m.Kind == mounts.Hide:
			rest = append(rest, "blacklist "+m.Place)
		case m.Kind != mounts.Bind || m.Pin:
		case inner == mounts.Closed:
			if strings.Count(m.Place, "/") > 1 || !strings.HasPrefix(m.Place, "/") {
				shown = append(shown, "whitelist "+m.Place)
			}
			switch whole := strings.HasPrefix(m.Place, "/") && strings.Count(m.Place, "/") == 1; {
			case m.Mode == mounts.ReadOnly:
				rest = append(rest, "read-only "+m.Place)
			case whole: // no directory of firejail's is around it, but the host's /
				rest = append(rest, "read-write "+m.Place)
			}
		case m.Mode == mounts.ReadOnly:
			rest = append(rest, "read-only "+m.Place)
		default:
			rest = append(rest, "read-write "+m.Place)
		}
	}
	slices.Sort(tops)
	var open []string
	for _, top := range slices.Compact(tops) {
		open = append(open, "noblacklist "+top)
	}
	open = append(append(open, kept...), everything...)
	return slices.Concat(shown, open, rest)
}

// kept are the lines about places in /run that stay: firejail's own, and a symbolic link to shared memory, which firejail would follow, so that the
// private /dev/shm was covered (Debian has the link).
var kept = []string{"noblacklist /run/firejail", "noblacklist /run/shm"}

// everything are the lines that cover all directories without an exception, and keep the others as they are: root could
// make, move and remove names in /, which is the host's. firejail 0.9.72 does not start where /run is read-only.
// See RATIONALE D288.
var everything = []string{"blacklist /*", "blacklist /run/*", "read-only /"}

// within is the mode of the mount around another one.
func within(plan *mounts.Plan, m mounts.Mount) mounts.Mode {
	mode, longest := mounts.Closed, 0
	for _, o := range plan.Mounts {
		if o.Place != m.Place && o.Kind == mounts.Bind && ir.Within(m.Place, o.Place) && len(o.Place) > longest {
			mode, longest = o.Mode, len(o.Place)
		}
	}
	return mode
}

// covered reports whether a place lies in one that is covered, where firejail can show nothing.
func covered(plan *mounts.Plan, m mounts.Mount) bool {
	return slices.ContainsFunc(plan.Mounts, func(o mounts.Mount) bool {
		return o.Kind == mounts.Hide && o.Place != m.Place && ir.Within(m.Place, o.Place)
	})
}

// ErrProfile is wrapped by every refusal of a profile.
var ErrProfile = errors.New("not a usable profile for firejail")

// Line is one line of a profile.
type Line struct {
	Word  string // the command
	Value string // empty for some
}

// Parse reads a profile: its comment and its lines. Lines that no compiler writes are refused.
func Parse(data []byte) (*Comment, []Line, error) {
	comment, rest := uncomment(data)
	if len(comment) == 0 {
		return nil, nil, fmt.Errorf("%w: it does not begin with a comment", ErrProfile)
	}
	if err := backends.CheckHeader(ErrProfile, comment, format, formatVersion); err != nil {
		return nil, nil, err
	}
	c := &Comment{}
	if err := strictjson.Unmarshal(comment, c); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	text := strings.Split(strings.TrimSuffix(string(rest), "\n"), "\n")
	if len(text) < len(frame) || !slices.Equal(text[:len(frame)], frame) {
		return nil, nil, fmt.Errorf("%w: it does not begin as every profile does", ErrProfile)
	}
	var lines []Line
	for _, l := range text[len(frame):] {
		word, value, _ := strings.Cut(l, " ")
		place, own := strings.CutPrefix(value, variable)
		if !slices.Contains([]string{"env", "private-cwd", "whitelist", "noblacklist", "blacklist", "read-only", "read-write"}, word) || place == "" || own != (word == "env") {
			return nil, nil, fmt.Errorf("%w: found the line %q", ErrProfile, l)
		}
		if len(l) > maxLine || !plain(place) && !slices.Contains(everything, l) {
			return nil, nil, fmt.Errorf("%w: firejail does not take %q for the name of one place", ErrProfile, place)
		}
		lines = append(lines, Line{word, value})
	}
	return c, lines, nil
}
