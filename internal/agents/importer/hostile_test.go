package importer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
)

// Files that no program writes end in an error, soon and without a result.
func TestHostileFiles(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"deep.json":    `{"filesystem": ` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + `, "network": {}}`,
		"nested.json":  `{"filesystem": {"denyRead": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}, "network": {}}`,
		"latin.json":   "{\"filesystem\": {}, \"network\": {\"x\": \"\xe9\"}}",
		"zero.json":    "{\"filesystem\": {}, \x00 \"network\": {}}",
		"control.json": `{"filesystem": {"denyRead": ["a\u0000b"], "allowWrite": [], "denyWrite": []}, "network": {}}`,
		"twice.json":   `{"filesystem": {"denyRead": ["a"], "denyRead": []}, "network": {}}`,
		"wrong.json":   `{"filesystem": [], "network": 7}`,
		"empty.json":   ``,
		"lists.rules":  `prefix_rule(pattern=` + strings.Repeat("[", 100_000) + `)`,
		"quote.rules":  `prefix_rule(pattern=["a`,
		"slash.rules":  `prefix_rule(pattern=["a\`,
		"three.rules":  `prefix_rule(pattern=["""a"""])`,
		"half.rules":   `prefix_rule(pattern=["a"]`,
		"plus.rules":   `prefix_rule(pattern=["a"] + ["b"])`,
		"comment.json": `{"chat.tools.terminal.autoApprove": {"x\n[tools.a.access]\n#": true}}`,
		"agent.json":   `{"permission": "allow", "default_agent": "b\n[tools.a.access]\n#", "agent": {"b\n[tools.a.access]\n#": {"permission": "deny"}}}`,
		"action.json":  `{"permission": {"bash\n[tools.a.access]\n#": "deny"}}`,
		"many.json":    `{"filesystem": {` + strings.Repeat(`"x":1,`, 50_000) + `"y":1}, "network": {}}`,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"loop.json": os.Symlink("loop.json", at("loop.json")), "dir.json": os.Mkdir(at("dir.json"), 0o755), "large.json": os.WriteFile(at("large.json"), nil, 0o600),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	const terabyte = 1 << 40 // more than fits into memory
	if err := os.Truncate(at("large.json"), terabyte); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Log(f.Name())
		res, err := Import(Request{Files: []string{at(f.Name())}, Tool: "agent", Ruleset: "agent", Patterns: Existing, Dir: w.dir, Home: w.home})
		if err == nil || res != nil && strings.Contains(res.Text, "access") {
			t.Errorf("%s: became %+v", f.Name(), res)
		}
	}
}

// An import of several files fails as a whole.
func TestOneOfSeveralFails(t *testing.T) {
	w := newWorld(t)
	good, bad := filepath.Join(w.in, "a.rules"), filepath.Join(w.in, "b.rules")
	if err := os.WriteFile(good, []byte(`prefix_rule(pattern=["ls"])`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(`prefix_rule(pattern=[])`), 0o600); err != nil {
		t.Fatal(err)
	}
	req := Request{Files: []string{good}, Tool: "agent", Ruleset: "agent", Patterns: Refuse, Dir: w.dir, Home: w.home}
	if _, err := Import(req); err != nil {
		t.Fatal(err)
	}
	if req.Files = append(req.Files, bad); len(req.Files) == 2 {
		if _, err := Import(req); err == nil || !strings.Contains(err.Error(), "b.rules:1:1: a rule without a pattern") {
			t.Errorf("got %v", err)
		}
	}
}

// A draft that is wider than the settings is found, for any mistake that widened it: the proof does not
// rest on the translation.
func TestProofFindsWider(t *testing.T) {
	w := newWorld(t)
	model := &foreign.SRT{
		Host: w.host(Refuse), AllowWrite: []foreign.Spelled{{Path: "."}}, DenyWrite: []foreign.Spelled{{Path: "src"}},
		DenyRead:       []foreign.Spelled{{Path: "secrets"}, {Path: "a/*/k"}, {Path: "~/x"}},
		AllowedDomains: []string{"a.test:443", "*.b.test"}, DeniedDomains: []string{"c.b.test"}, Hidden: []string{"TERM"},
	}
	const fs, net = "\n[[tools.agent.access.fs]]\n", "\n[[tools.agent.access.net]]\n"
	narrow := fs + "path = \"src/x\"\nread = true" + net + "host = \"a.test\"\nport = 443\nallow = true" + "\n[[tools.agent.access.env]]\nname = \"TERM\"\n"
	for wider, what := range map[string]string{
		"":                                  "",
		fs + `path = "."` + "\nread = true": "read",
		fs + `path = "."` + "\nnames = [\"k*\"]\nread = true":                                     "read",
		fs + `path = "src"` + "\nnames = [\"[a-c]?\"]\ndelete = true":                             "delete",
		fs + `path = "secrets"` + "\nread = true":                                                 "read",
		fs + `path = "a/b"` + "\nread = true":                                                     "read",
		fs + `path = "src"` + "\nupdate = true":                                                   "update",
		fs + `path = ".bashrc"` + "\ncreate = true":                                               "create",
		fs + `path = ".git/hooks/post-merge"` + "\nwrite = true":                                  "create",
		fs + `path = "~/x/y"` + "\nexternal = true\nexecute = true\nread = true":                  "read",
		net + `host = "a.test"` + "\nallow = true":                                                "connect",
		net + `host = "*.b.test"` + "\nallow = true":                                              "connect",
		net + `host = "b.test"` + "\nallow = true":                                                "connect",
		net + `host = "a.test"` + "\nscheme = \"tcp\"\nport = 22\nallow = true":                   "connect",
		"\n[[tools.agent.access.env]]\nname = \"TERM\"\nread = true":                              "forward",
		"\n[[rulesets.agent.rules]]\noutcome = \"allow\"\noperation = \"fetch\"\nhosts = [\"*\"]": "fetch",
	} {
		tr := &translation{req: &Request{}, host: w.host(Refuse), draft: draft{tool: "agent", ruleset: "agent", confines: true}}
		_, err := tr.prove("[tools.agent]\nsource = \"local\"\n"+narrow+wider, model)
		if got := fmt.Sprint(err); (err != nil) != (what != "") || what != "" && !strings.Contains(got, "permit to "+what) && !strings.Contains(got, "allow to "+what) && !strings.Contains(got, "would "+what) {
			t.Errorf("%s\ngot %v, expected %q", wider, err, what)
		}
	}
}

// A name that is a symlink stands for its target: a rule on it is about that place, as soon as the
// configuration is compiled in the workspace.
func TestNameIsSymlink(t *testing.T) {
	w := newWorld(t)
	res, err := w.run("settings.json", `{"permissions": {"allow": ["Edit"], "deny": ["Read(link)"], "ask": ["Read(.env)"]}}`, Existing)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Text, "path = \"a\"\n\n") || strings.Contains(res.Text, "path = \"link\"") {
		t.Errorf("a is not denied:\n%s", res.Text)
	}
}

// A draft that lets files move, or lets a tool listen, where the settings do not, is found as well.
func TestProofFindsWiderInDetail(t *testing.T) {
	w := newWorld(t)
	all := slices.DeleteFunc(slices.Clone(landlockRights), func(r string) bool { return r == "refer" })
	model := &foreign.LandlockConfig{
		Host: w.host(Refuse), IsDir: isDir, ABI: 6, HandledFS: []string{"abi.all"}, HandledNet: []string{"abi.all"},
		Paths: []foreign.LandlockPaths{
			{Access: []string{"abi.all"}, Parents: []string{"src", "a"}}, {Access: all, Parents: []string{"x y"}},
			{Access: slices.DeleteFunc(slices.Clone(all), func(r string) bool { return strings.HasPrefix(r, "make_") }), Parents: []string{"Docs"}},
		},
		Ports: []foreign.LandlockPorts{{Access: []string{"bind_tcp"}, Ports: []uint16{8080}}, {Access: []string{"abi.all"}, Ports: []uint16{9090}}},
	}
	const fs, net = "\n[[tools.agent.access.fs]]\n", "\n[[tools.agent.access.net]]\n"
	narrow := fs + "path = \"src\"\nread = true\nwrite = true" + net + "listen = true\nhost = \"*\"\nport = 9090\nallow = true"
	for wider, what := range map[string]string{
		"": "",
		fs + `path = "a"` + "\nread = true\nwrite = true":                      "",
		fs + `path = "Docs"` + "\nread = true\nupdate = true":                  "link a file from",
		fs + `path = "Docs"` + "\nupdate = true":                               "",
		fs + `path = "Docs"` + "\ndelete = true":                               "delete",
		fs + `path = "a/.env/x"` + "\nread = true\nwrite = true":               "",
		net + "listen = true\nhost = \"localhost\"\nport = 8081\nallow = true": "listen",
		net + "listen = true\nhost = \"localhost\"\nport = 8080\nallow = true": "where the tool itself listens",
		net + "listen = true\nallow = true":                                    "listen",
		net + "host = \"10.0.0.1\"\nscheme = \"tcp\"\nport = 22\nallow = true": "connect",
	} {
		tr := &translation{req: &Request{}, host: w.host(Refuse), draft: draft{tool: "agent", ruleset: "agent", confines: true}}
		_, err := tr.prove("[tools.agent]\nsource = \"local\"\naccess.base = \"none\"\n"+narrow+wider, model)
		if got := fmt.Sprint(err); (err != nil) != (what != "") || what != "" && !strings.Contains(got, what) {
			t.Errorf("%s\ngot %v, expected %q", wider, err, what)
		}
	}
}

// A draft that lets processes start a program is found, where the settings do not.
func TestProofFindsStarts(t *testing.T) {
	w := newWorld(t)
	const table = "\n[tools.agent.access.commands]\n"
	for wider, model := range map[string]*foreign.Fence{
		"":                       {Denied: []string{"python3"}},
		table + "python3 = {}\n": {Denied: []string{"python3"}},
		table + "unshare = {}\n": {Defaults: true},
		table + "git = {}\n":     {Denied: []string{"git push"}, Argv: true},
	} {
		model.Host = w.host(Refuse)
		for _, narrow := range []bool{false, true} {
			tr := &translation{req: &Request{}, host: w.host(Refuse), draft: draft{tool: "agent", ruleset: "agent", confines: true}}
			text := "[tools.agent]\nsource = \"local\"\n\n[[tools.agent.access.fs]]\npath = \".\"\nread = true\n"
			if narrow {
				text += table + "ls = {}\n"
			} else {
				text += wider
			}
			if _, err := tr.prove(text, model); (err == nil) != narrow || !narrow && !strings.Contains(err.Error(), "permit to start") {
				t.Errorf("%s\ngot %v", text, err)
			}
		}
	}
}

// Claude Code compares names without their case, and no rules can be about two spellings: an existing file in
// another case is no hole in the result.
func TestNamesInAnotherCase(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(w.dir+"/Docs/DOCS", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"permissions": {"deny": ["Read(/docs/**)"]}}`:                                         "it denies Docs as well as docs",
		`{"permissions": {"ask": ["Edit(/SRC/a)"], "allow": ["Edit"]}}`:                         "it denies src/a as well as SRC/a",
		`{"permissions": {"deny": ["Read(**/DOCS/x)"]}}`:                                        "",
		`{"permissions": {"deny": ["Edit(~/X)"], "allow": ["Edit(~/x/**)"]}}`:                   "",
		`{"permissions": {"deny": ["Read(docs/*)"], "defaultMode": "acceptEdits"}}`:             "",
		`{"permissions": {"deny": ["Read(.ENV)"], "allow": ["Edit(/a/**)"]}}`:                   "",
		`{"permissions": {"deny": ["Read(/Docs/**)"]}, "sandbox": {"filesystem": {}}}`:          "",
		`{"permissions": {"allow": ["Edit(/docs/**)"], "deny": ["Edit(src/B/k.pem)"]}}`:         "it denies src/b/K.PEM as well as src/B/k.pem",
		`{"permissions": {"deny": ["Read(/none/**)"], "additionalDirectories": ["~/x"]}}`:       "",
		`{"permissions": {"deny": ["Read(//` + strings.ToUpper(w.dir[1:]) + `/src/**)"]}}`:      "",
		`{"permissions": {"deny": ["Read(//` + w.dir[1:] + `/SRC)"], "allow": ["Edit(/a/b)"]}}`: "it denies src as well as SRC",
	} {
		res, err := w.run("settings.json", text, Existing)
		switch {
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)), want == "" && err != nil:
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		case err == nil && strings.Contains(text, "DOCS/x") && !strings.Contains(res.Text, "path = \"Docs/x\"\n"),
			strings.Contains(text, ".ENV") && !strings.Contains(res.Text, `names = [".ENV", ".env"]`):
			t.Errorf("%s\nits name in another case is not denied:\n%s", text, res.Text)
		}
	}
}

// FuzzRead reads any text as settings of each format: it becomes a draft or mistakes, and every entry has
// its fate.
func FuzzRead(f *testing.F) {
	f.Add(`{"filesystem": {"denyRead": ["~/.ssh", "**/.env"], "allowWrite": ["."], "denyWrite": []}, "network": {"allowedDomains": ["a.test:1"], "deniedDomains": ["*"]}}`)
	f.Add(`{"permissions": {"allow": ["Bash(git *)", "Edit(/src/**)", "WebFetch(domain:x.y)"], "ask": ["Bash(git push *)"], "deny": ["Read(./.env)"]}}`)
	f.Add(`{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}}}}`)
	f.Add(`{"permission": {"*": "ask", "read": {"*.env": "deny", "~/x/*": "allow"}, "edit": {"src/**": "allow"}, "bash": {"git *": "allow"}}, "agent": {"build": {"permission": "deny"}}}`)
	f.Add("[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git\", \"npm run\"]\ndecision = \"allow\"\npriority = 7\n[[rule]]\ntoolName = \"*\"\ncommandRegex = \"a(b|c)\"\ndecision = \"deny\"\npriority = 9")
	f.Add(`{"tools": {"core": ["run_shell_command(git)"], "allowed": ["ShellTool(ls -l)"], "exclude": ["run_shell_command(rm)"]}}`)
	f.Add(`{"chat.tools.terminal.autoApprove": {"git": true, "/^npm (run|test)\\b/": {"approve": true}, "rm": false}, "chat.tools.terminal.ignoreDefaultAutoApproveRules": true}`)
	f.Add(`{"type": "workspace_readwrite", "additionalReadwritePaths": ["/home/zz/x", "~/y"], "additionalReadonlyPaths": ["src"], "networkPolicy": {"default": "deny", "allow": ["*.a.test", "10.0.0.1"], "deny": ["b.a.test"]}}`)
	f.Add("prefix_rule(pattern=[\"git\", ['a', \"b\"]], decision=\"prompt\") # x")
	f.Add(`{"filesystem": {"denyRead": ["{a}/\\", "**/.env"], "allowWrite": ["{"], "strictDenyRead": true}, "command": {"deny": ["dd if=", "x"], "runtimeExecPolicy": "argv"}}`)
	f.Add(`{"workdir": {"access": "read"}, "filesystem": {"allow": ["$HOME", {"path": "~"}], "deny": ["$WORKDIR/a"]}, "environment": {"allow_vars": ["A*"]}, "groups": {"include": ["x"]}}`)
	f.Add(`{"image": "x", "mounts": ["type=bind,source=${localWorkspaceFolder}/a,target=/b,ro", {"type": "volume", "target": "/c"}], "containerEnv": {"A": "${localEnv:A}"}, "runArgs": ["--net", "none"]}`)
	f.Add(`{"abi": 6, "variable": [{"name": "v", "literal": ["a"]}], "pathBeneath": [{"allowedAccess": ["abi.all"], "parent": ["${v}", "$$", "/usr"]}], "netPort": [{"allowedAccess": ["bind_tcp"], "port": [80]}]}`)
	f.Add("abi = 1\n[[ruleset]]\nscoped = [\"signal\"]\n[[path_beneath]]\nallowed_access = [\"execute\"]\nparent = [\"${v\", \"..\"]\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxSize {
			return
		}
		for _, format := range formats() {
			d := &document{name: "x", path: dir + "/x", text: []byte(text), version: format.name}
			if !format.text && d.json() != nil {
				continue
			}
			tr := &translation{
				req: &Request{Patterns: Existing}, draft: draft{tool: "agent", ruleset: "agent"},
				host: foreign.Host{Dir: dir, Home: "/home/zz", Existing: true, Follow: func(p string) string { return p }, Exists: func(string) bool { return false }},
			}
			format.read(tr, []*document{d})
			if d.err() != nil || len(tr.faults) > 0 {
				continue
			}
			for _, e := range tr.entries {
				if e.Fate == 0 {
					t.Errorf("nothing became of %s %q", e.Key, e.Text)
				}
			}
		}
	})
}
