// Package judge decides about the paths and addresses that a message to a confined program
// names, before the program gets the message.
//
// The kernel decides as well, when the program acts. Asked in advance, a refusal has no side
// effects, and it names the rule and the configuration that would permit the call, which no
// program can do for itself. So a text is judged only where it is clear that it is a path
// (decision D137); no judgement is no permission.
package judge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
)

// Judge asks one policy. It is safe for concurrent use.
type Judge struct {
	// View is the policy, Roots the places of its roots.
	View  *ir.View
	Roots *ir.Bindings
	// Dir is the canonical directory from which the program's relative paths count.
	Dir string
	// Home is the directory that ~ stands for, empty for none.
	Home string
}

// Refusal is a text that the policy refuses.
type Refusal struct {
	// Asked is the text, Denial the refused operation; nil where the text names no place.
	Asked  string
	Denial *denial.Denial
	why    string
}

// Text is the reason for a person, with the configuration that would grant the operation.
func (r *Refusal) Text() string {
	if r.Denial == nil {
		return r.why
	}
	return r.Denial.Text()
}

// Argument judges a text that a message has under a name; nil is no objection.
// See decision D137.
func (j *Judge) Argument(name, text string) *Refusal {
	words := wordsOf(name)
	switch scheme := schemeOf(text); {
	case scheme == "file":
		return j.Path(text)
	case scheme != "":
		if overlap(words, addressWords) {
			return j.Connect(text)
		}
		return nil
	}
	if !j.isPath(words, text) {
		return nil
	}
	return j.Path(text)
}

// pathWords and addressWords are the words in the names of members whose values are paths and
// addresses.
var (
	pathWords = []string{
		"path", "paths", "file", "files", "filename", "filenames", "filepath", "dir", "dirs", "directory", "directories", "folder", "cwd",
	}
	addressWords = []string{"url", "urls", "uri", "uris", "href", "endpoint", "address"}
)

// longest is the longest path that a system takes, in bytes (path_resolution(7)).
const longest = 4096

// isPath reports whether a text is a path beyond doubt: by the name that it has, by its form, or
// since it leads to a file.
func (j *Judge) isPath(words []string, text string) bool {
	switch {
	case text == "" || len(text) > longest:
		return false
	case overlap(words, pathWords), strings.ContainsRune(text, 0), text == "~", strings.HasPrefix(text, "~/"):
		return true
	case text != trimmed(text):
		return j.isPath(words, trimmed(text))
	case strings.ContainsRune(text, '\n'):
		return false
	case absolute(text), slices.Contains(strings.FieldsFunc(text, separator), ".."):
		return true
	}
	first := strings.FieldsFunc(text, separator)
	if len(first) == 0 {
		return false
	}
	_, err := os.Lstat(filepath.Join(j.Dir, first[0]))
	return err == nil
}

// Path judges a path: something must be granted at the name and at the place that it leads to.
func (j *Judge) Path(text string) *Refusal {
	return j.each(text, func(abs string) *Refusal {
		r := resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: j.Roots.Workspace}
		for _, follow := range []bool{true, false} {
			place, kind, err := r.Kernel(abs, follow, j.Roots)
			if err != nil {
				return &Refusal{Asked: text, why: "the path cannot be followed: " + err.Error()}
			}
			if refused := j.nothing(text, place, kind); refused != nil {
				return refused
			}
		}
		return nil
	})
}

// each judges every path that a text may be, until one is refused.
func (j *Judge) each(text string, judge func(abs string) *Refusal) *Refusal {
	readings, err := Readings(text)
	if err != nil {
		return &Refusal{Asked: text, why: err.Error()}
	}
	for _, path := range readings {
		if strings.HasPrefix(path, "~") && j.Home == "" {
			return &Refusal{Asked: text, why: "the path begins with ~, and there is no home directory"}
		}
		if refused := judge(j.Absolute(path)); refused != nil {
			return refused
		}
	}
	return nil
}

// nothing refuses a place at which no capability is granted.
func (j *Judge) nothing(text string, on ir.Place, kind ir.NodeKind) *Refusal {
	for _, c := range ir.Capabilities {
		if j.View.Decide(ir.Access{Cap: c, On: on}).Allowed() {
			return nil
		}
	}
	need := ir.Read
	if kind == ir.Absent {
		need = ir.Create
	}
	return j.refuse(text, ir.Access{Cap: need, On: on}, ir.Caps(need))
}

// Access judges one capability on a path.
func (j *Judge) Access(need ir.Capability, text string) *Refusal {
	if refused := j.Path(text); refused != nil {
		return refused
	}
	return j.each(text, func(abs string) *Refusal {
		r := resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: j.Roots.Workspace}
		place, kind, err := r.Kernel(abs, true, j.Roots)
		if err != nil {
			return &Refusal{Asked: text, why: "the path cannot be followed: " + err.Error()}
		}
		op := ir.Access{Cap: need, On: place, Name: ir.NameFile}
		if need == ir.Update && kind == ir.Absent {
			op.Cap = ir.Create
		}
		if j.View.Decide(op).Allowed() {
			return nil
		}
		return j.refuse(text, op, ir.Caps(op.Cap))
	})
}

// Absolute makes a path absolute as a program in the judge's directory does.
func (j *Judge) Absolute(text string) string {
	switch {
	case (text == "~" || strings.HasPrefix(text, "~/")) && j.Home != "":
		return j.Home + text[1:]
	case absolute(text):
		return text
	default:
		return j.Dir + "/" + text
	}
}

// Connect judges an address.
func (j *Judge) Connect(text string) *Refusal {
	to, err := resolve.URL(text)
	if err != nil {
		return nil // an address of no network, such as memo://
	}
	op := ir.Connect{To: to}
	if j.View.Reach(to).Allowed() {
		return nil
	}
	return j.refuse(text, op, 0)
}

// Closed returns a rule below a path that does not grant reading; nil for none.
func (j *Judge) Closed(text string) ir.Rule {
	readings, _ := Readings(text) // Path has refused a text that has none
	for _, path := range readings {
		r := resolve.Resolver{Disk: resolve.Through(hostview.Now), Root: j.Roots.Workspace}
		place, _, err := r.Kernel(j.Absolute(path), true, j.Roots)
		if err != nil {
			continue // Access has refused it
		}
		for _, e := range j.View.Entries() {
			below := e.Rule.At != place.At && e.Rule.At.Under(place.At)
			if below && !j.View.Decide(ir.Access{Cap: ir.Read, On: ir.Direct(e.Rule.At)}).Allowed() {
				return e.Rule
			}
		}
	}
	return nil
}

func (j *Judge) refuse(text string, op ir.Operation, wants ir.CapSet) *Refusal {
	return &Refusal{Asked: text, Denial: &denial.Denial{
		Time: time.Now(), By: denial.ByPolicy, Operation: op, Wants: wants, Verdict: j.View.Decide(op),
		Asked: []string{text}, View: j.View, Roots: j.Roots,
	}}
}

// schemeOf is the scheme of a text that is a URL, in lower case; empty for any other.
func schemeOf(text string) string {
	scheme, rest, ok := strings.Cut(text, ":")
	letters := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	// One letter is a drive.
	if !ok || len(scheme) < 2 || strings.TrimFunc(scheme, letters) != "" || strings.ContainsFunc(text, unicode.IsSpace) {
		return ""
	}
	scheme = strings.ToLower(scheme)
	if scheme != "file" && !strings.HasPrefix(rest, "//") {
		return ""
	}
	return scheme
}

func absolute(text string) bool { return strings.HasPrefix(text, "/") || filepath.IsAbs(text) }

func separator(r rune) bool { return r == '/' || r == filepath.Separator }

// wordsOf are the words of a name in snake or camel case, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
