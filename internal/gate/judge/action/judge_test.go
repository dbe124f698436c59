package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/gate/judge"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/testbuild"
)

// subject is a judge of a policy that reads src and changes out, with a table of
// programs and rules as the arguments say.
func subject(t *testing.T, table *ir.CommandSet, rules ...*ruleset.Rule) *Judge {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"src", "out", "secret", "bin"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"src/a", "secret/a", "bin/git", "bin/tail", "bin/rm"} {
		if err := testbuild.WriteFile(filepath.Join(root, file), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tool := &ir.Tool{
		Name: "coder", Declared: ir.Declared{FS: true, Net: true}, Commands: table,
		FS: []ir.FSRule{
			{Written: "src", At: ir.In("src"), Caps: ir.Caps(ir.Read)}, {Written: "out", At: ir.In("out"), Caps: ir.All},
			{Written: "bin", At: ir.In("bin"), Caps: ir.Caps(ir.Read, ir.Execute)},
		},
		Net: []ir.NetRule{{Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Allow: true}},
	}
	roots := &ir.Bindings{Workspace: filepath.ToSlash(root)}
	files := &judge.Judge{View: ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}, Located: true}), Roots: roots, Dir: roots.Workspace}
	lookup := func(name string) (string, bool) {
		abs := roots.Workspace + "/bin/" + name
		_, err := os.Stat(abs)
		return abs, err == nil
	}
	j := &Judge{Files: files, Asker: resolve.Asker{Bindings: roots, Lookup: lookup}}
	if rules != nil {
		j.Rules = &ruleset.Set{Name: "dev", Root: roots.Workspace, Shell: shell.Bash, Rules: rules}
	}
	return j
}

// table lists git, with any arguments but those of push, and tail.
func table() *ir.CommandSet {
	git, tail := ir.In("bin/git"), ir.In("bin/tail")
	return &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "git", File: &git, Args: []ir.ArgPattern{{Words: []string{"status"}, Rest: true}, {Words: []string{"log"}, Rest: true}}, AllEnvs: true},
		{Program: "tail", File: &tail, AnyArgs: true, AllEnvs: true},
	}}
}

// allow and deny are rules about programs by name.
func allow(names ...string) *ruleset.Rule {
	return &ruleset.Rule{Outcome: ruleset.Allow, Matcher: ruleset.Command{Names: names}}
}

func deny(names ...string) *ruleset.Rule {
	return &ruleset.Rule{Outcome: ruleset.Deny, Matcher: ruleset.Command{Names: names}, Reason: "not here"}
}

// TestJoined: the ruleset and the table of programs are both asked, and the stricter answer counts.
func TestJoined(t *testing.T) {
	both := subject(t, table(), deny("rm"), allow("git", "tail", "ls"))
	rules := subject(t, nil, deny("rm"), allow("git", "tail"))
	listed := subject(t, table())
	files := subject(t, nil, &ruleset.Rule{Outcome: ruleset.Deny, Kinds: []ruleset.Kind{ruleset.Read}})
	for _, c := range []struct {
		j       *Judge
		command Command
		want    Outcome
	}{
		{both, Command{Line: "git status && git log | tail -3"}, Allow},
		{both, Command{Words: []string{"bash", "-lc", "git status"}}, Allow},
		{both, Command{Line: "ls"}, Deny}, // the table has no ls
		{both, Command{Line: "git status; ls"}, Deny},
		{both, Command{Line: "git push"}, Deny},
		{both, Command{Line: "git status $(rm x)"}, Deny},
		{both, Command{Line: "git log $x"}, Unknown},
		{both, Command{Line: "git status > out/x"}, Allow},
		{both, Command{Line: "git status > src/a"}, Deny},
		{both, Command{Line: "git status", Dir: "secret"}, Deny},
		{both, Command{Line: "git status", Dir: "src"}, Unknown}, // git obeys the configuration there
		{both, Command{Words: []string{"git", "status; rm x"}}, Deny},
		{both, Command{Words: []string{"tail", "a; rm 'x'"}}, Allow},
		{both, Command{Words: []string{"tail", "a\nb"}}, Allow},
		{both, Command{Words: []string{"time", "tail"}}, Deny},
		{rules, Command{Words: []string{"if", "git"}}, Unknown},
		{rules, Command{Words: []string{"tail", "", "$(rm x)", "*"}}, Allow},
		{both, Command{Words: []string{"tail", "a\x1bb"}}, Unknown},
		{both, Command{Words: []string{"tail", "x"}, Env: []string{"COLUMNS"}}, Unknown},
		{both, Command{Words: []string{"tail", "x"}, Env: []string{"LD_PRELOAD"}}, Deny},
		{rules, Command{Line: "git push && tail x"}, Allow},
		{rules, Command{Line: "git push && make"}, Unknown},
		{rules, Command{Line: "bash -c 'rm x'"}, Deny},
		{rules, Command{}, Unknown},
		{listed, Command{Line: "git status"}, Allow},
		{listed, Command{Line: "git status && git log"}, Unknown},
		{listed, Command{Line: "git status && rm x"}, Deny},
		{listed, Command{Words: []string{"bash", "-c", "git status"}}, Unknown},
		{files, Command{Line: "git status"}, Unknown},
	} {
		if got := c.j.Command(c.command); got.Outcome != c.want {
			t.Errorf("%+v: got %s (%s), want %s", c.command, got.Outcome, got.Reason, c.want)
		}
	}
	if got := rules.Command(Command{Line: "sudo rm -r x"}); !strings.Contains(got.Reason, "(not here)") || got.Asked != "rm -r x" {
		t.Errorf("the denial is %+v", got)
	}
	both.OnlyRefuses, listed.OnlyRefuses = true, true
	if got := both.Command(Command{Line: "git status"}); got.Outcome != Allow {
		t.Errorf("a rule of a person's does not permit: %+v", got)
	}
	if got := listed.Command(Command{Line: "git status"}); got.Outcome != Unknown {
		t.Errorf("a policy of no person's permits: %+v", got)
	}
}

// TestVariables: a variable that the tool has may be set for a command where no value of it chooses what runs. One of
// any value was permitted, so a call chose the directory that ls came from.
func TestVariables(t *testing.T) {
	ruled, listed := subject(t, nil, allow("tail")), subject(t, table())
	for _, j := range []*Judge{ruled, listed} {
		tool := *j.Files.View.Tool
		for _, name := range []string{"PATH", "HOME", "GOFLAGS", "LD_PRELOAD", "LANG", "LC_ALL"} {
			tool.Env = append(tool.Env, ir.EnvRule{Name: name, Read: true})
		}
		j.Files.View = ir.NewView(&tool, ir.Linux, ir.Facts{Bindings: j.Files.Roots, Base: []ir.FSRule{}, Located: true})
		for name, want := range map[string]Outcome{
			"PATH": Unknown, "HOME": Unknown, "GOFLAGS": Unknown, "LD_PRELOAD": Unknown, "LD_AUDIT": Deny,
			"LANG": Allow, "LC_ALL": Allow,
		} {
			if got := j.Command(Command{Words: []string{"tail", "x"}, Env: []string{name}}); got.Outcome != want {
				t.Errorf("%s: got %s (%s), want %s", name, got.Outcome, got.Reason, want)
			}
		}
	}
}

// TestOperations: where the ruleset has rules for a kind of operation it is asked, and the policy of
// the tool always.
func TestOperations(t *testing.T) {
	within := func(o ruleset.Outcome, dir string, kinds ...ruleset.Kind) *ruleset.Rule {
		return &ruleset.Rule{Outcome: o, Kinds: kinds, Matcher: ruleset.Within(dir)}
	}
	plain := subject(t, nil)
	ruled := subject(t, nil, allow("git"))
	root := ruled.Files.Dir
	ruled.Rules.Rules = append(ruled.Rules.Rules, within(ruleset.Deny, root+"/out", ruleset.Edit), within(ruleset.Allow, root, ruleset.Edit, ruleset.Search),
		&ruleset.Rule{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Think}},
		&ruleset.Rule{Outcome: ruleset.Allow, Kinds: []ruleset.Kind{ruleset.Fetch}, Matcher: ruleset.Hosts{"*.com"}})
	if err := os.Symlink("../out", filepath.Join(root, "src", "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		j     *Judge
		kind  ruleset.Kind
		paths []string
		url   string
		want  Outcome
	}{
		{plain, ruleset.Edit, []string{"out/x"}, "", Allow},
		{plain, ruleset.Edit, []string{"src/a"}, "", Deny},
		{plain, ruleset.Search, []string{"src"}, "", Unknown},
		{plain, ruleset.Search, []string{"secret"}, "", Deny},
		{plain, ruleset.Move, []string{"out/x", "out/y"}, "", Allow},
		{plain, ruleset.Think, nil, "", Unknown},
		{plain, ruleset.Fetch, nil, "https://example.com/x", Allow},
		{plain, ruleset.Fetch, nil, "file:///etc/shadow", Deny},
		// A blank makes the text no address of an argument, and the client would fetch it all the same.
		{plain, ruleset.Fetch, nil, "https://example.org/ x", Deny},
		{plain, ruleset.Fetch, nil, "memo://x", Unknown},
		{plain, ruleset.Fetch, nil, "", Unknown},
		{ruled, ruleset.Read, []string{"src/a"}, "", Allow},
		{ruled, ruleset.Read, []string{"secret/a"}, "", Deny},
		{ruled, ruleset.Read, nil, "", Unknown},
		{ruled, ruleset.Edit, []string{"out/x"}, "", Deny},
		{ruled, ruleset.Edit, []string{"src/link/x"}, "", Deny},
		{ruled, ruleset.Edit, []string{"src/a"}, "", Deny}, // by the policy
		{ruled, ruleset.Search, []string{"src"}, "", Allow},
		{ruled, ruleset.Search, []string{"secret"}, "", Deny},
		{ruled, ruleset.Search, []string{"/etc"}, "", Deny},
		{ruled, ruleset.Think, nil, "", Allow},
		{ruled, ruleset.SwitchMode, nil, "", Unknown},
		{ruled, ruleset.Fetch, nil, "https://example.com/x", Allow},
		{ruled, ruleset.Fetch, nil, "https://example.org/x", Deny},
	} {
		if got := c.j.Operation(c.kind, c.paths, c.url); got.Outcome != c.want {
			t.Errorf("%s %q %s: got %s (%s), want %s", c.kind, c.paths, c.url, got.Outcome, got.Reason, c.want)
		}
	}
}

// TestOwn: no rule permits a start of accessc by another policy.
func TestOwn(t *testing.T) {
	any := &ruleset.Rule{Outcome: ruleset.Allow, Matcher: ruleset.Prefix{
		{"accessc", "exec"}, {"accessc", "approve"}, {"accessc", "mcp"}, {"./accessc", "exec"}, {"bash", "-c"}, {"python3", "-c"}, {"wrap"}, {"sudo"}, {"env"}, {"git"}, {"make"}, {"accessc", "can"},
	}}
	j := subject(t, nil, any)
	for _, line := range []string{
		"accessc exec --accept net.host x", "accessc exec --accept=net.host x", "accessc -C /tmp exec x", "accessc -C/tmp exec x", "accessc -hC /tmp exec x",
		"accessc --config x exec t", "accessc exec --command -- rm x", "./accessc exec --set x=1 t", "ACCESSC exec --accept x", "/opt/accessc.exe exec --dir x t",
		"acc''essc exec --acc\"ep\"t x t", `a\ccessc exec --\accept x t`, "x=--accept; accessc exec $x y t", "a=accessc; $a exec --accept x t", `$(echo accessc) exec --accept x t; accessc`,
		"sudo -u me accessc exec --accept x t", "nice env -i accessc exec --accept x t", "wrap accessc exec --accept x t", "wrap -- 'accessc exec --accept x'",
		"bash -c 'accessc exec --accept x t'", "bash -c \"bash -c 'accessc exec --accept x t'\"", "find . -exec accessc exec --accept x {} +", "xargs accessc exec --accept x",
		"python3 -c 'import os; os.system(\"accessc exec --accept x\")'", `python3 -c 'run(["accessc", "exec", "--accept", "x"])'`, "if true; then accessc exec --accept x t; fi",
		"HOME=/x accessc exec t", "env XDG_CONFIG_HOME=/x accessc exec t", "cd src && accessc exec t", "(cd /tmp; accessc exec t)",
		"accessc learn t -- rm x", "nice accessc learn --apply t", "env accessc learn --until-green 3 t -- rm x", "timeout 9 accessc learn --from=default t -- rm x",
		"accessc exec --preset rust t", "accessc approve t", "accessc grants answer 1 run", "accessc mcp -- rm", "accessc hook uninstall x", "accessc exec t -- accessc exec --accept x t", "accessc exec {--accept,x} t", "accessc $x",
		"git log && accessc exec --accept x \\\n t",
	} {
		if got := j.Command(Command{Line: line}); got.Outcome != Deny || !strings.Contains(got.Reason, "accessc") {
			t.Errorf("%s: got %s (%s)", line, got.Outcome, got.Reason)
		}
	}
	for _, c := range []Command{
		{Words: []string{"accessc", "exec", "--accept", "x", "t"}}, {Words: []string{"accessc", "exec", "t"}, Env: []string{"HOME"}},
		{Words: []string{"accessc", "exec", "t"}, Dir: "src"}, {Words: []string{"bash", "-c", "accessc exec --accept x t"}},
	} {
		if got := j.Command(c); got.Outcome != Deny || !strings.Contains(got.Reason, "accessc") {
			t.Errorf("%+v: got %s (%s)", c, got.Outcome, got.Reason)
		}
	}
	for _, line := range []string{
		"accessc exec t", "accessc exec t -- --config x", "git -C accessc status", "git commit -m 'accessc without a policy'", "make -C ../accessc", "accessc can t read src/a",
	} {
		if got := j.Command(Command{Line: line}); got.Outcome == Deny {
			t.Errorf("%s: got %s (%s)", line, got.Outcome, got.Reason)
		}
	}
}
