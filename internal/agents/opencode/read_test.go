package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// drawSettings draws settings of opencode. Their members keep their order, which counts.
func drawSettings(r *rand.Rand, home string) string {
	action := func() string { return suite.Pick(r, `"allow"`, `"allow"`, `"ask"`, `"deny"`) }
	object := func(n int, key func() string) string {
		var out []string
		for _, k := range importer.Without(suite.Some(r, n, key)) {
			text, _ := json.Marshal(k)
			out = append(out, string(text)+": "+action())
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	file := func() string {
		return suite.Pick(r, "*", "**", "a/*", "a/b/**", "src/*", "src/**", "a/b/k.pem", "x y", "link/*", "*.env", "*.pem", "a/*.pem", "*/b/*", "**/.env", "s?c/*",
			".env", "src", "a*", "src/a *", "~/x/*", home+"/ws/a/*", "../x/*", "../x/y/*", "../x/y", "./a", "a/../src/*", "/**", "ws/a/*", strings.TrimPrefix(home, "/")+"/ws/src/*")
	}
	outside := func() string {
		return suite.Pick(r, "*", "~/x/*", "~/x/**", "~/x/y/*", "$HOME/x/*", "~/x", "/opt/z/*", "/*", "~/*", "~/zz/*", "x/*")
	}
	line := func() string {
		words := append([]string{suite.Pick(r, "git", "npm", "ls", "ls", "make", "rm", "cat")}, suite.Some(r, 1, func() string { return suite.Pick(r, "push", "log", "--force", "run", "-x", "/etc/x", "a") })...)
		return strings.Join(words, " ") + suite.Pick(r, "", " *", " *", " *", "*", " * x", " **", "?")
	}
	member := func() string {
		switch r.IntN(12) {
		case 0, 1:
			return suite.Pick(r, `"read"`, `"edit"`, `"bash"`, `"webfetch"`, `"external_directory"`, `"*"`, `"e*"`, `"lsp"`) + ": " + action()
		case 2, 3:
			return `"read": ` + object(5, file)
		case 4, 5:
			return `"edit": ` + object(5, file)
		case 6:
			return `"external_directory": ` + object(3, outside)
		case 7:
			return `"*": ` + object(2, file)
		}
		return `"bash": ` + object(6, func() string { return suite.Pick(r, "*", line(), line(), line()) })
	}
	permission := func() string {
		if r.IntN(10) == 0 {
			return action()
		}
		var out, seen []string
		for _, m := range suite.Some(r, 6, member) {
			key, _, _ := strings.Cut(m, ":")
			if len(importer.Without(append(seen, key))) > len(seen) {
				out, seen = append(out, m), append(seen, key)
			}
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	text := `{"permission": ` + permission()
	if r.IntN(4) == 0 {
		name := suite.Pick(r, "build", "plan", "other")
		text += fmt.Sprintf(`, "default_agent": %q, "agent": {"build": {"permission": %s}, %q: {"permission": %s, "steps": 3}}`, name, permission(), "x"+name, permission())
	}
	return text + "}"
}

// For any settings of opencode, in a repository and outside of one, the result permits nothing that they do not.
func TestOpencodeNothingWider(t *testing.T) {
	worlds := []*suite.World{suite.NewWorld(t, Agent.Formats...), suite.NewWorld(t, Agent.Formats...)}
	if err := os.Mkdir(worlds[0].Dir+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	var runs, allowed, refused, written atomic.Int64
	suite.Drawn(t, 500, func(r *rand.Rand) error {
		runs.Add(1)
		w := worlds[max(r.IntN(4), 2)-2]
		text, patterns := drawSettings(r, w.Home), suite.Pick(r, importer.Existing, importer.Close)
		res, err := w.Run("opencode.json", text, patterns)
		switch {
		case err != nil && strings.Contains(err.Error(), "nothing was written"):
			return fmt.Errorf("%s: %w", text, err)
		case err != nil:
			refused.Add(1)
			return nil
		}
		if strings.Contains(res.Text, "write = true") {
			written.Add(1)
		}
		if err := w.Agrees(r, res, text, res.Policy); err != nil {
			return err
		}
		n, err := suite.LinesAgree(r, w.Home, res.Text, text, res.Policy)
		allowed.Add(n)
		return err
	})
	if n := runs.Load(); n > suite.Several && (allowed.Load() == 0 || written.Load() < n/10 || refused.Load() > n/4) {
		t.Errorf("%d lines were allowed, %d of %d results write, %d were refused", allowed.Load(), written.Load(), n, refused.Load())
	}
}

// The evaluation answers as opencode 1.18.33 itself does ("opencode debug agent build --tool …").
func TestOpencodeAnswers(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, f := range []string{".git/HEAD", "src/a", "src/gen/a.go", "secrets/k", "../f"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(w.Dir+"/"+f), 0o755), os.WriteFile(w.Dir+"/"+f, nil, 0o644)); err != nil && f != "src/a" {
			t.Fatal(err)
		}
	}
	res, err := w.Run("opencode.json", `{"permission": {
		"external_directory": {"*": "deny", "~/x/*": "allow"},
		"read": {"*": "deny", "src*": "allow", "sr?/gen/*.go": "deny", "secrets": "allow", "*/x/.env": "allow"},
		"bash": {"*": "deny", "git status *": "allow", "ls*": "allow", "rm *": "allow", "echo a?b": "allow"}}}`, importer.Close)
	if err != nil {
		t.Fatal(err)
	}
	for file, read := range map[string]bool{
		"src/a/k.pem": true, "src/gen/a.go": false, "secrets/k": false, ".env": false, "../x/.env": true, "../x/y/k.pem": false, "../f": false,
	} {
		if res.Policy.Reads(path.Join(w.Dir, file)) != read {
			t.Errorf("%s: reading is %t", file, !read)
		}
	}
	for line, runs := range map[string]bool{
		"git status": true, "git status -s": true, "lsof": true, "rm nothing": true, "rm /zz": false, "echo a/b": true, "git log": false, "git statusx": false,
	} {
		if res.Policy.Runs(line) != runs {
			t.Errorf("%s: running is %t", line, !runs)
		}
	}
}
