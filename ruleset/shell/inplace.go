package shell

import (
	"path"
	"slices"
	"strings"
)

// inPlace are the changes that a program makes to its operands.
// See decision D131.
type inPlace struct {
	// access is the access to each operand, Read for a program that changes none.
	access Access
	// with are options with one of which the program changes its operands, without those with which it does not. A
	// program that has only without changes them by default, and so does a program that has neither.
	with, without string
	// ends are the ends of the operands beside each of which a file is written, instead of it, with the end to.
	ends, to string
	// refs is true where operands in front of "--" are no files.
	refs bool
	// lead is the number of operands in front that are no files; sources is true where the last operand is none either.
	lead    int
	sources bool
	// deep are options with which all below an operand is changed.
	deep string
}

// of reports whether a program with these arguments changes its operands.
func (e *inPlace) of(s *scanned) bool {
	switch {
	case e.access == Read || s.harmless:
		return false
	case s.some(e.with):
		return true
	}
	return (e.with == "" || e.without != "") && !s.some(e.without)
}

// some reports whether one of several options is there.
func (s *scanned) some(options string) bool {
	return slices.ContainsFunc(strings.Fields(options), func(o string) bool { return s.option(o) >= 0 })
}

// clears reports whether an operand is a pattern of names in one directory which are deleted: what links among them
// lead to stays.
func (e *entry) clears(w Word) bool {
	return e.access == Remove && !e.output && w.Form == Pattern && w.Flat && !w.Wide && !w.Alternatives
}

// folder is the directory in which the names of a pattern lie.
func folder(w Word) string {
	dir, _ := path.Split(w.Text)
	return dir + "."
}

// perhaps adds a word of a program that may write it. A word that no slash makes a path counts as the name of a file
// that is there. Of a pattern, the directory counts.
// See decision D131.
func (p *Part) perhaps(at int, made bool) {
	w, access := p.Words[at], Perhaps
	name := w.Text
	switch {
	case w.Form == Hidden || w.MayBeOption() || w.Form == Literal && name == "":
		return
	case w.Form == Pattern:
		name = folder(w)
	case made && strings.Contains(name, "/"):
		access = PerhapsNew
	}
	in := file(spelling(p.Words[at:at+1]), access, name, p.Dirs)
	in.From = at
	p.add(in)
}

// edited adds the files that operands name. Operands of go end in "..." for what lies below.
func (s *scanned) edited(p *Part, e *entry) {
	access := e.access
	if s.some(e.deep) {
		access = Replace
	}
	for n, i := range s.operands {
		name := p.Words[i].Text
		access := access
		switch {
		case n < e.lead, e.sources && n == len(s.operands)-1:
			continue
		case e.clears(p.Words[i]):
			name, access = folder(p.Words[i]), Clear
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
		in := file(spelling(p.Words[i:i+1]), access, name, p.Dirs)
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
