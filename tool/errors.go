package tool

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/accessc/accessc/ir"
)

// An OutsideError refuses a path that cannot be a path in the workspace, whatever is on the
// disk.
type OutsideError struct {
	// Path is the path that was asked for.
	Path string
	// Why is the reason why the path is refused.
	Why string
}

// Error implements error.
func (e *OutsideError) Error() string { return e.Path + ": " + e.Why }

// Unwrap makes every refusal fs.ErrPermission.
func (e *OutsideError) Unwrap() error { return fs.ErrPermission }

// An EscapeError refuses a path that a symlink leads out of the workspace, or out of the
// target that was approved for an external rule.
type EscapeError struct {
	// Path is the path that was asked for.
	Path string
	// Target is the place that it leads to, an absolute path.
	Target string
}

// Error implements error.
func (e *EscapeError) Error() string {
	return fmt.Sprintf("%s: a symlink leads to %s, outside of the workspace", e.Path, e.Target)
}

// Unwrap makes every refusal fs.ErrPermission.
func (e *EscapeError) Unwrap() error { return fs.ErrPermission }

// A DeniedError refuses a capability on a path.
type DeniedError struct {
	// Capability is the denied capability: read, create, update, delete or execute.
	Capability string
	// Path is the path that was asked for.
	Path string
	// Target is the place that it leads to: relative to the workspace, or below the name of an
	// external rule.
	Target string
	// Rule is the path of the rule that decided, empty where none matches; "." is the
	// workspace itself.
	Rule string
	// Reason is the word of accessc can for why: "rule", "default-deny", "root".
	Reason string
	// Granted lists the paths of the rules that grant the capability.
	Granted []string
}

// Error implements error. It lists the granted alternatives, for a model to go on with.
func (e *DeniedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s is denied", e.Capability, e.Path)
	if e.Target != path.Clean(e.Path) {
		fmt.Fprintf(&b, " (it leads to %s)", e.Target)
	}
	if e.Reason == ir.ReasonRoot.String() {
		b.WriteString(": a directory that the policy names is neither made nor removed")
		return b.String()
	}
	b.WriteString(by(e.Rule))
	b.WriteString(instead(e.Granted, e.Capability+" is granted at", e.Capability+" is granted nowhere"))
	return b.String()
}

// Unwrap makes every refusal fs.ErrPermission.
func (e *DeniedError) Unwrap() error { return fs.ErrPermission }

// A NetError refuses a connection, a request, or listening.
type NetError struct {
	// URL is the target that was asked for; of listening, the address.
	URL string
	// Method is the method of a request, empty for a connection.
	Method string
	// Listen is true where listening was asked for.
	Listen bool
	// Rule is the rule that decided, empty where none matches.
	Rule string
	// Why is the problem of a target that is no URL, or no address.
	Why string
	// Allowed lists the rules that allow something.
	Allowed []string
}

// Error implements error.
func (e *NetError) Error() string {
	what := "connecting to " + e.URL
	switch {
	case e.Listen:
		what = "listening at " + e.URL
	case e.Method != "":
		what = e.Method + " of " + e.URL
	}
	if e.Why != "" {
		return fmt.Sprintf("%s is refused: %s", what, e.Why)
	}
	return fmt.Sprintf("%s is denied%s%s", what, by(e.Rule), instead(e.Allowed, "allowed:", "nothing is allowed"))
}

// Unwrap makes every refusal fs.ErrPermission.
func (e *NetError) Unwrap() error { return fs.ErrPermission }

// An EnvError refuses an environment variable.
type EnvError struct {
	// Name is the variable.
	Name string
	// Rule is the rule that decided, empty where none matches.
	Rule string
	// Granted lists the names and prefixes that are granted.
	Granted []string
}

// Error implements error.
func (e *EnvError) Error() string {
	return fmt.Sprintf("the variable %s is denied%s%s", e.Name, by(e.Rule),
		instead(e.Granted, "granted:", "none is granted"))
}

// Unwrap makes every refusal fs.ErrPermission.
func (e *EnvError) Unwrap() error { return fs.ErrPermission }

// A CommandError refuses to start a program with arguments.
type CommandError struct {
	// Program is the name or path that was asked for.
	Program string
	Args    []string // that were asked for
	// Listed is true where the program may be started with other arguments.
	Listed bool
	// NameOf is the listed program that it is the file of, where the name is a different name;
	// empty otherwise.
	NameOf string
	// Allowed lists the programs that may be started, or for a listed program its argument lists, in which a last **
	// means any further arguments.
	Allowed []string
}

// Error implements error.
func (e *CommandError) Error() string {
	if e.Listed {
		return fmt.Sprintf("running %s is denied with these arguments%s",
			strings.Join(append([]string{e.Program}, e.Args...), " "),
			instead(e.Allowed, "allowed:", "nothing is allowed"))
	}
	if e.NameOf != "" {
		return fmt.Sprintf("running %s is denied: it is the program of %s, which may do something else by another name",
			e.Program, e.NameOf)
	}
	return fmt.Sprintf("running %s is denied: it is not listed%s", e.Program, instead(e.Allowed, "listed:", "none is"))
}

// Unwrap makes every refusal fs.ErrPermission.
func (e *CommandError) Unwrap() error { return fs.ErrPermission }

// by names the rule that decided.
func by(rule string) string {
	if rule == "" {
		return ": no rule matches"
	}
	return " by the rule on " + rule
}

// most bounds how much of a policy an error lists.
const most = 12

// instead lists the permitted alternatives, behind some, or returns none.
func instead(list []string, some, none string) string {
	switch {
	case len(list) == 0:
		return "; " + none
	case len(list) > most:
		return fmt.Sprintf("; %s %s and %d more", some, strings.Join(list[:most], ", "), len(list)-most)
	default:
		return "; " + some + " " + strings.Join(list, ", ")
	}
}
