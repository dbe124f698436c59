package check

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Report is the result of a check.
type Report struct {
	Tools, Texts   int
	Classes, Asked int // classes of questions, and questions that were answered anew
	Assumptions    Assumptions
	// Assumed says what was taken for true, a line each.
	Assumed  []string
	Problems []Problem
}

// Problem is a reason to refuse a certificate.
type Problem struct {
	Tool, File string // empty where the whole certificate is meant
	What       string
}

func (p Problem) String() string {
	if p.Tool == "" {
		return p.What
	}
	return p.Tool + "/" + p.File + ": " + p.What
}

// String is the report of a certificate without problems.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d artifacts of %d tools mean their policies: %d questions in %d classes\n", r.Texts, r.Tools,
		r.Asked, r.Classes)
	for _, a := range r.Assumed {
		fmt.Fprintf(&b, "assumed: %s\n", a)
	}
	return b.String()
}

// maxProblems is how many problems of a text are told.
const maxProblems = 5

// Check checks the certificate of a directory that a build wrote. Its error says that there is nothing to check.
func Check(dir fs.FS) (*Report, error) {
	manifest, err := readFile(dir, "manifest.json")
	if err != nil {
		return nil, err
	}
	text, err := readFile(dir, File)
	if err != nil {
		return nil, err
	}
	return CheckText(manifest, text, func(tool, file string) ([]byte, error) { return readFile(dir, tool+"/"+file) })
}

// maxFile bounds the files that are read, in bytes.
const maxFile = 256 << 20

func readFile(dir fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(dir, name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("%s is not a file of at most %d bytes", name, maxFile)
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(dir, name)
}

// CheckText checks a certificate against the text of a manifest and the artifacts, which read returns.
func CheckText(manifest, text []byte, read func(tool, file string) ([]byte, error)) (*Report, error) {
	m, err := ReadManifest(manifest)
	if err != nil {
		return nil, err
	}
	r := &Report{Tools: len(m.Tools)}
	refuse := func(what string, args ...any) {
		r.Problems = append(r.Problems, Problem{What: fmt.Sprintf(what, args...)})
	}
	var c Certificate
	if err := strict(text, &c); err != nil {
		refuse("the certificate cannot be read: %v", err)
		return r, nil
	}
	switch {
	case c.Format != Format || c.Version != Version:
		refuse("found format %q, version %d, expected %q, version %d", c.Format, c.Version, Format, Version)
	case c.Policy != m.Policy:
		refuse("the certificate is of another policy: of %s, and the manifest has %s", c.Policy, m.Policy)
	case c.Manifest != m.Hash:
		refuse("the certificate is of another manifest of the same policy")
	case c.Form != m.Form:
		refuse("the certificate is of a %s build, and the manifest of a %s build", c.Form, m.Form)
	}
	if len(r.Problems) > 0 {
		return r, nil
	}
	r.assume(&c.Assumptions)
	claims := map[[2]string]Claim{}
	for _, t := range c.Texts {
		key := [2]string{t.Tool, t.File}
		if _, twice := claims[key]; twice {
			refuse("%s/%s is certified twice", t.Tool, t.File)
		}
		claims[key] = t
	}
	v := &verifier{Report: r, c: &c, reader: NewReader(&c.Assumptions), accepted: map[string]accepted{}}
	for i := range m.Tools {
		t := &m.Tools[i]
		for _, file := range slices.Sorted(maps.Keys(t.Artifacts)) {
			claim, claimed := claims[[2]string{t.Name, file}]
			delete(claims, [2]string{t.Name, file})
			_, modelled := modelOf(file)
			switch {
			case claimed && modelled:
				data, err := read(t.Name, file)
				if err != nil {
					return nil, err
				}
				v.claim(t, claim, data)
			case modelled:
				v.refuse(t, file, "the artifact has no certificate")
			case !slices.Contains(c.Assumptions.Unread, file):
				v.refuse(t, file, "there is no model of the artifact, and the certificate does not say so")
			}
		}
	}
	for key := range claims {
		refuse("the manifest has no %s/%s that could be certified", key[0], key[1])
	}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.File, b.File))
	})
	return r, nil
}

// assume lists the assumptions.
func (r *Report) assume(a *Assumptions) {
	r.Assumptions = *a
	for _, file := range slices.Sorted(maps.Keys(a.Models)) {
		r.Assumed = append(r.Assumed, file+": "+a.Models[file])
		if m, _ := modelOf(file); a.Models[file] != m.Assumes {
			r.Problems = append(r.Problems, Problem{What: "the certificate assumes another model of " + file})
		}
	}
	for _, b := range a.Bases {
		r.Assumed = append(r.Assumed, fmt.Sprintf("base %s, version %d, on %s: %d places, %s", b.Name, b.Version,
			b.Platform, len(b.Places), digest(b.Places)))
	}
	if a.ProtectedVersion > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("protected paths, version %d: %d, %s", a.ProtectedVersion,
			len(a.Protected), digest(a.Protected)))
	}
	for _, file := range a.Unread {
		r.Assumed = append(r.Assumed, file+": not certified")
	}
}

type verifier struct {
	*Report
	c        *Certificate
	reader   *Reader
	told     int
	accepted map[string]accepted // by what subjects have alike
}

// accepted is a claim that was accepted.
type accepted struct {
	Claim
	classes, asked int
}

func (v *verifier) refuse(t *Tool, file, what string, args ...any) {
	if v.told++; v.told <= maxProblems {
		v.Problems = append(v.Problems, Problem{t.Name, file, fmt.Sprintf(what, args...)})
	}
}

// claim checks what the certificate says of one artifact.
func (v *verifier) claim(t *Tool, claim Claim, text []byte) {
	v.told = 0
	v.Texts++
	if is := hash(text); is != claim.Hash || is != t.Artifacts[claim.File] {
		v.refuse(t, claim.File, "the artifact is not the certified text")
		return
	}
	s, err := v.reader.Subject(t, claim.File, text)
	if err != nil {
		v.refuse(t, claim.File, "the artifact cannot be judged: %v", err)
		return
	}
	if !slices.Equal(s.Text.Levels(), claim.Levels) {
		v.refuse(t, claim.File, "the certificate has other levels than the text")
		return
	}
	if t, ok := s.Text.(interface {
		Starts() (string, command, []string)
	}); ok {
		tool, command, accept := t.Starts()
		if tool != s.Tool.Name || !command.equal(s.Tool.command) {
			v.refuse(s.Tool, claim.File, "the text starts another tool or command")
		}
		for _, gap := range accept {
			if !slices.ContainsFunc(s.Policy.doc.Accept, func(a acceptance) bool { return a.Name == gap }) {
				v.refuse(s.Tool, claim.File, "the text accepts %s, and the policy does not", gap)
			}
		}
	}
	like := s.Like()
	if a, known := v.accepted[like]; known && like != "" && slices.Equal(a.Parts, claim.Parts) {
		v.Classes, v.Asked = v.Classes+a.classes, v.Asked+a.asked
		return
	}
	before := accepted{claim, v.Classes, v.Asked}
	unmet, idle := s.Unmet()
	for _, r := range unmet {
		v.refuse(t, claim.File, "the text does not list among its needs that %s of %s is %s at levels %d to %d",
			strings.Join(r.Aspects, ", "), strings.Join(r.Rules, ", "), r.Is, r.From, r.To)
	}
	for _, r := range idle {
		v.refuse(t, claim.File, "the text needs what the ledger does not say: that %s of %s is %s",
			strings.Join(r.Aspects, ", "), strings.Join(r.Rules, ", "), r.Is)
	}
	questions, err := s.Targets()
	if err != nil {
		v.refuse(t, claim.File, "%v", err)
		return
	}
	open := make(map[string]Question, len(questions))
	for _, q := range questions {
		open[q.Key()] = q
	}
	for _, i := range claim.Parts {
		if i < 0 || i >= len(v.c.Parts) {
			v.refuse(t, claim.File, "the certificate has no part %d", i)
			return
		}
		for _, class := range v.c.Parts[i].Classes {
			if !v.class(s, v.c.Parts[i].Kind, class, open) {
				return
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(open)) {
		v.refuse(t, claim.File, "a class is missing: no class has %s", key)
	}
	if v.told == 0 {
		v.accepted[like] = accepted{claim, v.Classes - before.classes, v.Asked - before.asked}
	}
}

// Key is the kind and the target of a question, as the certificate spells both.
func (q Question) Key() string {
	if q.Kind == Moves {
		return string(q.Kind) + " " + q.Target + " // " + q.To // no place has two slashes
	}
	return string(q.Kind) + " " + q.Target
}

// class checks a class, and takes its targets from those that are open. It is false where the certificate makes no
// sense any more.
func (v *verifier) class(s *Subject, k Kind, class Class, open map[string]Question) bool {
	c := v.c
	if len(class) < 4 || !in(class[0], c.Verdicts) || !in(class[1], c.Answers) ||
		class[2] != -1 && !in(class[2], c.Reasons) {
		v.refuse(s.Tool, s.File, "a class is not one: %v", class)
		return false
	}
	v.Classes++
	first := ""
	for i, target := range class[3:] {
		if !in(target, c.Targets) {
			v.refuse(s.Tool, s.File, "a class is not one: %v", class)
			return false
		}
		key := string(k) + " " + c.Targets[target]
		q, known := open[key]
		if !known {
			v.refuse(s.Tool, s.File, "%s is in two classes, or nothing that policy or text mention", key)
			continue
		}
		delete(open, key)
		v.Asked++
		policy, answers := s.Policy.Answer(q), s.Text.Answer(q)
		wrong := ""
		if is := policy.Text(k); is != c.Verdicts[class[0]] {
			wrong = fmt.Sprintf("the policy permits %q there, not %q", is, c.Verdicts[class[0]])
		}
		stated := c.Answers[class[1]]
		if len(stated) != len(answers) || slices.ContainsFunc(stated, func(i int) bool { return !in(i, c.Verdicts) }) {
			stated, answers, wrong = nil, nil, "the text has other levels"
		}
		for j, a := range answers {
			if is, said := a.Text(k), c.Verdicts[stated[j]]; is != said {
				l := s.Text.Levels()[j]
				wrong = cmp.Or(wrong, fmt.Sprintf("the text permits %q there at level %d, not %q", is, l.From, said))
			}
		}
		switch {
		case wrong != "" && i == 0:
			v.refuse(s.Tool, s.File, "a verdict is changed: %s: %s", key, wrong)
			return true
		case wrong != "":
			v.refuse(s.Tool, s.File, "two classes are joined: %s and %s: %s", first, key, wrong)
			continue
		}
		if i == 0 {
			first = key
		}
		v.reasons(s, q, policy, answers, class[2])
	}
	return true
}

func in[T any](i int, list []T) bool { return i >= 0 && i < len(list) }

// reasons checks that the rows which explain the differences of a target are those that the certificate names.
func (v *verifier) reasons(s *Subject, q Question, policy Verdict, answers []Verdict, stated int) {
	found, err := s.Explain(q, policy, answers, s.Policy.Rule)
	if err != nil {
		v.refuse(s.Tool, s.File, "a difference has no row: %s: %v", q.Key(), err)
		return
	}
	var said []Reason
	if stated >= 0 {
		for _, i := range v.c.Reasons[stated] {
			if !in(i, v.c.Rows) {
				v.refuse(s.Tool, s.File, "the certificate has no row %d", i)
				return
			}
			said = append(said, v.c.Rows[i])
		}
	}
	if !slices.EqualFunc(found, said, Reason.equal) {
		v.refuse(s.Tool, s.File, "a row does not say the difference: %s", q.Key())
	}
}
