package fence

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// TestFenceExtends: a file over another one becomes what both in one file become: lists are joined, a switch is on that
// one turns on, and of other values that of the file above counts.
func TestFenceExtends(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	dir := t.TempDir()
	suite.Drawn(t, 200, func(r *rand.Rand) error {
		texts := func(words ...string) []any {
			list := []any{}
			for _, word := range suite.Some(r, 2, func() string { return suite.Pick(r, words...) }) {
				list = append(list, word)
			}
			return list
		}
		draw := func() map[string]any {
			out := map[string]any{
				"filesystem": map[string]any{
					"denyRead": texts("a", "src", "~/x"), "allowRead": texts("a/b", "src"), "denyWrite": texts("Docs", "a"),
					"allowWrite": texts("a", "src", "."), "defaultDenyRead": r.IntN(3) == 0, "strictDenyRead": r.IntN(4) == 0,
				},
				"network": map[string]any{
					"allowedDomains": texts("a.test", "*.b.test"), "deniedDomains": texts("a.test", "c.b.test"),
				},
			}
			command := map[string]any{"deny": texts("git push", "rm", "npm publish")}
			if r.IntN(2) == 0 {
				command["useDefaults"] = r.IntN(2) == 0
			}
			if r.IntN(2) == 0 {
				command["runtimeExecPolicy"] = suite.Pick(r, "argv", "path")
			}
			out["command"] = command
			return out
		}
		under, over := draw(), draw()
		joined, err := imported(w, filepath.Join(dir, "joined"), join(under, over))
		if err != nil {
			return err
		}
		if _, err := imported(w, filepath.Join(dir, "base"), under); err != nil {
			return err
		}
		over["extends"] = suite.Pick(r, "./", dir+"/") + "base/fence.json"
		if strings.HasPrefix(over["extends"].(string), "./") {
			over["extends"] = "../base/fence.json"
		}
		got, err := imported(w, filepath.Join(dir, "over"), over)
		if err != nil || got != joined {
			return fmt.Errorf("%v over %v became\n%s\nnot\n%s: %w", over, under, got, joined, err)
		}
		return nil
	})
}

// join joins two files of settings as fence does.
func join(under, over map[string]any) map[string]any {
	out := map[string]any{}
	for part, table := range over {
		to := map[string]any{}
		for key, value := range under[part].(map[string]any) {
			to[key] = value
		}
		for key, value := range table.(map[string]any) {
			switch had := to[key].(type) {
			case []any:
				to[key] = append(append([]any{}, had...), value.([]any)...)
			case bool:
				to[key] = value.(bool) || had && key != "useDefaults"
			default:
				to[key] = value
			}
		}
		out[part] = to
	}
	return out
}

var comment = regexp.MustCompile(` *#.*`)

// imported is the configuration that settings become, without its comments.
func imported(w *suite.World, dir string, settings map[string]any) (string, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "fence.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	res, err := w.Imports(importer.Request{Files: []string{file}, Patterns: importer.Existing, Denies: importer.AskDenies})
	if err != nil {
		return "", fmt.Errorf("%s: %w", text, err)
	}
	return comment.ReplaceAllString(res.Text, ""), nil
}

// TestFenceExtendsMistakes: a file that is not there, one that has a mistake, and files that extend each other.
func TestFenceExtendsMistakes(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	beside := map[string]string{
		"bad": `{"filesystem": {"denyread": []}}`, "one": `{"extends": "../two/fence.json"}`,
		"two": `{"extends": "../one/fence.json"}`,
	}
	for dir, text := range beside {
		if err := os.MkdirAll(filepath.Join(w.In, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.In, dir, "fence.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"missing": {`{"extends": "./no.json", "command": {"deny": []}}`, "no.json: no such file"},
		"wrong":   {`{"extends": "../bad/fence.json", "command": {"deny": []}}`, `bad/fence.json:1:`},
		"bad":     {`{"filesystem": {"denyread": []}}`, `"denyread" is no key`},
		"itself":  {`{"extends": "./fence.json"}`, "extend each other without an end"},
		"one":     {`{"extends": "../two/fence.json"}`, "extend each other without an end"},
		"two":     {`{"extends": "../one/fence.json"}`, "extend each other without an end"},
		"part":    {`{"extends": "@base"}`, "fence config show"},
	} {
		settings := map[string]any{}
		if err := json.Unmarshal([]byte(c.text), &settings); err != nil {
			t.Fatal(err)
		}
		if _, err := imported(w, filepath.Join(w.In, name), settings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
