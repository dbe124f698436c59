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
	"github.com/accessc/accessc/internal/text/strictjson"
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
	start := target.Place(ir.In(""))
	placed := places(plan)
	if why := placed.unfit(start); why != "" {
		return backends.Output{Refusals: []backends.Refusal{{Why: why}}}, nil
	}
	ledger := plan.Ledger(mounts.Means{HostTree: true, OwnProcesses: true, SetID: true})
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
	text := slices.Concat(comments(comment), frame, []string{temporary, "private-cwd " + start}, placed.lines())
	return backends.Output{Data: []byte(strings.Join(text, "\n") + "\n"), Elsewhere: ledger}, nil
}

// variable begins the words of the one line about the environment. Where an unprivileged user starts firejail, the
// loader takes TMPDIR away: firejail is set-user-id (ld.so(8), secure-execution mode).
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

// maxLine is how many bytes of a line firejail reads. It takes the rest for a line of its own (profile.c, MAX_READ),
// and refuses the profile or does as the rest says.
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
// capabilities in it try the kernel's rarer parts. A private /dev has cameras, microphones, disks and keys of the host,
// and the socket of its log, unless each is taken away (firejail(1), --private-dev).
var frame = []string{
	"quiet", "caps.drop all", "nonewprivs", "noroot", "restrict-namespaces", "seccomp", "net none", "ipc-namespace",
	"dbus-user none", "dbus-system none", "private-dev", "no3d", "nodvd", "noinput", "noprinters", "nosound", "notv",
	"nou2f", "novideo", "blacklist /dev/log",
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
		if !slices.Contains([]string{"env", "private-cwd", "whitelist", "noblacklist", "blacklist", "read-only",
			"read-write"}, word) || place == "" || own != (word == "env") {
			return nil, nil, fmt.Errorf("%w: found the line %q", ErrProfile, l)
		}
		if len(l) > maxLine || !named(word+" "+place) {
			return nil, nil, fmt.Errorf("%w: firejail does not take %q for the name of one place", ErrProfile, place)
		}
		lines = append(lines, Line{word, value})
	}
	return c, lines, nil
}
