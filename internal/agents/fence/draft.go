package fence

import (
	"path"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/ir"
)

// confine writes rules for files. Everything that denies wins.
func (f *reader) confine() {
	t := f.t
	noRead, noReadNames := t.Located(f.denyRead)
	noWrite, noWriteNames := t.Located(f.denyWrite)
	yesRead, names := t.Located(f.allowRead)
	yesWrite, more := t.Located(f.allowWrite)
	for _, p := range append(names, more...) {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
	}
	yesRead, yesWrite = slices.DeleteFunc(yesRead, braced), slices.DeleteFunc(slices.DeleteFunc(yesWrite, braced),
		obeyed)
	noRead, noWrite, yesRead, yesWrite = t.Closed(noRead), t.Closed(noWrite), t.Opened(yesRead), t.Opened(yesWrite)
	opened := t.Roots(slices.Concat(yesRead, yesWrite))
	masked, kept := t.EveryName(noReadNames, opened, importer.Closes),
		t.EveryName(noWriteNames, opened, importer.KeepsFrom)
	for _, root := range opened {
		if importer.Deepest(yesWrite, root) >= 0 ||
			slices.ContainsFunc(yesWrite, func(p importer.Point) bool { return ir.Within(p.Abs, root) }) {
			kept = append(kept, instructionsBelow(t, root)...)
		}
	}
	listedOnly := f.defaultDeny || f.strict
	t.Files(slices.Concat(noRead, yesRead, yesWrite, noWrite, masked, kept), func(abs string) importer.Access {
		read := importer.Deepest(noRead, abs) < 0 && importer.Deepest(masked, abs) < 0
		read = read && (!listedOnly || importer.Deepest(yesRead, abs) >= 0 || importer.Deepest(yesWrite, abs) >= 0)
		return importer.Access{Read: read, Write: read && importer.Deepest(yesWrite, abs) >= 0 &&
			importer.Deepest(noWrite, abs) < 0 && importer.Deepest(kept, abs) < 0 && instructs(abs) == ""}
	})
}

// braced reports whether a place has alternatives in braces, and says so.
func braced(p importer.Point) bool {
	if strings.Contains(p.Entry.Text, "{") {
		p.Entry.Become(importer.LeftOut, "a rule knows no patterns")
		return true
	}
	return false
}

// obeyed reports whether a place is one that fence never lets a command write, and says so.
func obeyed(p importer.Point) bool {
	if name := instructs(p.Abs); name != "" {
		p.Entry.Become(importer.LeftOut, "fence never lets %s be written", name)
		return true
	}
	return false
}

// instructs is the name of instructing that a place has or lies in, empty if there is none.
func instructs(abs string) string {
	for _, name := range importer.Instructing {
		if strings.Contains(abs+"/", "/"+name+"/") {
			return name
		}
	}
	return ""
}

// instructionsBelow are the names below a directory that fence never lets commands write: in the directory itself,
// and below it where they exist.
func instructionsBelow(t *importer.Translation, root string) []importer.Point {
	var patterns []string
	for _, name := range importer.Instructing {
		patterns = append(patterns, root+"/**/"+name)
	}
	found, err := importer.Matching(root, "s", patterns...)
	if err != nil {
		t.Faults = append(t.Faults, err)
	}
	var out []importer.Point
	for _, abs := range found {
		out = append(out, importer.Point{Abs: t.Host.Follow(abs),
			Entry: &importer.Entry{Key: "fence lets no command write it"}})
	}
	return out
}

// commands writes rules for the commands that are denied. Where fence holds the processes of a command to them, too,
// no program starts, since no rule denies a single one.
func (f *reader) commands() {
	t := f.t
	var stop []importer.LineRule
	for _, l := range f.stops {
		words := importer.Words(l.Path)
		p := importer.Pattern{Prefix: words}
		if words == nil || strings.HasSuffix(l.Path, "=") ||
			slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, "=") }) {
			p = importer.Pattern{Glob: l.Path + "*"}
		}
		single := len(strings.Fields(l.Path)) == 1 && !slices.Contains(f.accepted, path.Base(l.Path))
		if (single || f.argv) && t.Draft.Closed == nil {
			t.Draft.Closed = l.Entry
		}
		if single || f.argv {
			l.Entry.Become(importer.Narrowed,
				"rulesets.%s; processes start no program but those that you list in access.commands", t.Draft.Ruleset)
		}
		stop = append(stop, importer.LineRule{Pattern: p, Deny: true, Entry: l.Entry})
	}
	t.CommandRules(nil, stop)
	if f.defaults {
		e := &importer.Entry{Key: "the commands that fence denies by itself"}
		e.Become(importer.Narrowed, "processes start no program but those that you list in access.commands")
		t.Entries = append(t.Entries, e)
		if t.Draft.Closed == nil {
			t.Draft.Closed = e
		}
	}
}

// model is the evaluation of the settings.
func (f *reader) model() foreign.Policy {
	spelled := func(list []importer.Listed) []foreign.Spelled {
		var out []foreign.Spelled
		for _, l := range list {
			out = append(out, l.Spelled)
		}
		return out
	}
	texts := func(list []importer.Listed) []string {
		var out []string
		for _, l := range list {
			out = append(out, l.Path)
		}
		return out
	}
	return &Model{
		Host: f.t.Host, DenyRead: spelled(f.denyRead), AllowRead: spelled(f.allowRead),
		AllowWrite: spelled(f.allowWrite), DenyWrite: spelled(f.denyWrite),
		DefaultDeny: f.defaultDeny, Strict: f.strict, AllowedDomains: texts(f.allowed), DeniedDomains: texts(f.denied),
		Denied: texts(f.stops), Unenforced: f.accepted, Defaults: f.defaults, Argv: f.argv,
	}
}
