package signers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/files/owned"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/oserr"
	"github.com/accessc/accessc/internal/text/suggest"
	"github.com/accessc/accessc/ir"
)

// Bounds of the files and signers that are read.
const (
	maxFile    = 1 << 20 // bytes of a file
	maxSigners = 256
)

// Read reads files that say who may sign; a file that does not exist says nothing. root is the canonical workspace, in
// which none of them may lie. exposed, unless nil, says why a tool could write a file with a canonical path,
// empty if none could. With an error among the findings the policy is void.
func Read(files []userdir.Attestation, root, home string,
	exposed func(file string) string) (Policy, source.Files, diag.List) {
	r := reader{root: root, home: home, exposed: exposed, texts: source.Files{}}
	var p Policy
	for _, a := range files {
		if f, ok := r.file(a); ok {
			p.files = append(p.files, f)
		}
	}
	if r.findings.Failed() {
		p = Policy{}
	}
	r.findings.Sort()
	return p, r.texts, r.findings
}

type reader struct {
	root, home string
	exposed    func(file string) string
	texts      source.Files
	findings   diag.List
	// machine is true for the administrator's file, dir its directory.
	machine bool
	dir     string
	// keys are the places of the keys of the file so far.
	keys map[string]ir.Pos
}

func (r *reader) report(code diag.Code, at ir.Pos, span int, path, label, hint string) {
	d := diag.New(code, at, span)
	d.Path, d.Label, d.Hint = path, label, hint
	r.findings.Add(d)
}

// file reads a file.
func (r *reader) file(a userdir.Attestation) (file, bool) {
	data, err := r.own(a.Path, a.Machine, maxFile)
	name := r.name(a.Path)
	var not *owned.Not
	switch _, there := os.Lstat(a.Path); {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(there, fs.ErrNotExist):
		return file{}, false
	case errors.As(err, &not):
		r.report(diag.OpenSigners, ir.Pos{File: name}, 0, "", not.Why, not.Hint)
		return file{}, false
	case err != nil:
		r.report(diag.Unreadable, ir.Pos{File: name}, 0, "", oserr.Reason(err).Error(), "")
		return file{}, false
	}
	text, root, bad := source.ParseFile(name, data)
	r.texts[name] = text
	if bad != nil {
		r.findings.Add(*bad)
		return file{}, false
	}
	r.machine, r.dir, r.keys = a.Machine, filepath.Dir(a.Path), map[string]ir.Pos{}
	return r.settings(name, root), true
}

// name shortens a path below the user's home.
func (r *reader) name(path string) string {
	if rel, err := filepath.Rel(r.home, path); r.home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// own reads a file that only the user or the administrator may write, outside of every
// place that tools write to.
func (r *reader) own(path string, machine bool, limit int64) ([]byte, error) {
	return owned.Read(path, limit, func(_ *os.File, info os.FileInfo, real string) error {
		if rel, err := filepath.Rel(r.root, real); r.root != "" && err == nil && filepath.IsLocal(rel) {
			return &owned.Not{Why: "found it in the workspace, whose files say nothing about who may sign",
				Hint: "let it and XDG_CONFIG_HOME be elsewhere"}
		}
		if r.exposed != nil {
			if why := r.exposed(real); why != "" {
				return &owned.Not{Why: "it " + why + ", where a tool could write",
					Hint: "let it be in a directory that no policy is about"}
			}
		}
		return owned.Alone(info, real, machine)
	})
}

// fields of the file, in the order of messages.
const (
	fileFields   = "require, threshold, older, signers"
	signerFields = "name, key, workspaces, tools, project, serial"
)

// unknown reports the keys of a table that are not among some.
func (r *reader) unknown(t *source.Table, path, fields string) {
	all := strings.Split(fields, ", ")
	for _, e := range t.Entries {
		if !strings.Contains(", "+fields+", ", ", "+e.Key+", ") {
			r.report(diag.UnknownKey, e.At, e.Span, path, fmt.Sprintf("found %q, expected one of %s", e.Key, fields),
				suggest.Hint(e.Key, all))
		}
	}
}

func (r *reader) wrong(v *source.Value, path, want string) {
	r.report(diag.WrongType, v.At, v.Span, path, fmt.Sprintf("found %s, expected %s", v.Kind, want), "")
}

func (r *reader) settings(name string, root *source.Table) file {
	f := file{name: name, threshold: 1}
	r.unknown(root, "", fileFields)
	if v := root.Get("require"); v != nil {
		switch {
		case v.Kind == source.BoolKind:
			f.require = v.Bool
		case v.Kind == source.ArrayKind:
			f.requireIn = r.patterns(v, "require")
			for i, p := range f.requireIn {
				if !ends(p) {
					r.report(diag.BadValue, v.At, v.Span, fmt.Sprintf("require[%d]", i),
						fmt.Sprintf("found %q, expected no name behind an element with metacharacters: "+
							"a symlink there would not be followed", p),
						"write a pattern for each directory, or end it with **")
				}
			}
		default:
			r.wrong(v, "require", "a boolean, or an array of patterns of workspaces")
		}
	}
	if v := root.Get("older"); v != nil {
		switch {
		case v.Kind != source.StringKind:
			r.wrong(v, "older", "a string")
		case v.Text != "refuse" && v.Text != "allow":
			r.report(diag.BadValue, v.At, v.Span, "older",
				fmt.Sprintf("found %q, expected one of refuse, allow", v.Text), "")
		default:
			f.older = v.Text == "allow"
		}
	}
	if v := root.Get("signers"); v != nil {
		if v.Kind != source.ArrayKind || len(v.Array) > maxSigners {
			r.wrong(v, "signers", fmt.Sprintf("an array of at most %d tables", maxSigners))
		} else {
			for i, item := range v.Array {
				f.signers = append(f.signers, r.signer(item, fmt.Sprintf("signers[%d]", i)))
			}
		}
	}
	if v := root.Get("threshold"); v != nil {
		f.threshold = r.number(v, "threshold")
		if f.threshold > len(f.signers) {
			r.report(diag.BadValue, v.At, v.Span, "threshold",
				fmt.Sprintf("found %d, and the file names %d signers", f.threshold, len(f.signers)), "")
		}
	}
	return f
}

// number is an integer from 1.
func (r *reader) number(v *source.Value, path string) int {
	switch {
	case v.Kind != source.IntegerKind:
		r.wrong(v, path, "an integer")
	case v.Int < 1:
		r.report(diag.BadValue, v.At, v.Span, path, fmt.Sprintf("found %d, expected one from 1", v.Int), "")
	}
	return int(v.Int)
}

func (r *reader) signer(v *source.Value, path string) signer {
	if v.Kind != source.TableKind {
		r.wrong(v, path, `a table such as { name = "release", key = "release.pub" }`)
		return signer{}
	}
	t := v.Table
	r.unknown(t, path, signerFields)
	x := signer{name: r.text(t, v, path, "name", true), project: r.text(t, v, path, "project", false)}
	if w := t.Get("workspaces"); w != nil {
		x.workspaces = r.patterns(w, path+".workspaces")
	}
	if w := t.Get("tools"); w != nil {
		x.tools = r.strings(w, path+".tools")
	}
	if w := t.Get("serial"); w != nil {
		x.serial = r.number(w, path+".serial")
	}
	if r.text(t, v, path, "key", true) != "" {
		x.key = r.key(t.Get("key"), path+".key")
	}
	return x
}

// text is a string of a table; empty where there is none, which is reported for a string that is
// required.
func (r *reader) text(t *source.Table, at *source.Value, path, key string, required bool) string {
	v := t.Get(key)
	switch {
	case v == nil && required:
		r.report(diag.MissingField, at.At, at.Span, path, "found no "+key, "")
	case v == nil:
	case v.Kind != source.StringKind:
		r.wrong(v, path+"."+key, "a string")
	case v.Text == "":
		r.report(diag.BadValue, v.At, v.Span, path+"."+key, "found an empty string", "")
	default:
		return v.Text
	}
	return ""
}

// strings is an array of strings, which is never nil: an empty array matches nothing.
func (r *reader) strings(v *source.Value, path string) []string {
	out := []string{}
	if v.Kind != source.ArrayKind {
		r.wrong(v, path, "an array of strings")
		return out
	}
	for i, item := range v.Array {
		if item.Kind != source.StringKind {
			r.wrong(item, fmt.Sprintf("%s[%d]", path, i), "a string")
			continue
		}
		out = append(out, item.Text)
	}
	return out
}

// patterns are the patterns of workspaces.
func (r *reader) patterns(v *source.Value, path string) []string {
	out := r.strings(v, path)
	for i, p := range out {
		want := "/ or ~/"
		if r.machine {
			want = "/" // which directory is the home, the caller says
		}
		home := strings.HasPrefix(p, "~/") && !r.machine
		if !filepath.IsAbs(filepath.FromSlash(p)) && !home || !doublestar.ValidatePattern(p) {
			r.report(diag.BadValue, v.At, v.Span, fmt.Sprintf("%s[%d]", path, i),
				fmt.Sprintf("found %q, expected a pattern that begins with %s", p, want), "")
		}
	}
	return out
}

// key reads the file of a public key. Its name counts from the directory of the file that names it.
func (r *reader) key(v *source.Value, path string) attest.Public {
	bad := func(why, hint string) attest.Public {
		r.report(diag.BadSigner, v.At, v.Span, path, why, hint)
		return attest.Public{}
	}
	name := filepath.FromSlash(v.Text)
	if rest, ok := strings.CutPrefix(v.Text, "~/"); ok {
		name = filepath.Join(r.home, filepath.FromSlash(rest))
	} else if !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, name)
	}
	data, err := r.own(name, r.machine, attest.MaxKey)
	var not *owned.Not
	switch {
	case errors.As(err, &not):
		return bad(not.Why, not.Hint)
	case err != nil:
		return bad(oserr.Reason(err).Error(), "")
	}
	key, err := attest.ParsePublic(data)
	if err != nil {
		return bad(err.Error(), "")
	}
	if first, twice := r.keys[key.ID()]; twice {
		d := diag.New(diag.BadSigner, v.At, v.Span)
		d.Path, d.Label = path, "found the key of another signer"
		d.Related = []diag.Related{{At: first, Note: "named here"}}
		r.findings.Add(d)
	}
	r.keys[key.ID()] = v.At
	return key
}
