package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// cursorSettings draws a sandbox.json.
func cursorSettings(r *rand.Rand, home string) string {
	paths := func() string {
		return pick(r, home+"/x", home+"/x/y", home+"/ws/src", home+"/ws/a/b", home+"/ws/link", "/opt/z", "~/x", "a", "./src", home+"/x/", home+"/x/../x", home, "a/b/k.pem", home+"/ws/x y")
	}
	hosts := func() string {
		return pick(r, "a.test", "*.a.test", "b.a.test", "c.test", "*", "10.0.0.1", "localhost", "a.test:22", "*.b.a.test")
	}
	doc := map[string]any{
		"additionalReadwritePaths": some(r, 3, paths), "additionalReadonlyPaths": some(r, 2, paths),
		"networkPolicy": map[string]any{
			"default": pick(r, "deny", "deny", "allow"), "allow": some(r, 4, hosts),
			"deny": some(r, 2, func() string { return pick(r, "a.test", "*.a.test", "b.a.test", "q.test", "10.0.0.1", "*") }),
		},
	}
	if r.IntN(3) > 0 {
		doc["type"] = pick(r, "workspace_readwrite", "workspace_readwrite", "workspace_readonly", "insecure_none")
	}
	if r.IntN(3) == 0 {
		doc["readBoundary"] = pick(r, "system", "workspace")
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any sandbox.json of Cursor, the result permits nothing that it does not.
func TestCursorNothingWider(t *testing.T) {
	w := newWorld(t)
	for _, f := range []string{"/x/.git", "/ws/src/.cursor", "/x/y/z.key"} {
		if err := os.MkdirAll(w.home+f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var runs, written atomic.Int64
	drawn(t, 500, func(r *rand.Rand) error {
		runs.Add(1)
		text := cursorSettings(r, w.home)
		d := &document{name: "sandbox.json", path: w.dir + "/.cursor/sandbox.json", text: []byte(text)}
		if err := d.json(); err != nil {
			return err
		}
		policy := readCursor(&translation{req: &Request{}, host: w.host(Refuse), draft: draft{tool: "agent", ruleset: "agent"}}, []*document{d})
		res, err := w.run("sandbox.json", text, Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if strings.Contains(res.Text, "write = true") {
			written.Add(1)
		}
		return w.agrees(r, res, text, policy)
	})
	if runs.Load() > several && written.Load()*2 < runs.Load() {
		t.Errorf("%d of %d results write", written.Load(), runs.Load())
	}
}

// A file that closes places to Cursor stops the import.
func TestCursorIgnore(t *testing.T) {
	w := newWorld(t)
	for _, file := range []string{w.dir + "/src/.cursorignore", w.home + "/.cursorignore"} {
		if err := os.WriteFile(file, []byte("k.pem\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.run("sandbox.json", `{"networkPolicy": {}}`, Refuse); err == nil || !strings.Contains(err.Error(), file+" closes files") {
			t.Errorf("got %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
