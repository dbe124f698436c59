package shell

import (
	"slices"
	"strings"
)

// inPlace are the changes that a program makes to its operands.
// See RATIONALE D450.
type inPlace struct {
	// access is that of each operand, Read for a program that changes none.
	access Access
	// with are options with one of which the program changes its operands, without those with which it does not. A
	// program that has without alone changes them by default, and so does one that has neither.
	with, without string
	// ends are those of the operands beside each of which a file is written, instead of it, with the end to.
	ends, to string
	// refs is true where operands in front of "--" are no files.
	refs bool
}

// of reports whether a program with these arguments changes its operands.
func (e *inPlace) of(s *scanned) bool {
	some := func(options string) bool {
		return slices.ContainsFunc(strings.Fields(options), func(o string) bool { return s.option(o) >= 0 })
	}
	switch {
	case e.access == Read || s.harmless:
		return false
	case some(e.with):
		return true
	}
	return (e.with == "" || e.without != "") && !some(e.without)
}

// edited adds the files that operands name. Those of go end in "..." for what lies below.
func (s *scanned) edited(p *Part, e *entry) {
	for _, i := range s.operands {
		name := p.Words[i].Text
		switch {
		case name == "-", i > s.dashes && s.dashes > 0 && e.behind != nil && strings.HasPrefix(name, "-"):
			continue
		case e.refs && i < s.dashes:
			continue
		case strings.HasSuffix(name, "/..."):
			name = strings.TrimSuffix(name, "...")
		case e.to != "":
			if name = e.beside(p.Words[i]); name == "" {
				continue
			}
		}
		in := file(spelling(p.Words[i:i+1]), e.access, name, p.Dirs)
		in.From = i
		p.add(in)
	}
}

// beside is the name of the file that a compiler writes beside an operand, empty for none. The files of a pattern lie
// where its text says.
func (e *inPlace) beside(w Word) string {
	if w.Form != Literal {
		return w.Text + "x" + e.to
	}
	for _, end := range strings.Fields(e.ends) {
		if stem, ok := strings.CutSuffix(w.Text, end); ok {
			return stem + e.to
		}
	}
	return ""
}

// pathspec doubts operands for git that name files by more than their names.
func pathspec(s string) bool {
	return transport(s) || strings.HasPrefix(s, ":") || strings.ContainsAny(s, "*?[")
}
