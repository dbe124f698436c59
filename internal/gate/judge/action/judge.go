package action

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// Judge judges actions in one directory. It is safe for concurrent use.
type Judge struct {
	// Files asks the policy of a tool.
	Files *judge.Judge
	// Asker finds the files of programs.
	Asker resolve.Asker
	// Rules is the ruleset, nil for none. It has a say about the kinds of action that its rules
	// are about.
	Rules *ruleset.Set
	// OnlyRefuses leaves actions that only the policy of the tool permits to a person. It is for a policy that
	// no person has written: the default permits more than a person would.
	OnlyRefuses bool
}

// Command is a command that an agent has a client run, or asks to run itself.
type Command struct {
	// Words are the program and its arguments; without them, Line is the text for a shell.
	Words []string
	Line  string
	// Dir is the working directory, empty for that of the session.
	Dir string
	// Env are the names of the variables that are set for the command.
	Env []string
}

// keywords are the words that begin a construct of the shell where they are not quoted.
var keywords = strings.Fields("if then else elif fi do done case esac while until for in function select time coproc")

// Text is the command as a line for a shell.
func (c Command) Text() string {
	if c.Words == nil {
		return c.Line
	}
	var quoted []string
	for i, w := range c.Words {
		if len(PlainWords(w)) != 1 || strings.Contains(w, " ") || i == 0 && slices.Contains(keywords, w) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}

// Command judges a command.
// See decision D145.
func (j *Judge) Command(c Command) Verdict {
	line, dir, dialect := c.Text(), j.dir(c.Dir), j.dialect(c)
	tree := shell.Analyze(line, dialect, dir)
	if why := j.own(c, line, tree); why != "" {
		return Refused(why, line)
	}
	return j.joined(j.programs(c, tree).And(j.variables(c)).And(j.directory(c)), j.rules(ruleset.Operation{Command: line, Dir: dir, Session: j.Files.Dir}, dialect))
}

// Whole is the verdict of a rule that denies or asks about every command, of any shell. There need not be one.
func (j *Judge) Whole(line string) (Verdict, bool) {
	if j.Rules == nil || !j.Rules.Whole() {
		return Verdict{}, false
	}
	return j.rules(ruleset.Operation{Command: line, Dir: j.Files.Dir}, shell.Foreign), true
}

// dialect is the language of a command: that of the shell that the ruleset names.
func (j *Judge) dialect(c Command) shell.Dialect {
	if c.Words == nil && j.Rules != nil {
		return j.Rules.Shell
	}
	return shell.Bash
}

// Start are the words of a process that runs a command as it was judged: a line that is more than
// words, by the shell of the ruleset.
func (j *Judge) Start(c Command) []string {
	words := c.Words
	if words == nil {
		words = PlainWords(c.Line)
	}
	if len(words) > 0 {
		return words
	}
	return append(j.Shell(), c.Line)
}

// Shell are the words that run a line, which comes behind them, by the shell of the ruleset; by bash
// without one.
func (j *Judge) Shell() []string {
	if j.Rules != nil && j.Rules.Shell == shell.POSIX {
		return []string{"sh", "-c", "--"}
	}
	return []string{"bash", "-c", "--"}
}

// dir is the absolute working directory of a command.
func (j *Judge) dir(written string) string {
	if written == "" {
		return j.Files.Dir
	}
	return path.Clean(filepath.ToSlash(j.Files.Absolute(written)))
}

// directory refuses a working directory in which nothing is granted, other than that of the session.
func (j *Judge) directory(c Command) Verdict {
	if readings, err := judge.Readings(c.Dir); err != nil || len(readings) > 1 && !strings.HasPrefix(c.Dir, "~") {
		return Refused("the directory of the command can be read in different ways", c.Dir)
	}
	if j.dir(c.Dir) == j.Files.Dir {
		return Verdict{}
	}
	if refused := j.Files.Path(c.Dir); refused != nil {
		return Of(refused)
	}
	return Verdict{}
}

// variables judges the variables that are set for a command. Those that the tool has may be set if no value of theirs
// chooses what runs.
func (j *Judge) variables(c Command) Verdict {
	var out Verdict
	for _, name := range c.Env {
		forwarded := j.Files.View.Decide(ir.Forward{Name: name}).Allowed()
		switch {
		case forwarded && steady(name):
		case !forwarded && ir.LoaderVariable(name):
			out = out.And(Refused("the variable "+visible.Text(name)+" changes the code that programs load", name))
		case j.Rules != nil || j.Files.View.Tool.Commands != nil:
			out = out.And(Left("the variable " + visible.Text(name) + " is set for the command"))
		}
	}
	return out
}

// steady reports whether programs take no place of code, option or command from a variable, whatever its value.
func steady(name string) bool {
	return strings.HasPrefix(name, "LC_") || slices.Contains(strings.Fields(
		"LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES USER LOGNAME CI"), name)
}

// needs are the capabilities that a kind of operation asks for on its paths. The findings of a
// search below a path are not known before, so the policy refuses searches and permits none.
var needs = map[ruleset.Kind][]ir.Capability{
	ruleset.Read: {ir.Read}, ruleset.Edit: {ir.Update}, ruleset.Delete: {ir.Delete}, ruleset.Move: {ir.Delete, ir.Create},
}

// Operation judges an operation that is no command, on paths or on the address of a fetch.
func (j *Judge) Operation(kind ruleset.Kind, paths []string, url string) Verdict {
	op := ruleset.Operation{Kind: kind, Dir: j.Files.Dir, URL: url}
	var policy Verdict
	for _, p := range paths {
		readings, err := judge.Readings(p)
		if err != nil {
			return Refused(visible.Text(err.Error()), p)
		}
		for _, r := range readings {
			op.Paths = append(op.Paths, filepath.ToSlash(j.Files.Absolute(r)))
		}
		for _, need := range needs[kind] {
			policy = policy.And(Of(j.Files.Access(need, p)))
		}
		if refused := j.Files.Path(p); needs[kind] == nil && refused != nil {
			policy = policy.And(Of(refused))
		}
	}
	switch {
	case needs[kind] != nil && len(paths) == 0:
		policy = Left("the request names no path")
	case kind == ruleset.Fetch:
		policy = policy.And(j.fetch(url))
	}
	return j.joined(policy, j.rules(op, shell.Bash))
}

// fetch judges the address of a fetch.
func (j *Judge) fetch(url string) Verdict {
	if url == "" {
		return Left("the request names no address")
	}
	if _, err := resolve.URL(url); err == nil {
		return Of(j.Files.Connect(url))
	}
	if refused := j.Files.Argument("url", url); refused != nil {
		return Of(refused)
	}
	return Left("the address is of no network that the policy is about")
}

// rules asks the ruleset; the zero verdict if it is not about such operations.
func (j *Judge) rules(op ruleset.Operation, dialect shell.Dialect) Verdict {
	if j.Rules == nil || !j.Rules.About(op.Kind) {
		return Verdict{}
	}
	set := *j.Rules
	set.Shell = dialect
	host := Host{j.Files.View, j.Files.Roots, resolve.Through(hostview.Now)}
	d := set.Decide(op, host.Answers())
	cause := d.Cause()
	why, text := cause.Why, visible.Text(cause.Text)
	if cause.Rule != nil {
		why += ": " + cause.Rule.Place()
	}
	why = visible.Text(why)
	switch d.Outcome {
	case ruleset.Allow:
		return Verdict{Outcome: Allow, Reason: why}
	case ruleset.Deny:
		return Refused(text+": "+why, cause.Text)
	case ruleset.Unknown, ruleset.Ask:
	}
	left := Left(text + ": " + why)
	left.Asks, left.Doubt = d.Outcome == ruleset.Ask, set.MayStop(op.Kind, &d)
	d.Leaves(func(p *ruleset.Decision) { left.Asks = left.Asks && p.Own != ruleset.Unknown })
	return left
}

// joined is the stricter of the policy's verdict and the ruleset's; the zero verdict is none.
func (j *Judge) joined(policy, rules Verdict) Verdict {
	if policy.Outcome == Allow && j.OnlyRefuses {
		policy = Verdict{Reason: "the configuration names no tool whose policy permits"}
	}
	out := policy.And(rules)
	if out.Outcome == 0 {
		if out.Reason == "" {
			out.Reason = "no ruleset has a rule for it: a person may write one, [[rulesets.NAME.rules]] in accessc.toml"
		}
		out.Outcome = Unknown
	}
	return out
}
