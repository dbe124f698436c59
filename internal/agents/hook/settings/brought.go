package settings

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/files/wholefile"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// commands looks for further settings of a repository that start programs or steer the hook: by the form of
// the examined agent alone, since another one that reads the file does not know them.
func (x *examination) commands(w watched, tree map[string]any) {
	for _, key := range x.agent.CommandKeys {
		if at(tree, key) != nil {
			x.find(w.path, "the repository brings a command, which the agent starts: %s", key)
		}
	}
	for _, key := range x.agent.PluginKeys {
		if plugins := members(tree[key]); len(plugins) > 0 {
			x.find(w.path, "the repository names plugins, which may bring hooks and take others away, by %s: %s", key,
				strings.Join(plugins, ", "))
		}
	}
	if x.agent.VariablesKey != "" {
		x.variables(w.path, members(tree[x.agent.VariablesKey]))
	}
}

// members are the names of the members of an object that are not false, in order.
func members(v any) []string {
	object, _ := v.(map[string]any)
	out := make([]string, 0, len(object))
	for name, v := range object {
		if v != false {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// variables looks for variables that change how the hook runs, or whether it does.
func (x *examination) variables(path string, names []string) {
	steer := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !x.steers(name) })
	if len(steer) > 0 {
		x.find(path, "the repository sets variables that the hook of accessc, or the agent, goes by: %s",
			strings.Join(steer, ", "))
	}
}

// steering are variables by which the hook finds its policy and programs.
var steering = []string{
	"PATH", "HOME", "TMPDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "SHELL", "BASH_ENV", "ENV",
	"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR",
	"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
}

// steers reports whether a variable says which policy, state and programs the hook has, or whether the agent runs it.
func (x *examination) steers(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasPrefix(upper, "XDG_") || strings.HasPrefix(upper, "ACCESSC_") ||
		slices.Contains(steering, upper) ||
		ir.LoaderVariable(name) || name == x.agent.Variable || slices.Contains(x.agent.Switches, name)
}

// beside looks at the texts beside settings.
func (x *examination) beside() {
	if x.places.Workspace == "" {
		return
	}
	each := func(patterns []string, look func(path string, data []byte)) {
		for _, pattern := range patterns {
			for _, path := range matches(x.places.Workspace, pattern) {
				switch _, data, err := wholefile.Read(path); {
				case err == nil:
					look(path, data)
				case !os.IsNotExist(err):
					x.find(path, "cannot be read: %v", err)
				}
			}
		}
	}
	each(x.agent.Heads, func(path string, data []byte) {
		if hooksInHead.Get().Match(head(data)) {
			x.find(path, "the repository brings hooks of its own, which the agent starts with this text")
		}
	})
	each(x.agent.VariableFiles, func(path string, data []byte) {
		var names []string
		for _, m := range assignment.Get().FindAllSubmatch(data, -1) {
			names = append(names, string(m[1]))
		}
		slices.Sort(names)
		x.variables(path, slices.Compact(names))
	})
}

// assignment is a line of a file of variables.
var assignment = expression.Once{Text: `(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*[=:]`}

// hooksInHead finds the member hooks in the head of a text, in any style of YAML.
var hooksInHead = expression.Once{Text: `(?m)(?:^|[\s{,?'"])hooks['"]?\s*:`}

// head is the head of a text: the lines between the first one, of three dashes, and the next of them. A head without an
// end may be one for some readers.
func head(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.TrimLeft(text, " \t\r\n")
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	if !ok {
		return nil
	}
	out, _, _ := bytes.Cut(rest, []byte("\n---"))
	return out
}
