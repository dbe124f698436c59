package consent

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/host/approvals"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/text/usage"
	"github.com/accessc/accessc/internal/text/visible"
)

// Compile compiles for this host. Where external rules of the named tools, of all without
// names, wait for an approval and there is a terminal, it asks, and compiles again with the
// approvals. The shown and the approved target are the same, and a symlink that was changed
// meanwhile is not approved.
// See decision D18.
func Compile(opts hostfacts.Options, ask bool, notes io.Writer, tools ...string) (*hostfacts.Result, error) {
	res, err := hostfacts.Compile(opts)
	if err != nil {
		return nil, usage.Error{Err: err}
	}
	pending := Pending(res.Bindings, tools)
	if !ask || res.Program == nil || len(pending) == 0 {
		return res, nil
	}
	t, err := prompt.Open()
	if errors.Is(err, prompt.ErrNone) {
		return res, nil // the findings name the dropped rules, and how to approve them
	}
	if err != nil {
		return nil, err
	}
	defer t.Close()
	approved, err := askAll(t, res, pending, notes)
	if err != nil || approved == 0 {
		return res, err
	}
	opts.View.Forget() // an approval is an answer
	if res, err = hostfacts.Compile(opts); err != nil {
		return nil, usage.Error{Err: err}
	}
	return res, nil
}

// Pending are the bindings that are not approved and that one of the tools uses.
func Pending(all []compiler.Binding, tools []string) []compiler.Binding {
	var out []compiler.Binding
	for _, b := range all {
		used := len(tools) == 0 || slices.ContainsFunc(b.Grants, func(g compiler.Grant) bool {
			return g.RulePath == b.RulePath && slices.Contains(tools, g.Tool)
		})
		if !b.Approved && !b.Broken && used {
			out = append(out, b)
		}
	}
	return out
}

// askAll asks about one binding after the other and keeps each approval at once.
func askAll(
	t *prompt.Terminal,
	res *hostfacts.Result,
	pending []compiler.Binding,
	notes io.Writer,
) (approved int, err error) {
	var given []compiler.Binding
	for _, b := range pending {
		if slices.ContainsFunc(given, func(o compiler.Binding) bool { return o.Covers(b) }) {
			continue
		}
		text, question := Question(res, b)
		yes, err := t.Confirm(text, question)
		if err != nil {
			return len(given), err
		}
		if !yes {
			continue
		}
		if err := Remember(res, b, notes); err != nil {
			return len(given), err
		}
		given = append(given, b)
	}
	return len(given), nil
}

// Remember records an approval.
func Remember(res *hostfacts.Result, b compiler.Binding, notes io.Writer) error {
	path, err := res.Approvals()
	var aside string
	if err == nil {
		aside, err = approvals.Update(path, func(s *approvals.Store) error {
			return s.Approve(approvals.Given(b.RulePath, b.Target))
		})
	}
	if err != nil {
		return fmt.Errorf("nothing was approved: %s: %w", path, err)
	}
	Aside(notes, path, aside)
	return nil
}

// Question describes a binding for a decision: where the rules lead, where they led, and
// each tool's capabilities there.
func Question(res *hostfacts.Result, b compiler.Binding) (text, question string) {
	var s strings.Builder
	path, target := visible.Name(b.RulePath), visible.Name(b.Target)
	if b.Was != "" {
		fmt.Fprintf(&s, "\nAn external rule leads elsewhere than you approved:\n\n  %s\n    was  %s\n    now  %s\n\n",
			path, visible.Name(b.Was), target)
		question = "Approve the new target?"
	} else {
		fmt.Fprintf(&s,
			"\nAn external rule leads out of the workspace, to a target without an approval:\n\n  %s → %s\n\n", path,
			target)
		question = "Approve this target?"
	}
	s.WriteString("Grants there:\n")
	s.WriteString(grantLines(b))
	s.WriteString(Credential(res, b))
	s.WriteString("\nThe target is remembered. Rules that grant more there later do not ask again.\n")
	return s.String(), question
}

// Credential names a configuration of git's in the target that may hold a credential.
func Credential(res *hostfacts.Result, b compiler.Binding) string {
	file := res.Credential(b.Target)
	if file == "" {
		return ""
	}
	return visible.Name(file) + " may hold a credential, and tools with this rule read it\n"
}

// grantLines lists the grants of a binding, aligned, and the reasons of those that presets have. One
// below the path names its own.
func grantLines(b compiler.Binding) string {
	rows := make([][2]string, len(b.Grants))
	width := 0
	for i, g := range b.Grants {
		rows[i] = [2]string{g.Tool, g.Caps.String()}
		if g.RulePath != b.RulePath {
			rows[i][0] += " in " + visible.Name(g.RulePath)
		}
		width = max(width, len([]rune(rows[i][0])))
	}
	var s strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&s, "  %s%s  %s\n", r[0], strings.Repeat(" ", width-len([]rune(r[0]))), r[1])
	}
	var said []string
	for _, g := range b.Grants {
		if line := g.Preset + ": " + g.Reason; g.Preset != "" && !slices.Contains(said, line) {
			said = append(said, line)
			fmt.Fprintf(&s, "  %s\n", line)
		}
	}
	return s.String()
}

// Aside tells the path to which an unusable store was moved.
func Aside(notes io.Writer, path, aside string) {
	if aside != "" {
		fmt.Fprintf(notes, "accessc: %s could not be used and was moved to %s\n", path, aside)
	}
}
