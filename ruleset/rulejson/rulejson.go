// Package rulejson is the text form of rulesets, for manifests and for programs. Its conditions have
// the keys of the configuration. Directories count from the workspace, so the form is the same on
// every host.
package rulejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// SetDoc is a ruleset in the document, the rules of those that it extends included.
type SetDoc struct {
	Name  string    `json:"name"`  // of the ruleset
	Shell string    `json:"shell"` // bash or sh
	Rules []RuleDoc `json:"rules"` // in the order in which they are tried
}

// RuleDoc is a rule.
type RuleDoc struct {
	Outcome   string            `json:"outcome"`             // allow or deny
	Operation []string          `json:"operation"`           // the kinds of operation
	When      *Condition        `json:"when,omitempty"`      // nil where the rule has no condition
	Match     []string          `json:"match,omitempty"`     // command lines that it decides
	NotMatch  []string          `json:"not_match,omitempty"` // command lines that it does not decide
	Reason    string            `json:"reason,omitempty"`    // for the reader of a refusal
	Origin    *irjson.OriginDoc `json:"origin,omitempty"`    // the place that wrote it
}

// Condition is a condition of a rule. Apart from subcommands, which belong to a command, it has a single member.
type Condition struct {
	Command     []string     `json:"command,omitempty"`          // names of programs
	Subcommands []string     `json:"subcommands,omitempty"`      // words that follow a command
	Prefix      [][]string   `json:"prefix,omitempty"`           // beginnings of commands, word by word
	Flags       []string     `json:"flags,omitempty"`            // options that must all be there
	Args        [][]string   `json:"args,omitempty"`             // whole lists of arguments
	Group       string       `json:"group,omitempty"`            // a list that ships with accessc
	Within      string       `json:"within_directory,omitempty"` // a directory of the workspace, from its root
	Hosts       []string     `json:"hosts,omitempty"`            // of a fetch
	ToShell     bool         `json:"piped_to_shell,omitempty"`   // the output is run as code
	Any         []*Condition `json:"any,omitempty"`              // some of them hold
	All         []*Condition `json:"all,omitempty"`              // all of them hold
	Not         *Condition   `json:"not,omitempty"`              // it does not hold
}

// Doc returns the document form of a ruleset.
// See decision D135.
func Doc(s *ruleset.Set) SetDoc {
	out := SetDoc{Name: s.Name, Shell: s.Shell.String(), Rules: []RuleDoc{}}
	for _, r := range s.Rules {
		d := RuleDoc{
			Outcome: r.Outcome.String(), When: condition(r.Matcher, s.Root), Match: r.Match, NotMatch: r.NotMatch,
			Reason: r.Reason, Origin: irjson.WriteOrigin(r.Origin),
		}
		for _, k := range r.Operations() {
			d.Operation = append(d.Operation, k.String())
		}
		out.Rules = append(out.Rules, d)
	}
	return out
}

// Bare returns the bytes that a ruleset's hash is about: its verdicts, without places, examples and
// reasons.
func (d SetDoc) Bare() ([]byte, error) {
	rules := make([]RuleDoc, len(d.Rules))
	for i, r := range d.Rules {
		rules[i] = RuleDoc{Outcome: r.Outcome, Operation: r.Operation, When: r.When}
	}
	d.Rules = rules
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(d)
	return buf.Bytes(), err
}

// condition writes a matcher, nil for none.
func condition(m ruleset.Matcher, root string) *Condition {
	switch m := m.(type) {
	case ruleset.Command:
		return &Condition{Command: m.Names, Subcommands: m.Subcommands}
	case ruleset.Prefix:
		return &Condition{Prefix: m}
	case ruleset.Flags:
		return &Condition{Flags: m}
	case ruleset.Args:
		out := &Condition{}
		for _, seq := range m {
			out.Args = append(out.Args, append([]string{}, seq...))
		}
		return out
	case ruleset.Group:
		return &Condition{Group: string(m)}
	case ruleset.Within:
		return &Condition{Within: Below(root, string(m))}
	case ruleset.Hosts:
		return &Condition{Hosts: m}
	case ruleset.PipedToShell:
		return &Condition{ToShell: true}
	case ruleset.Any:
		return &Condition{Any: conditions(m, root)}
	case ruleset.All:
		return &Condition{All: conditions(m, root)}
	case ruleset.Not:
		return &Condition{Not: condition(m.Matcher, root)}
	}
	return nil
}

func conditions(ms []ruleset.Matcher, root string) []*Condition {
	var out []*Condition
	for _, m := range ms {
		out = append(out, condition(m, root))
	}
	return out
}

// Below writes a directory of the workspace from its root, which is a dot.
func Below(root, dir string) string {
	rest, ok := strings.CutPrefix(dir, strings.TrimSuffix(root, "/")+"/")
	if !ok {
		return "."
	}
	return rest
}

var errText = errors.New("not a ruleset")

// Set returns the ruleset that the document describes, for a workspace at root.
func (d SetDoc) Set(root string) (*ruleset.Set, error) {
	out := &ruleset.Set{Name: d.Name, Root: root, Shell: shell.DialectOf(d.Shell)}
	if out.Shell.String() != d.Shell {
		return nil, fmt.Errorf("%w: shell %q", errText, d.Shell)
	}
	for i, r := range d.Rules {
		rule, err := r.rule(root)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i, err)
		}
		out.Rules = append(out.Rules, rule)
	}
	return out, nil
}

func (d RuleDoc) rule(root string) (*ruleset.Rule, error) {
	outcome, ok := ruleset.ParseOutcome(d.Outcome)
	out := &ruleset.Rule{Outcome: outcome, Match: d.Match, NotMatch: d.NotMatch, Reason: d.Reason}
	if !ok {
		return nil, fmt.Errorf("%w: outcome %q", errText, d.Outcome)
	}
	for _, name := range d.Operation {
		k, ok := ruleset.ParseKind(name)
		if !ok {
			return nil, fmt.Errorf("%w: operation %q", errText, name)
		}
		out.Kinds = append(out.Kinds, k)
	}
	var err error
	if out.Origin, err = d.Origin.Read(); err == nil && d.When != nil {
		out.Matcher, err = d.When.matcher(root)
	}
	return out, err
}

// matcher reads a condition, which is exactly one.
func (c *Condition) matcher(root string) (ruleset.Matcher, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: found no condition", errText)
	}
	found, err := c.compound(root)
	if err != nil {
		return nil, err
	}
	add := func(there bool, m ruleset.Matcher) {
		if there {
			found = append(found, m)
		}
	}
	add(len(c.Command) > 0, ruleset.Command{Names: c.Command, Subcommands: c.Subcommands})
	add(len(c.Prefix) > 0, ruleset.Prefix(c.Prefix))
	add(len(c.Flags) > 0, ruleset.Flags(c.Flags))
	add(len(c.Args) > 0, ruleset.Args(c.Args))
	add(c.Group != "", ruleset.Group(c.Group))
	add(c.Within != "", ruleset.Within(path.Join(root, c.Within)))
	add(len(c.Hosts) > 0, ruleset.Hosts(c.Hosts))
	add(c.ToShell, ruleset.PipedToShell{})
	for _, seq := range c.Prefix {
		if len(seq) == 0 {
			return nil, fmt.Errorf("%w: a prefix without a program", errText)
		}
	}
	if len(found) != 1 || len(c.Subcommands) > 0 && len(c.Command) == 0 {
		return nil, fmt.Errorf("%w: found %d conditions in one", errText, len(found))
	}
	return found[0], nil
}

// compound reads the conditions that consist of others.
func (c *Condition) compound(root string) ([]ruleset.Matcher, error) {
	var found []ruleset.Matcher
	anyOf, err := matchers(c.Any, root)
	if err != nil {
		return nil, err
	}
	allOf, err := matchers(c.All, root)
	if err != nil {
		return nil, err
	}
	if len(anyOf) > 0 {
		found = append(found, ruleset.Any(anyOf))
	}
	if len(allOf) > 0 {
		found = append(found, ruleset.All(allOf))
	}
	if c.Not != nil {
		m, err := c.Not.matcher(root)
		if err != nil {
			return nil, err
		}
		found = append(found, ruleset.Not{Matcher: m})
	}
	return found, nil
}

func matchers(list []*Condition, root string) ([]ruleset.Matcher, error) {
	var out []ruleset.Matcher
	for _, c := range list {
		m, err := c.matcher(root)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
