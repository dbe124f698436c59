package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenLog: a log is a file by its own name, and one that is refused is neither made nor changed.
func TestOpenLog(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"symlink": func() error { return os.Symlink("file", path("symlink")) }, "dangling": func() error { return os.Symlink("none", path("dangling")) },
		"hard link": func() error { return os.Link(path("file"), path("hard link")) },
	} {
		if err := make(); err != nil {
			t.Skip(err)
		}
		want := "is a symlink to"
		if name == "hard link" {
			want = "has a further name"
		}
		if _, err := OpenLog(path(name), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := os.Lstat(path("none")); err == nil {
		t.Error("the end of a dangling symlink was made")
	}
	if text, _ := os.ReadFile(path("file")); string(text) != "text\n" {
		t.Errorf("got %q", text)
	}
	if err := os.Remove(path("hard link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "new", "new"} {
		log, err := OpenLog(path(name), "x")
		if err != nil || log.Add(Entry{Event: EventStart}) != nil || log.Close() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
