package fence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
	"github.com/accessc/accessc/ir"
)

// drawSettings draws settings of fence, as text and as they are.
func drawSettings(w *suite.World, r *rand.Rand, p importer.Patterns) (string, *Model) {
	paths := func(n int) []string {
		return suite.Some(r, n, func() string {
			switch r.IntN(6) {
			case 0:
				return suite.SomeNames(r)
			case 1:
				return suite.Pick(r, "~/x/.bashrc", "a/.vscode", "~/.profile", "/usr", "/etc", "/lib")
			}
			return suite.SomePlace(r)
		})
	}
	hosts := func() string {
		return suite.Pick(r, "a.test", "b.a.test", "*.a.test", "*.b.a.test", "c.test", "10.0.0.1", "localhost")
	}
	fs := map[string]any{"denyRead": paths(2), "allowRead": append(paths(2), suite.Pick(r, "{a,b}", "src")), "allowWrite": paths(3), "denyWrite": paths(2), "allowGitConfig": r.IntN(2) == 0}
	network := map[string]any{"allowedDomains": suite.Some(r, 3, hosts), "deniedDomains": suite.Some(r, 2, func() string { return suite.Pick(r, hosts(), hosts(), "*") })}
	command := map[string]any{"deny": suite.Some(r, 3, func() string {
		return suite.Pick(r, "git push", "python3", "dd if=", "rm -rf /", "docker run --privileged", "'a b'", "npm", "/usr/bin/gh")
	}), "allow": suite.Some(r, 1, func() string { return "git push origin docs" }), "useDefaults": r.IntN(2) == 0}
	f := &Model{Host: w.Host(p), Defaults: command["useDefaults"].(bool)}
	if f.DefaultDeny = r.IntN(3) == 0; f.DefaultDeny {
		fs["defaultDenyRead"] = true
	}
	if f.Strict = r.IntN(4) == 0; f.Strict {
		fs["strictDenyRead"] = true
	}
	if r.IntN(3) == 0 {
		f.Unenforced = []string{"npm"}
		command["acceptSharedBinaryCannotRuntimeDeny"] = f.Unenforced
	}
	if f.Argv = r.IntN(4) == 0; f.Argv {
		command["runtimeExecPolicy"] = "argv"
	}
	spelled := func(key string) []foreign.Spelled {
		var out []foreign.Spelled
		for _, s := range fs[key].([]string) {
			out = append(out, foreign.Spelled{Path: s})
		}
		return out
	}
	f.DenyRead, f.AllowRead, f.AllowWrite, f.DenyWrite = spelled("denyRead"), spelled("allowRead"), spelled("allowWrite"), spelled("denyWrite")
	f.AllowedDomains, f.DeniedDomains, f.Denied = network["allowedDomains"].([]string), network["deniedDomains"].([]string), command["deny"].([]string)
	text, _ := json.Marshal(map[string]any{"filesystem": fs, "network": network, "command": command})
	return string(text), f
}

// For any settings of fence, the result permits nothing that they do not.
func TestFenceNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	var starts atomic.Int64
	suite.Drawn(t, 1_000, func(r *rand.Rand) error {
		patterns := suite.Pick(r, importer.Existing, importer.Close)
		text, model := drawSettings(w, r, patterns)
		res, err := w.Run("fence.json", text, patterns)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if err := w.Agrees(r, res, text, model); err != nil {
			return err
		}
		if _, err := suite.LinesAgree(r, w.Home, res.Text, text, model); err != nil {
			return err
		}
		c, err := importer.Compiled(res.Text, w.Home)
		if err != nil {
			return err
		}
		view := ir.NewView(c.Program.Tools[0], ir.Linux, ir.Facts{})
		for _, name := range []string{"git", "python3", "npm", "gh", "unshare", "rm", "zz"} {
			file := ir.Direct(ir.Sys("usr/bin/" + name))
			if !view.Decide(ir.Run{Program: name, File: &file}).Allowed() {
				continue
			}
			if starts.Add(1); !model.Starts(name) {
				return fmt.Errorf("%s\n%s\npermits to start %s", text, res.Text, name)
			}
		}
		return nil
	})
	if starts.Load() == 0 {
		t.Error("no program may start")
	}
}

// Settings of which a part is not here, or is not understood, are refused with a place.
func TestFenceMistakes(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for text, want := range map[string]string{
		`{"extends": "code", "filesystem": {}}`:                                `:1:2: extends adds settings that are not here: import what "fence config show" prints`,
		`{"filesystem": {"denyread": ["a"]}}`:                                  `"denyread" is no key of filesystem in fence 0.1.66; did you mean "denyRead"`,
		`{"filesystem": {"denyRead": ["{a,b}/c"]}}`:                            "braces and backslashes",
		`{"filesystem": {"denyWrite": ["a\\*"]}}`:                              "braces and backslashes",
		`{"command": {"deny": [" "]}, "network": {}}`:                          "an element of command.deny is no command",
		`{"command": {"deny": [], "runtimeExecPolicy": "x"}, "network": {}}`:   "expected path or argv",
		`{"command": {"deny": []}, "network": {"deniedDomains": ["a.test/"]}}`: "network.deniedDomains[0]",
		`{"command": {"deny": [], "useDefaults": null}, "network": {}}`:        "neither true nor false",
	} {
		file := filepath.Join(w.In, "fence.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := w.Imports(importer.Request{Files: []string{file}, Patterns: importer.Existing})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, expected %q", text, err, want)
		}
	}
}
