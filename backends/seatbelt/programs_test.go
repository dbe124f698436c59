package seatbelt

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/sbpl"
)

// programFiles are files that a policy lists, or that something tries to start.
var programFiles = []ir.Location{
	ir.Sys("bin/sh"), ir.Sys("bin/bash"), ir.Sys("usr/bin/git"), ir.Sys("usr/bin/python3"), ir.Sys("usr/bin/env"),
	ir.Sys("Library/Developer/CommandLineTools/usr/bin/git"), ir.Sys("opt/homebrew/bin/x"), ir.Sys("Users/u/bin/own"), ir.Sys("Users/u/bin/x"),
	ir.In("run.sh"), ir.In("src/a"), ir.In(".env/x"), {Root: ir.Root{Kind: ir.Temp}, Path: "a.out"},
}

func drawCommands(t *rapid.T) *ir.CommandSet {
	if rapid.IntRange(0, 3).Draw(t, "commands") == 0 {
		return nil
	}
	set := &ir.CommandSet{}
	for i := range rapid.IntRange(0, 4).Draw(t, "programs") {
		r := ir.CommandRule{
			Program: fmt.Sprintf("p%d", i), AnyArgs: rapid.Bool().Draw(t, "any args"), AllEnvs: rapid.Bool().Draw(t, "all envs"),
		}
		if rapid.IntRange(0, 3).Draw(t, "found") > 0 {
			at := rapid.SampledFrom(programFiles).Draw(t, "file")
			r.File = &at
		}
		set.Rules = append(set.Rules, r)
	}
	if rapid.Bool().Draw(t, "shell") { // starts another file in its turn
		set.Rules = append(set.Rules, ir.CommandRule{Program: "sh", File: &programFiles[0], AnyArgs: true, AllEnvs: true})
	}
	return set
}

// TestProgramsAgainstPolicy holds what starts against the policy. Beyond it start only
// the files that a listed program starts in its turn, where the cells are weaker; less
// starts only in a portable profile.
func TestProgramsAgainstPolicy(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 4000, 2*len(programFiles), func(rt *rapid.T) {
		s := drawScenario(rt, 0)
		s.tool.Commands = s.locate(drawCommands(rt))
		if rapid.Bool().Draw(rt, "own") {
			own := s.full.Locate("/Users/u/bin/own")
			s.facts.Program = &own
		}
		for _, form := range []backends.Form{backends.Portable, backends.Resolved} {
			if form == backends.Portable && !s.apart() {
				continue
			}
			out, err := Backend{}.Compile(s.tool, s.target(form))
			if err != nil {
				rt.Fatal(err)
			}
			j, err := newJudge(&s, form, string(out.Data), out.Ledger)
			if err != nil {
				rt.Fatal(err)
			}
			for _, file := range programFiles {
				abs, _ := s.full.Path(file)
				at := s.full.Locate(abs)
				v := j.view.Decide(ir.Start{On: ir.Direct(at)})
				allows := j.answer(question{call: callStart, on: at})
				row, _ := out.Ledger.Cell(ir.Commands, "default", ir.AspectProgram, ir.Darwin, 0)
				seen[fmt.Sprintf("%v %v %v %s", form, v.Allowed(), allows, row.Is)]++
				switch {
				case j.err != nil:
					rt.Fatal(j.err)
				case allows && !v.Allowed() && (row.Is != ir.Weaker || !hop(j.view, at)):
					rt.Fatalf("%v: %v starts\n%s", form, at, s.String())
				case !allows && v.Allowed() && (form == backends.Resolved || s.tool.Commands == nil):
					rt.Fatalf("%v: %v does not start\n%s\n%s", form, at, s.String(), out.Data)
				}
			}
		}
	})
	irtest.Happened(t, seen, "resolved true true weaker", "resolved false true weaker", "resolved false false weaker", "portable true true exact")
}

// locate gives listed programs the locations that their files have on the host.
func (s *scenario) locate(set *ir.CommandSet) *ir.CommandSet {
	if set == nil {
		return nil
	}
	for i := range set.Rules {
		if r := &set.Rules[i]; r.File != nil {
			abs, _ := s.full.Path(*r.File)
			at := s.full.Locate(abs)
			r.File = &at
		}
	}
	return set
}

// hop reports whether a listed program starts a file in its turn.
func hop(v *ir.View, file ir.Location) bool {
	set := v.Tool.Commands
	for i := range set.Rules {
		if r := &set.Rules[i]; r.File != nil {
			for _, h := range hops(v, *r.File) {
				if h == file {
					return true
				}
			}
		}
	}
	return false
}

// TestScripts checks that the interpreter of a listed script runs it and is started in no other
// way, unless it is listed itself or forbidden to execute.
func TestScripts(t *testing.T) {
	script, python := ir.In("tools/run"), ir.Sys("usr/bin/python3")
	for name, c := range map[string]struct {
		rules  []ir.FSRule
		listed bool
		starts [2]bool // by the kernel, by the tool
	}{
		"a script":            {[]ir.FSRule{ruleAt(1, "", ir.All)}, false, [2]bool{true, false}},
		"and its interpreter": {[]ir.FSRule{ruleAt(1, "", ir.All)}, true, [2]bool{true, true}},
	} {
		tool := ir.NewTool("t")
		tool.FS = c.rules
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "tools/run", File: &script, AnyArgs: true, AllEnvs: true}}}
		if c.listed {
			tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: "python3", File: &python, AnyArgs: true, AllEnvs: true})
		}
		target := resolved(ir.Bindings{Workspace: "/System/Volumes/Data/w", Home: "/h"})
		target.Facts.Interpreters = map[ir.Location]ir.Location{script: python}
		p, err := sbpl.Parse(string(compile(t, tool, target).Data), map[string]string{ParamTemp: "/t"})
		if err != nil {
			t.Fatal(err)
		}
		for i, op := range []string{opInterpreter, opExec} {
			if got, err := p.Allows(op, sbpl.Request{Path: "/usr/bin/python3"}); err != nil || got != c.starts[i] {
				t.Errorf("%s: %s is %v, %v", name, op, got, err)
			}
			if got, err := p.Allows(op, sbpl.Request{Path: "/w/tools/run"}); err != nil || !got {
				t.Errorf("%s: %s of the script is %v, %v", name, op, got, err)
			}
		}
	}
	tool := ir.NewTool("t")
	tool.FS = []ir.FSRule{ruleAt(1, "", ir.All), ruleAt(2, "bin/sh", 0)}
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "tools/run", File: &script, AnyArgs: true, AllEnvs: true}}}
	target := resolved(ir.Bindings{Workspace: "/w", Home: "/h"})
	target.Facts.Interpreters = map[ir.Location]ir.Location{script: ir.In("bin/sh")}
	p, err := sbpl.Parse(string(compile(t, tool, target).Data), map[string]string{ParamTemp: "/t"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Allows(opInterpreter, sbpl.Request{Path: "/w/bin/sh"}); err != nil || got {
		t.Errorf("an interpreter that may not execute: %v, %v", got, err)
	}
}
