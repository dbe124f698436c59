package compare_test

import (
	"reflect"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// TestEveryFieldOfAToolIsCompared: a review that says nothing about a tool has seen every field of it. Those that were
// missing were no permissions, such as the command.
func TestEveryFieldOfAToolIsCompared(t *testing.T) {
	// Without an entry a field is of no concern to a reviewer.
	unseen := map[string]string{
		"Name":     "tools are compared by name",
		"Declared": "a list that is not declared counts by its default",
		"Removed":  "what is left is compared",
		"Disabled": "the tools of a server are compared together, by Calls",
		"Undo":     "no configuration sets it, a flag of a start does",
	}
	changes := map[string]func(*ir.Tool){
		"Source":     func(t *ir.Tool) { t.Source = ir.Source{Kind: ir.SourceBuiltin, Detail: "y"} },
		"Command":    func(t *ir.Tool) { t.Command = &ir.Command{Program: "bash", Args: []string{"-c", "curl x | sh"}} },
		"Run":        func(t *ir.Tool) { t.Run = "unattended" },
		"LeastRisk":  func(t *ir.Tool) { t.LeastRisk = ir.RiskHigh },
		"Base":       func(t *ir.Tool) { t.Base = ir.BaseNone },
		"Home":       func(t *ir.Tool) { t.Home = ir.HomeReal },
		"HomeShared": func(t *ir.Tool) { t.HomeShared = true },
		"LateOpen":   func(t *ir.Tool) { t.LateOpen = true },
		"Protects":   func(t *ir.Tool) { t.Protects = !t.Protects },
		"Protected":  func(t *ir.Tool) { t.Protected = []ir.ProtectedPath{{Path: "conf/x.toml"}} },
		"FS":         func(t *ir.Tool) { t.FS = nil },
		"Net":        func(t *ir.Tool) { t.Net = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Allow: true}} },
		"Env":        func(t *ir.Tool) { t.Env = []ir.EnvRule{{Name: "TOKEN", Read: true}} },
		"Commands":   func(t *ir.Tool) { t.Commands = &ir.CommandSet{} },
		"May": func(t *ir.Tool) {
			t.May = []ir.FSRule{{At: ir.Location{Root: ir.Root{Kind: ir.Workspace}}, Caps: ir.All}}
		},
		"MayNet":      func(t *ir.Tool) { t.MayNet = []ir.NetRule{{Host: ir.Host{Kind: ir.HostAny}, Allow: true}} },
		"Sensitive":   func(t *ir.Tool) { t.Sensitive = t.Sensitive[1:] },
		"Limits":      func(t *ir.Tool) { t.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}} },
		"Constraints": func(t *ir.Tool) { t.Constraints = &ir.Constraints{MaxInvocations: 2} },
		"Tests":       func(t *ir.Tool) { t.Tests = nil },
		"Accept":      func(t *ir.Tool) { t.Accept = []ir.Acceptance{{Gap: "net.host"}} },
	}
	tool := func() *ir.Tool {
		out := ir.NewTool("t")
		out.Command, out.Tests = &ir.Command{Program: "cat", Args: []string{".env"}}, []ir.Assertion{{Question: "read .env"}}
		return out
	}
	all := reflect.TypeFor[ir.Tool]()
	for i := range all.NumField() {
		name := all.Field(i).Name
		change := changes[name]
		if unseen[name] != "" {
			continue
		}
		if change == nil {
			t.Errorf("no change of %s is compared here", name)
			continue
		}
		old, new := tool(), tool()
		change(new)
		if len(compare.Policies(compare.Policy{Tool: old}, compare.Policy{Tool: new}))+len(compare.Settings(old, new)) == 0 {
			t.Errorf("a change of %s is not said", name)
		}
	}
}

// TestSettingsPermitNothing: a tool with other settings may do what it could do before.
func TestSettingsPermitNothing(t *testing.T) {
	old, new := ir.NewTool("t"), ir.NewTool("t")
	new.Command = &ir.Command{Program: "bash", Args: []string{"-c", "curl x | sh"}}
	new.LeastRisk = ir.RiskHigh
	new.Run, new.LateOpen, new.Sensitive, new.Tests = "unattended", true, nil, []ir.Assertion{{Question: "read .env"}}
	if ds := compare.Policies(compare.Policy{Tool: old}, compare.Policy{Tool: new}); len(ds) > 0 {
		t.Errorf("permissions differ: %v", ds)
	}
	var names []string
	for _, s := range compare.Settings(old, new) {
		names = append(names, s.Name)
	}
	if want := []string{"command", "run", "late", "risk", "sensitive_paths", "tests"}; !reflect.DeepEqual(names, want) {
		t.Errorf("settings %v, want %v", names, want)
	}
}

// TestCommandsReadApart: two commands that do other things are not written alike.
func TestCommandsReadApart(t *testing.T) {
	commands := []*ir.Command{
		{Program: "a b"}, {Program: "a", Args: []string{"b"}}, {Program: "a b", Shell: true},
		{Program: "by the shell: a b"}, {Program: "a", Args: []string{"b", ""}}, {Program: "'a b'"},
	}
	for i, a := range commands {
		for j, b := range commands {
			old, new := ir.NewTool("t"), ir.NewTool("t")
			old.Command, new.Command = a, b
			if differ := len(compare.Settings(old, new)) > 0; differ != (i != j) {
				t.Errorf("%+v and %+v: differ %t", a, b, differ)
			}
		}
	}
}
