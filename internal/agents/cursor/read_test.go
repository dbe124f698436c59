package cursor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// drawSettings draws a sandbox.json.
func drawSettings(r *rand.Rand, home string) string {
	paths := func() string {
		return suite.Pick(r, home+"/x", home+"/x/y", home+"/ws/src", home+"/ws/a/b", home+"/ws/link", "/opt/z", "~/x", "a", "./src", home+"/x/", home+"/x/../x", home, "a/b/k.pem", home+"/ws/x y")
	}
	hosts := func() string {
		return suite.Pick(r, "a.test", "*.a.test", "b.a.test", "c.test", "*", "10.0.0.1", "localhost", "a.test:22", "*.b.a.test")
	}
	doc := map[string]any{
		"additionalReadwritePaths": suite.Some(r, 3, paths), "additionalReadonlyPaths": suite.Some(r, 2, paths),
		"networkPolicy": map[string]any{
			"default": suite.Pick(r, "deny", "deny", "allow"), "allow": suite.Some(r, 4, hosts),
			"deny": suite.Some(r, 2, func() string { return suite.Pick(r, "a.test", "*.a.test", "b.a.test", "q.test", "10.0.0.1", "*") }),
		},
	}
	if r.IntN(3) > 0 {
		doc["type"] = suite.Pick(r, "workspace_readwrite", "workspace_readwrite", "workspace_readonly", "insecure_none")
	}
	if r.IntN(3) == 0 {
		doc["readBoundary"] = suite.Pick(r, "system", "workspace")
	}
	text, _ := json.Marshal(doc)
	return string(text)
}

// For any sandbox.json of Cursor, the result permits nothing that it does not.
func TestCursorNothingWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, f := range []string{"/x/.git", "/ws/src/.cursor", "/x/y/z.key"} {
		if err := os.MkdirAll(w.Home+f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var runs, written atomic.Int64
	suite.Drawn(t, 500, func(r *rand.Rand) error {
		runs.Add(1)
		text := drawSettings(r, w.Home)
		res, err := w.Run("sandbox.json", text, importer.Refuse)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		if strings.Contains(res.Text, "write = true") {
			written.Add(1)
		}
		return w.Agrees(r, res, text, res.Policy)
	})
	if runs.Load() > suite.Several && written.Load()*2 < runs.Load() {
		t.Errorf("%d of %d results write", written.Load(), runs.Load())
	}
}

// A file that closes places to Cursor stops the import.
func TestCursorIgnore(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for _, file := range []string{w.Dir + "/src/.cursorignore", w.Home + "/.cursorignore"} {
		if err := os.WriteFile(file, []byte("k.pem\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Run("sandbox.json", `{"networkPolicy": {}}`, importer.Refuse); err == nil || !strings.Contains(err.Error(), file+" closes files") {
			t.Errorf("got %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}
