package gemini

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/writer"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// Backend implements backends.Backend.
type Backend struct{}

// Name implements backends.Backend.
func (Backend) Name() string { return "gemini" }

// File implements backends.Backend.
func (Backend) File() string { return "gemini.toml" }

// Platform implements backends.Backend: Gemini CLI runs on several systems.
func (Backend) Platform() ir.Platform { return 0 }

// Priorities of a file are 0 to 999. An answer that Gemini CLI remembers has 950, and the lists of its settings have
// less.
const (
	others  = 951 // refuses every call
	listed  = 955 // calls that are no access to files
	topmost = 960 // the outermost place; each one in it has one more
	deepest = 990
	names   = 995 // rules by name that close
	unlike  = 999 // refuses paths that are not as they are compared
	longest = 400 // characters of a path in a rule or a call
)

// quiet are tools that touch no file.
var quiet = []string{"ask_user", "complete_task", "update_topic", "write_todos"}

// kinds are the tools that take one path, with the access that they need. replace looks for a relative path elsewhere
// if no file has it.
var kinds = []struct {
	tools    []string
	takes    writer.Access
	relative bool // or by absolute paths
}{
	{[]string{"read_file", "list_directory"}, writer.Read, true},
	{[]string{"read_file", "list_directory"}, writer.Read, false},
	{[]string{"write_file"}, writer.Write, true}, {[]string{"write_file", "replace"}, writer.Write, false},
}

// argument begins an expression about the path of a call. Gemini CLI writes arguments as JSON, in NULs those of the
// call itself.
const argument = `\x00"(?:file_path|dir_path)":"`

// spell returns paths from the workspace alone: the tools reach nothing else.
func spell(target backends.Target, l ir.Location) (string, ir.CauseID) {
	path := l.Path
	switch b := target.Facts.Bindings; {
	case target.Form == backends.Resolved && b != nil:
		abs, ok := b.Path(l)
		if !ok || !ir.Within(abs, b.Workspace) {
			return "", whyOutside
		}
		path = strings.Trim(strings.TrimPrefix(abs, b.Workspace), "/")
	case l.Root.Kind != ir.Workspace:
		return "", whyOutside
	}
	odd := strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`"\%`, r) })
	if odd || !utf8.ValidString(path) || len(utf16.Encode([]rune(path))) >= longest {
		return "", whyOdd
	}
	return "./" + path, ""
}

// give: priorities nest places no deeper than they reach.
func give(p *writer.Place) (writer.Access, ir.CauseID) {
	if level(p) > deepest {
		return writer.None, whyDeep
	}
	return p.Wants, ""
}

// level is the priority of a place.
func level(p *writer.Place) int {
	n := topmost
	for o := p.Outer; o != nil; o = o.Outer {
		if o.Path != "" {
			n++
		}
	}
	return n
}

// rule is one rule of the file.
type rule struct {
	tools    []string
	pattern  string // about the arguments, empty for all
	decision string
	priority int
}

// Compile implements backends.Backend.
func (Backend) Compile(t *ir.Tool, target backends.Target) (backends.Output, error) {
	plan := writer.NewPlan(t, target, writer.Dialect{Spell: spell, Give: give, Names: expressions})
	var asked []rule
	if slices.ContainsFunc(plan.Places, starts) {
		asked = commands(t)
	}
	rules := append([]rule{
		{[]string{"*"}, "", "deny", others},
		{quiet, "", "allow", listed},
		{[]string{"*"}, argument + `(?:[^"]*(?:[\\%]|//|/\.{1,2}[/"])|\.\.[/"]|[@~]|[A-Za-z]:|[^"]{` +
			fmt.Sprint(longest) + `})`, "deny", unlike},
	}, asked...)
	rules = append(rules, places(plan, workspace(target))...)
	var b strings.Builder
	for i, r := range rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.write(&b)
	}
	return backends.Output{Data: []byte(b.String()), Elsewhere: holder(plan, len(asked) > 0).Ledger()}, nil
}

// starts reports whether the policy lets files of a place be started, which every tool may do in its own directories.
func starts(at *writer.Place) bool {
	return at.Caps.Has(ir.Execute) && at.At.Root.Kind != ir.Home && at.At.Root.Kind != ir.Temp
}

// workspace is the path of the workspace, empty where it is not known or too long for a rule.
func workspace(target backends.Target) string {
	if target.Form != backends.Resolved || target.Facts.Bindings == nil ||
		len(target.Facts.Bindings.Workspace) >= longest {
		return ""
	}
	return target.Facts.Bindings.Workspace
}

func (r *rule) write(b *strings.Builder) {
	b.WriteString("[[rule]]\n")
	names := make([]string, len(r.tools))
	for i, name := range r.tools {
		names[i] = tomltext.String(name)
	}
	fmt.Fprintf(b, "toolName = [%s]\n", strings.Join(names, ", "))
	switch {
	case strings.ContainsAny(r.pattern, "'\x7f"):
		fmt.Fprintf(b, "argsPattern = %s\n", tomltext.String(r.pattern))
	case r.pattern != "":
		fmt.Fprintf(b, "argsPattern = '%s'\n", r.pattern)
	}
	fmt.Fprintf(b, "decision = %q\npriority = %d\n", r.decision, r.priority)
}

// places are the rules of the places that differ from the one around them.
func places(plan *writer.Plan, workspace string) []rule {
	var out []rule
	for _, at := range plan.Places {
		if at.Path == "" || at.Link || at.Through {
			continue
		}
		outer := writer.None
		if at.Outer != nil && at.Outer.Path != "" {
			outer = at.Outer.Has
		}
		path, dir := strings.TrimPrefix(at.Path, "./"), regexp.QuoteMeta(workspace)
		for _, k := range kinds {
			does, pattern := at.Has >= k.takes, below(path, `\.`, `(?:\./|)`)
			if !k.relative {
				pattern = below(path, dir, dir+"/")
			}
			if does != (outer >= k.takes) && (k.relative || workspace != "") {
				out = append(out, rule{k.tools, argument + pattern, map[bool]string{true: "allow", false: "deny"}[does],
					level(at)})
			}
		}
	}
	return append(out, closed(plan, workspace)...)
}

// closed are the rules for the names that rules by name close.
func closed(plan *writer.Plan, workspace string) []rule {
	var out []rule
	for _, n := range plan.Named {
		path := strings.TrimPrefix(strings.TrimPrefix(n.Base.Path, "."), "/")
		for _, name := range n.Patterns {
			for _, k := range kinds {
				begin := `(?:\./|)`
				if !k.relative {
					begin = regexp.QuoteMeta(workspace + "/")
				}
				if path != "" {
					begin += regexp.QuoteMeta(path + "/")
				}
				if n.Has < k.takes && (k.relative || workspace != "") {
					out = append(out, rule{k.tools, argument + begin + `(?:[^"]*/|)` + name + `(?:/[^"]*|)"\x00`,
						"deny", names})
				}
			}
		}
	}
	return out
}

// expressions are the names of a rule as expressions. A name that is too long becomes every name.
func expressions(n *writer.Named) (out []string, wider bool) {
	spelling := ir.NameSpelling{
		Run: `[^/"]*`, One: `[^/"]`,
		Char: func(r rune) string { return regexp.QuoteMeta(string(r)) },
		Class: func([]rune, bool) string {
			wider = true
			return `[^/"]`
		},
	}
	for _, name := range n.Rule.Names {
		text := spelling.Spell(name)
		if len(text) > 2*longest {
			text, wider = spelling.Run, true
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, wider
}

// below matches a path, and those below it, in a directory: the directory alone, and as the beginning of a path.
func below(path, dir, begin string) string {
	if path == "" {
		return `(?:` + dir + `|` + begin + `(?:[^/"][^"]*|))"\x00`
	}
	return begin + regexp.QuoteMeta(path) + `(?:/[^"]*|)"\x00`
}

// commands are the rules for programs that the policy lets start: each command is asked about.
func commands(t *ir.Tool) []rule {
	shell := []string{"run_shell_command"}
	if t.Commands == nil {
		return []rule{{shell, `\x00"command":"`, "ask_user", listed}}
	}
	var out []rule
	for i := range t.Commands.Rules {
		for _, l := range writer.Lines(&t.Commands.Rules[i]) {
			end := `"\x00`
			if l.More {
				end = `(?: |"\x00)`
			}
			if text := regexp.QuoteMeta(l.Words); len(text) < 2*longest {
				out = append(out, rule{shell, `\x00"command":"` + text + end, "ask_user", listed})
			}
		}
	}
	return out
}
