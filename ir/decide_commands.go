package ir

import (
	"slices"
	"strings"
)

// commandIndex are the rules on programs: the listed rules in order, then the rule that follows from the tool's own
// program.
type commandIndex struct {
	set   *CommandSet
	rules []*CommandRule
	// located is true where a rule without a file is about a program that is not there.
	located bool
}

func indexCommands(t *Tool, f Facts) commandIndex {
	x := commandIndex{set: t.Commands, located: f.Located}
	if t.Commands == nil {
		return x
	}
	for i := range t.Commands.Rules {
		x.rules = append(x.rules, &t.Commands.Rules[i])
	}
	if own := ownRule(t, f); own != nil && !slices.ContainsFunc(x.rules, own.doubles) {
		x.rules = append(x.rules, own)
	}
	return x
}

// ownRule is the rule that follows from the tool's own program: it may be started again,
// with any arguments. It is nil where the program is not known.
func ownRule(t *Tool, f Facts) *CommandRule {
	r := &CommandRule{File: f.Program, AnyArgs: true, AllEnvs: true, Origin: programOrigin(t)}
	switch c := t.Command; {
	case f.Program == nil && (f.Bindings != nil || c == nil):
		return nil
	case c == nil || c.Shell || strings.Contains(c.Program, "{{"):
		if f.Program == nil {
			return nil
		}
		r.Program = lastName(f.Program.Path)
	default:
		r.Program = c.Program
	}
	return r
}

// doubles reports whether a listed rule is about the same file by the same name.
func (r *CommandRule) doubles(listed *CommandRule) bool {
	return lastName(r.Program) == lastName(listed.Program) &&
		(r.File == nil || listed.File == nil || *r.File == *listed.File)
}

// Programs returns the rules on programs, the listed rules in order and then the rule that follows from the tool's own
// program, which has LayerImplied. There are none where any program may be started.
func (v *View) Programs() []*CommandRule { return v.commands.rules }

// listed decides whether a file may be started at all, whatever its arguments.
func (x *commandIndex) listed(file Location) Verdict {
	if x.set == nil {
		return Verdict{Effect: Allow, Reason: ReasonAny}
	}
	for _, r := range slices.Backward(x.rules) {
		if r.File != nil && *r.File == file {
			return Verdict{Effect: Allow, Reason: ReasonRule, Rule: r, At: file}
		}
	}
	return Verdict{Reason: ReasonCommand, At: file}
}

// decide judges a start only by the rules on programs.
func (x *commandIndex) decide(op Run) Verdict {
	if x.set == nil {
		return Verdict{Effect: Allow, Reason: ReasonAny}
	}
	r, why := x.find(op)
	switch {
	case why != ReasonNone:
		v := refuse(why)
		if r != nil {
			v.Rule = r
		}
		return v
	case r.AnyArgs || slices.ContainsFunc(r.Args, func(p ArgPattern) bool { return p.matches(op.Args) }):
		return Verdict{Effect: Allow, Reason: ReasonRule, Rule: r}
	default:
		return Verdict{Reason: ReasonArgs, Rule: r}
	}
}

// find returns the rule that applies to a start, or the reason why there is none. Where the
// file is known, a rule applies by whatever path it names that file; of several rules on one
// file, as for a multi-call program, the rule with the name that the program is given applies. A
// name that belongs to none of them is refused: the program may take it for a subcommand.
func (x *commandIndex) find(op Run) (*CommandRule, Reason) {
	known := op.File != nil && op.File.Fault == ReasonNone
	var named, of *CommandRule
	for _, r := range x.rules {
		switch {
		case r.Program == op.Program && (r.File == nil || !known):
			named = r
		case known && r.File != nil && *r.File == op.File.At:
			if lastName(r.Program) == calledName(op.Program) {
				return r, ReasonNone
			}
			if of == nil {
				of = r
			}
		}
	}
	switch {
	case of != nil && of.goesBy(calledName(op.Program)):
		return of, ReasonNone
	case of != nil:
		return of, ReasonName
	case named == nil:
		return nil, ReasonCommand
	case x.located && known:
		return named, ReasonMissing
	default:
		return named, ReasonNone
	}
}

// goesBy reports whether a program of a rule may be given this name, judging by the name of its
// file.
// See decision D6.
func (r *CommandRule) goesBy(name string) bool {
	return name != "" && name == lastName(r.File.Path) &&
		(!dispatches(name) || slices.Contains(Windows.ProgramNames(lastName(r.Program)), name))
}

// calledName returns the name that a program takes from its argv[0]: the last component,
// without the "-" that login(1) and su(1) put in front for a login shell.
func calledName(argv0 string) string { return strings.TrimPrefix(lastName(argv0), "-") }

// lastName returns the part behind the last slash, which is the part that programs look at.
func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Dispatchers are multi-call programs: under the name of their file they start anything that
// their arguments say, and under other names one thing each. A rule on another name of such a
// file does not permit the name of the file itself.
var Dispatchers = [...]string{
	"asdf",      // asdf exec
	"bb",        // u-root
	"busybox",   // busybox sh
	"ccache",    // ccache PROGRAM
	"coreutils", // GNU and uutils: coreutils --coreutils-prog=NAME, coreutils NAME
	"distcc",    // distcc PROGRAM
	"firejail",  // firejail PROGRAM
	"git",       // git-upload-pack and others are git
	"kmod",      // insmod, lsmod
	"lvm",       // lvs, lvremove
	"mise",      // mise exec
	"nix",       // nix run
	"pyenv",     // pyenv exec
	"rustup",    // cargo and rustc are rustup; rustup run
	"sbase-box",
	"sccache", // sccache PROGRAM
	"snap",    // snap run
	"systemctl",
	"toolbox", // Android
	"toybox",  // toybox NAME
	"ubase-box",
	"uutils",
	"vim",  // view and rvim do less
	"nvim", // likewise
	"volta",
}

// dispatches reports whether a file's name names a dispatcher, with whatever a build
// or a version adds to it (busybox.static, busybox-extras).
func dispatches(name string) bool {
	return slices.ContainsFunc(Dispatchers[:], func(d string) bool {
		rest, ok := strings.CutPrefix(name, d)
		return ok && (rest == "" || strings.ContainsRune(".-_0123456789", rune(rest[0])))
	})
}

// matches reports whether args is one of the sequences that p allows.
func (p ArgPattern) matches(args []string) bool {
	if len(args) < len(p.Words) || len(args) > len(p.Words) && !p.Rest {
		return false
	}
	return slices.Equal(p.Words, args[:len(p.Words)])
}
