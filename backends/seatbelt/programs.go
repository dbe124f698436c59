package seatbelt

import (
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// developer lists the places of Apple's command line developer tools: the bundles of the base, the bundle that was
// chosen on this host among them, and the tools without Xcode. The programs in /usr/bin under the same names only find
// and start them (xcrun(1)).
func developer(v *ir.View) []string {
	out := []string{"Library/Developer/CommandLineTools/usr/bin/"}
	for _, e := range v.Entries() {
		if e.Rule.Origin.Layer == ir.LayerBase && strings.HasSuffix(e.Rule.At.Path, ".app") {
			out = append(out, e.Rule.At.Path+"/Contents/Developer/usr/bin/")
		}
	}
	return out
}

// hops lists the files that starting one file starts in its turn: /bin/sh is the
// shell that /private/var/select/sh names (sh(1) of macOS).
func hops(v *ir.View, file ir.Location) []ir.Location {
	if file == ir.Sys("bin/sh") {
		return []ir.Location{ir.Sys("bin/bash"), ir.Sys("bin/dash"), ir.Sys("bin/zsh")}
	}
	name, ok := strings.CutPrefix(file.Path, "usr/bin/")
	if file.Root.Kind != ir.System || !ok {
		return nil
	}
	var out []ir.Location
	for _, dir := range developer(v) {
		out = append(out, ir.Sys(dir+name))
	}
	return out
}

// program is a file that may be started, with those that it starts in its turn.
type program struct {
	// rule is nil for the tool's own program.
	rule  ir.Rule
	files []ir.Location
	// interpreters are started only by the kernel, for scripts.
	interpreters []ir.Location
}

// findPrograms lists the files that may be started where the policy lists programs.
func (p *profile) findPrograms() []program {
	set := p.tool.Commands
	if set == nil {
		return nil
	}
	var out []program
	if p.own != nil {
		own := program{}
		p.add(&own, *p.own)
		out = append(out, own)
	}
	for i := range set.Rules {
		if r := &set.Rules[i]; p.starts(r) {
			listed := program{rule: r}
			p.add(&listed, *r.File)
			p.add(&listed, hops(p.view, *r.File)...)
			out = append(out, listed)
		}
	}
	return out
}

// add adds files to a program. Only the kernel starts the interpreter of a script; a shell that becomes another shell
// does so by itself.
func (p *profile) add(to *program, files ...ir.Location) {
	to.files = append(to.files, p.executable(files)...)
	for _, file := range files {
		if by, ok := p.scripts[located(p.bind, file)]; ok {
			to.interpreters = append(to.interpreters, p.executable([]ir.Location{by})...)
			to.files = append(to.files, p.executable(hops(p.view, by))...)
		}
	}
}

// executable returns which of some files the rules on files let be executed.
func (p *profile) executable(files []ir.Location) []ir.Location {
	var out []ir.Location
	for _, file := range files {
		file = located(p.bind, file)
		if p.view.Decide(ir.Access{Cap: ir.Execute, On: ir.Direct(file)}).Allowed() {
			out = append(out, file)
		}
	}
	return out
}

// starts reports whether a program of the policy is started at all.
func (p *profile) starts(r *ir.CommandRule) bool { return r.File != nil && p.form == backends.Resolved }

// startable writes which files may be started where the policy lists programs. The
// rules then deny starting anything; this comes after them.
func (p *profile) startable(w *writer) {
	set := p.tool.Commands
	if set == nil {
		return
	}
	for i := range set.Rules {
		text := set.Rules[i].Program
		if !p.starts(&set.Rules[i]) {
			text += "  not found: nothing is started under this name"
		}
		w.comment(text)
	}
	var files, interpreters [][]string
	for _, start := range p.programs {
		files = append(files, p.literals(start.files)...)
		interpreters = append(interpreters, p.literals(start.interpreters)...)
	}
	if len(files) == 0 {
		w.comment("nothing starts")
	}
	w.allow([]string{opExec, opInterpreter}, files)
	w.allow([]string{opInterpreter}, interpreters)
}

func (p *profile) literals(files []ir.Location) [][]string {
	var out [][]string
	for _, file := range files {
		out = append(out, []string{literal(p.place(file))})
	}
	return out
}
