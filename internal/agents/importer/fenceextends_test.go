package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFenceExtends: a file over another one becomes what both in one file become: lists are joined, a switch is on that
// one turns on, and of other values that of the file above counts.
func TestFenceExtends(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	drawn(t, 200, func(r *rand.Rand) error {
		texts := func(words ...string) []any {
			list := []any{}
			for _, word := range some(r, 2, func() string { return pick(r, words...) }) {
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
				command["runtimeExecPolicy"] = pick(r, "argv", "path")
			}
			out["command"] = command
			return out
		}
		under, over := draw(), draw()
		joined, err := w.imported(filepath.Join(dir, "joined"), joinFence(under, over))
		if err != nil {
			return err
		}
		if _, err := w.imported(filepath.Join(dir, "base"), under); err != nil {
			return err
		}
		over["extends"] = pick(r, "./", dir+"/") + "base/fence.json"
		if strings.HasPrefix(over["extends"].(string), "./") {
			over["extends"] = "../base/fence.json"
		}
		got, err := w.imported(filepath.Join(dir, "over"), over)
		if err != nil || got != joined {
			return fmt.Errorf("%v over %v became\n%s\nnot\n%s: %w", over, under, got, joined, err)
		}
		return nil
	})
}

// joinFence joins two files of settings as fence does.
func joinFence(under, over map[string]any) map[string]any {
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
func (w *world) imported(dir string, settings map[string]any) (string, error) {
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
	res, err := Import(Request{
		Files: []string{file}, Tool: "agent", Ruleset: "agent", Patterns: Existing, Denies: AskDenies,
		Dir: w.dir, Home: w.home,
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", text, err)
	}
	return comment.ReplaceAllString(res.Text, ""), nil
}

// TestFenceExtendsMistakes: a file that is not there, one that has a mistake, and files that extend each other.
func TestFenceExtendsMistakes(t *testing.T) {
	w := newWorld(t)
	beside := map[string]string{
		"bad": `{"filesystem": {"denyread": []}}`, "one": `{"extends": "../two/fence.json"}`,
		"two": `{"extends": "../one/fence.json"}`,
	}
	for dir, text := range beside {
		if err := os.MkdirAll(filepath.Join(w.in, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.in, dir, "fence.json"), []byte(text), 0o600); err != nil {
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
		if _, err := w.imported(filepath.Join(w.in, name), settings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
