package start

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOverwritten: a note is written in the place of one of the same length and words alone, and
// never through a link.
func TestOverwritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.json")
	const was, next = `{"begun":"2026-01-02"}`, `{"begun":"2031-10-20"}`
	for name, c := range map[string]struct {
		make func() error
		want bool
	}{
		"none":        {func() error { return nil }, false},
		"a note":      {func() error { return os.WriteFile(file, []byte(was), 0o600) }, true},
		"refusals":    {func() error { return os.WriteFile(file, []byte(`{"total":"2026-01-02"}`), 0o600) }, false},
		"a longer":    {func() error { return os.WriteFile(file, []byte(was+" "), 0o600) }, false},
		"a shorter":   {func() error { return os.WriteFile(file, []byte(was[1:]), 0o600) }, false},
		"for others":  {func() error { return os.WriteFile(file, []byte(was), 0o644) }, false},
		"a symlink":   {func() error { return linked(dir, was, func(to string) error { return os.Symlink(to, file) }) }, false},
		"a hard link": {func() error { return linked(dir, was, func(to string) error { return os.Link(to, file) }) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.make(); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(file)
			if got := overwritten(file, []byte(next)); got != c.want {
				t.Fatalf("got %v", got)
			}
			after, _ := os.ReadFile(file)
			if want := map[bool]string{true: next, false: string(before)}[c.want]; string(after) != want {
				t.Errorf("the file has %q", after)
			}
			_ = os.Remove(file)
		})
	}
}

// linked writes another file and makes a link to it.
func linked(dir, text string, link func(to string) error) error {
	to := filepath.Join(dir, "other")
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		return err
	}
	return link(to)
}
