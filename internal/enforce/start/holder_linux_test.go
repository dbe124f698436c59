package start

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ir"
)

// TestHolder: the tool whose supervisor has the place is named as its context says, and no tool where nothing says so. The
// variable and the file are the tool's to change, so nothing of them is waited for or shown as it is.
func TestHolder(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenFile(pipe, os.O_RDWR, 0) // a writer that says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const unknown = "nothing here says which"
	for path, want := range map[string]string{
		"": unknown, dir: unknown, pipe: unknown, filepath.Join(dir, "none"): unknown, "/dev/zero": unknown,
		file("text", "x"): unknown, file("nameless", `{"root":"/w"}`): unknown, file("large", strings.Repeat(" ", maxContext)+`{"tool":"t"}`): unknown,
		file("tool", `{"root":"/w","action":"run","tool":"outer"}`):       "by the accessc that started the tool outer in /w, or by something that it runs in",
		file("hostile", "{\"root\":\"/w\",\"tool\":\"\\u001b[2Jouter\"}"): `by the accessc that started the tool \x1b[2Jouter in /w`,
	} {
		t.Setenv(ir.ContextVariable, path)
		if got := holder(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
