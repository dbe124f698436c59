package seatbelt

import (
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// The places of Apple's command line developer tools. The programs in /usr/bin under the same
// names only find and start them (xcrun(1)).
var developer = [...]string{
	"Library/Developer/CommandLineTools/usr/bin/",
	"Applications/Xcode.app/Contents/Developer/usr/bin/",
}

// hops lists the files that starting one file starts in its turn: /bin/sh is the
// shell that /private/var/select/sh names (sh(1) of macOS).
func hops(file ir.Location) []ir.Location {
	if file == ir.Sys("bin/sh") {
		return []ir.Location{ir.Sys("bin/bash"), ir.Sys("bin/dash"), ir.Sys("bin/zsh")}
	}
	name, ok := strings.CutPrefix(file.Path, "usr/bin/")
	if file.Root.Kind != ir.System || !ok {
		return nil
	}
	var out []ir.Location
	for _, dir := range developer {
		out = append(out, ir.Sys(dir+name))
	}
	return out
}

// programs writes which files may be started where the policy lists programs. The
// rules then deny starting anything; this comes after them.
func (p *plan) programs(w *writer) {
	set := p.tool.Commands
	if set == nil {
		return
	}
	var lines, interpreters [][]string
	literals := func(rule ir.Rule, files ...ir.Location) [][]string {
		var out [][]string
		for _, file := range files {
			file = located(p.bind, file)
			if !p.view.Decide(ir.Access{Cap: ir.Execute, On: ir.Direct(file)}).Allowed() {
				continue
			}
			at := p.place(file)
			if why := at.problem(); why != "" {
				p.refusals = append(p.refusals, backends.Refusal{Rule: rule, Why: why})
			}
			out = append(out, []string{literal(at)})
		}
		return out
	}
	add := func(rule ir.Rule, files ...ir.Location) {
		lines = append(lines, literals(rule, files...)...)
		// Only the kernel starts the interpreter of a script; a shell that becomes another one
		// does so by itself.
		for _, file := range files {
			if by, ok := p.scripts[located(p.bind, file)]; ok {
				interpreters = append(interpreters, literals(rule, by)...)
				lines = append(lines, literals(rule, hops(by)...)...)
			}
		}
	}
	if p.own != nil {
		add(nil, *p.own)
	}
	for i := range set.Rules {
		r := &set.Rules[i]
		if r.File == nil || p.form != backends.Resolved {
			w.comment(r.Program + "  not found: nothing is started under this name")
			continue
		}
		w.comment(r.Program)
		add(r, *r.File)
		add(r, hops(*r.File)...)
	}
	if len(lines) == 0 {
		w.comment("nothing starts")
	}
	w.allow([]string{opExec, opInterpreter}, lines)
	w.allow([]string{opInterpreter}, interpreters)
}

// starts reports whether a program of the policy is started at all.
func (p *plan) starts(r *ir.CommandRule) bool { return r.File != nil && p.form == backends.Resolved }
