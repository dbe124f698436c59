package wholefile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestLeftovers: a writer that was killed left its temporary file beside a client's settings for ever.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for name, at := range map[string]time.Time{
		"a.json": old, ".a.json.accessc-1": old, ".a.json.accessc-2": time.Now(), ".a.json.1": old, ".b.json.accessc-1": old,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(filepath.Join(dir, "a.json"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".a.json.1", ".a.json.accessc-2", ".b.json.accessc-1", "a.json"}; !slices.Equal(names, want) {
		t.Errorf("the directory has %q, want %q", names, want)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.json")); string(data) != "new" || err != nil {
		t.Errorf("the file has %q, %v", data, err)
	}
}
