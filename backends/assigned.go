package backends

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// Assignment is one variable of a tool with its value.
type Assignment struct {
	Name  string // of the variable
	Value string // with nothing left to replace
}

// Assigned returns the variables of a tool whose values a compiler knows: TMPDIR, HOME, and those that rules give a
// value. tmp is the directory for temporary files and home the tool's private home, either empty where there is none.
// takes says which rules the target has room for, nil for all.
func Assigned(t *ir.Tool, tmp, home string, takes func(*ir.EnvRule) bool) []Assignment {
	var out []Assignment
	view := ir.NewEnvView(t.Env, t.Home, ir.Linux)
	if tmp != "" {
		out = append(out, Assignment{"TMPDIR", tmp})
	}
	if home != "" && view.Decide(ir.Forward{Name: "HOME"}).Allowed() {
		out = append(out, Assignment{"HOME", home})
	}
	for i := range t.Env {
		r := &t.Env[i]
		if r.Value == "" || home == "" && strings.Contains(r.Value, ir.OwnHome) || takes != nil && !takes(r) {
			continue
		}
		set := slices.ContainsFunc(out, func(v Assignment) bool { return v.Name == r.Name })
		if !set && view.Decide(ir.Forward{Name: r.Name}).Allowed() {
			out = append(out, Assignment{r.Name, strings.ReplaceAll(r.Value, ir.OwnHome, home)})
		}
	}
	return out
}

// Texts are assignments as NAME=VALUE.
func Texts(list []Assignment) []string {
	out := []string{}
	for _, v := range list {
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}
