package ruleset

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/ruleset/shell"
)

// Matcher decides whether a rule is about an operation, or about a program that a command line
// starts.
//
//sumtype:decl
type Matcher interface{ match(*question) answer }

// question is the subject of a matcher.
type question struct {
	*judge
	// part is the program, nil for operations that start none.
	part *shell.Part
	// loose is true where a match must not be missed: for rules that deny or ask, and below Not for
	// rules that allow.
	loose bool
	// passes is true for a part that does nothing by itself: no rule about every command is about it.
	passes bool
}

// answer is whether a matcher matches, and the number of leading words that it spells out.
type answer struct {
	tri
	reach int
}

// words are the words of the program, nil if there is none.
func (q *question) words() []shell.Word {
	if q.part == nil {
		return nil
	}
	return q.part.Words
}

// All matches where all of its matchers do.
type All []Matcher

func (m All) match(q *question) answer {
	out := answer{tri: yes}
	for _, x := range m {
		a := x.match(q)
		out = answer{both(out.tri, a.tri), max(out.reach, a.reach)}
	}
	return out
}

// Any matches where some of its matchers do.
type Any []Matcher

func (m Any) match(q *question) answer {
	out := answer{}
	for _, x := range m {
		if a := x.match(q); a.tri > out.tri || a.tri == out.tri && a.reach > out.reach {
			out = a
		}
	}
	return out
}

// Not matches where its matcher does not.
type Not struct {
	Matcher Matcher // never nil
}

func (m Not) match(q *question) answer {
	opposite := *q
	opposite.loose = !q.loose
	return answer{tri: m.Matcher.match(&opposite).not()}
}

// Command matches programs by name, and by the words that follow. A name with a slash is a path as
// it is written.
type Command struct {
	Names []string // one of them
	// Subcommands are words, joined by blanks; one of them must follow the known options of the
	// program. Empty means any words.
	Subcommands []string
}

func (m Command) match(q *question) answer {
	words := q.words()
	if len(words) == 0 {
		return answer{}
	}
	named := no
	for _, n := range m.Names {
		named = either(named, q.named(words[0], n))
	}
	if len(m.Subcommands) == 0 || named == no {
		return answer{named, 1}
	}
	out := answer{}
	for _, s := range m.Subcommands {
		if a := q.subcommand(strings.Fields(s)); a.tri > out.tri || a.tri == out.tri && a.reach > out.reach {
			out = a
		}
	}
	return answer{both(named, out.tri), out.reach}
}

// named compares the name of a program: as it is written, or loosely its last element.
func (q *question) named(w shell.Word, name string) tri {
	switch {
	case w.Form != shell.Literal:
		return maybe
	case w.Text == name:
		return yes
	case !q.loose:
		return no
	}
	return truth(Alike(w.Text, name))
}

// Alike reports whether a rule that denies takes two names of programs for the same: by their last
// elements, in upper or lower case, with ".exe" or without it.
func Alike(a, b string) bool {
	end := func(s string) string { return strings.TrimSuffix(strings.ToLower(path.Base(s)), ".exe") }
	return strings.EqualFold(end(a), end(b))
}

// subcommand looks for words behind the options of the program.
func (q *question) subcommand(want []string) answer {
	p := q.part
	if at := p.First; at+len(want) <= len(p.Words) {
		found := yes
		for i, w := range want {
			found = both(found, same(p.Words[at+i], w))
		}
		if found == yes && p.Known || found == maybe {
			return answer{found, at + len(want)}
		}
	}
	if p.Known || !q.loose {
		return answer{}
	}
	// An option that is not known may have a value or not.
	for at := 1; at+len(want) <= len(p.Words); at++ {
		found := yes
		for i, w := range want {
			found = both(found, same(p.Words[at+i], w))
		}
		if found != no {
			return answer{maybe, 0}
		}
	}
	return answer{}
}

// same compares a word with a text. A pattern is another number of words as a rule.
func same(w shell.Word, text string) tri {
	switch {
	case w.Form == shell.Literal:
		return truth(w.Text == text)
	case strings.HasPrefix(text, w.Text) || strings.HasPrefix(w.Text, text):
		return maybe
	}
	return no
}

// Prefix matches programs whose first words are one of its sequences.
type Prefix [][]string

func (m Prefix) match(q *question) answer {
	out, words := answer{}, q.words()
	for _, seq := range m {
		if q.loose && out.tri == no && q.scattered(seq) {
			out = answer{maybe, 0}
		}
		if len(seq) == 0 || len(seq) > len(words) {
			continue
		}
		found := q.named(words[0], seq[0])
		for i := 1; i < len(seq); i++ {
			found = both(found, same(words[i], seq[i]))
		}
		if found > out.tri || found == out.tri && len(seq) > out.reach {
			out = answer{found, len(seq)}
		}
	}
	return out
}

// scattered reports whether a program has the words of a sequence with options between them, its options in any
// form: git -C . push is git push, rm -v -r -f is rm -rf.
func (q *question) scattered(seq []string) bool {
	words := q.words()
	if len(seq) < 2 || len(words) < 2 || q.named(words[0], seq[0]) == no {
		return false
	}
	var flags Flags
	at := 1
	if q.part.Known {
		at = q.part.First
	}
	for i, want := range seq[1:] {
		if len(want) > 1 && want[0] == '-' {
			flags = append(flags, want)
			continue
		}
		found := slices.IndexFunc(words[min(at, len(words)):], func(w shell.Word) bool { return same(w, want) != no })
		if found < 0 || i == 0 && q.part.Known && found > 0 {
			return false
		}
		at += found + 1
	}
	return flags.match(q).tri != no
}

// Args matches programs by all of their arguments. A final "**" stands for any further words. Without
// it, the end of the arguments is spelled out too.
type Args [][]string

func (m Args) match(q *question) answer {
	out, words := answer{}, q.words()
	if len(words) == 0 {
		return out
	}
	for _, seq := range m {
		fixed, rest := seq, false
		if n := len(seq); n > 0 && seq[n-1] == "**" {
			fixed, rest = seq[:n-1], true
		}
		found, reach := q.args(words[1:], fixed, rest), 1+len(fixed)
		if !rest {
			reach++
		}
		if found == no && q.loose && q.part.First > 1 && q.part.First <= len(words) {
			found = both(maybe, q.args(words[q.part.First:], fixed, rest)) // options stand in front of them
		}
		if found > out.tri || found == out.tri && reach > out.reach {
			out = answer{found, reach}
		}
	}
	return out
}

// args compares arguments with a sequence. From the first word that is not literal on, the number
// of words is not known.
func (q *question) args(words []shell.Word, fixed []string, rest bool) tri {
	for i, want := range fixed {
		switch {
		case i >= len(words):
			return no
		case words[i].Form != shell.Literal:
			return same(words[i], want)
		case words[i].Text != want:
			return no
		}
	}
	more := words[len(fixed):]
	switch {
	case rest || len(more) == 0:
		return yes
	case slices.ContainsFunc(more, func(w shell.Word) bool { return w.Form == shell.Literal }):
		return no
	default:
		return maybe
	}
}

// Within matches operations whose working directory and files, or whose words that may name files,
// lie in one directory. It is an absolute path.
type Within string

func (m Within) match(q *question) answer {
	if q.part == nil {
		found := truth(len(q.op.Paths) > 0)
		for _, p := range q.op.Paths {
			if !path.IsAbs(p) {
				p = q.op.Dir + "/" + p
			}
			found = both(found, q.within(string(m), p))
		}
		return answer{tri: found}
	}
	found := truth(len(q.part.Dirs) > 0)
	if found == no {
		found = maybe
	}
	for _, d := range q.part.Dirs {
		found = both(found, q.within(string(m), d))
		for _, w := range q.part.Words[1:] {
			found = both(found, q.wordWithin(string(m), d, w))
		}
	}
	return answer{tri: found}
}

// wordWithin reports whether a word that may name a file lies in a directory.
func (q *question) wordWithin(outer, dir string, w shell.Word) tri {
	found := yes
	for _, p := range candidates(w) {
		if !path.IsAbs(p) {
			p = dir + "/" + p
		}
		found = both(found, q.within(outer, p))
	}
	if w.Form != shell.Literal {
		// A pattern may become the name of a symlink.
		found = both(found, maybe)
	}
	return found
}

// candidates are the paths that a word may contain: the whole, the value of an option, and the
// elements of a list.
func candidates(w shell.Word) []string {
	out := strings.FieldsFunc(w.Text, func(r rune) bool { return strings.ContainsRune("=:,@", r) })
	switch {
	case !strings.HasPrefix(w.Text, "-"):
		out = append(out, w.Text)
	case len(w.Text) > 2:
		out = append(out, w.Text[2:])
		if i := strings.IndexByte(w.Text, '/'); i >= 0 {
			out = append(out, w.Text[i:])
		}
	}
	return out
}

// Hosts matches fetches by the host of their URL: a name, *.NAME for names below it, or *.
type Hosts []string

func (m Hosts) match(q *question) answer {
	u, err := url.Parse(q.op.URL)
	// A file has a host as well: file://example.com/etc/passwd.
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	if q.op.Kind != Fetch || err != nil || u.Hostname() == "" || !web && !q.loose {
		return answer{}
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return answer{tri: truth(slices.ContainsFunc(m, func(h string) bool {
		below, wild := strings.CutPrefix(h, "*")
		return h == "*" || wild && strings.HasSuffix(host, below) && host != below[1:] || strings.EqualFold(h, host)
	}))}
}

// PipedToShell matches programs whose output a shell or another interpreter runs.
type PipedToShell struct{}

func (PipedToShell) match(q *question) answer {
	return answer{tri: truth(q.part != nil && q.part.ToShell)}
}
