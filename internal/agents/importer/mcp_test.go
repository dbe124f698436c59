package importer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/agents/suite"
)

// The settings of Gemini CLI are those by their name, also with servers alone, and a server elsewhere is left out with
// each key that such servers have.
func TestServersElsewhere(t *testing.T) {
	w := suite.NewWorld(t, registry.Formats()...)
	for _, key := range []string{"headers", "headersHelper", "httpUrl"} {
		text := `{"mcpServers": {"a": {"command": "a"}, "b": {"url": "https://b.test", "` + key + `": "x"}}}`
		res, err := w.Refusing("mcp", text, importer.RefuseDenies)
		if err != nil || len(res.Entries) != 2 || res.Entries[1].Fate != importer.LeftOut {
			t.Errorf("%s: %+v, %v", key, res, err)
		}
	}
	file := filepath.Join(w.Home, ".gemini", "settings.json")
	text := []byte(`{"mcpServers": {"a": {"command": "a", "trust": true}}}`)
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	res, err := w.Imports(importer.Request{Files: []string{file}})
	if err != nil || !strings.HasPrefix(res.Format, "gemini-settings ") {
		t.Errorf("got %+v, %v", res, err)
	}
}
