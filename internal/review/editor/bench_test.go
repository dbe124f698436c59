package editor_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkKeystroke: from a character that somebody types into one of 63 tools, each in a layer of its own, until the
// findings of the text are shown.
func BenchmarkKeystroke(b *testing.B) {
	files := map[string]string{"accessc.toml": "extends = [\".tools/*.toml\"]\n"}
	text := ""
	for i := range 63 {
		text = fmt.Sprintf("[tools.t%d]\nsource = \"local\"\ncommand = \"cargo test\"\n\n[tools.t%d.access]\nextends = [\"preset:rust\"]\n", i, i)
		for _, dir := range []string{".", "src", "target", "crates/a", "docs"} {
			text += fmt.Sprintf("\n[[tools.t%d.access.fs]]\npath = %q\nread = true\nwrite = %v\n", i, dir, dir == "target")
		}
		files[fmt.Sprintf(".tools/t%d.toml", i)] = text
	}
	dir := workspace(b, files)
	file := filepath.Join(dir, ".tools/t62.toml")
	c := start(b, false, dir)
	c.open(file, text)
	c.settled(file)
	version := 1
	for b.Loop() {
		version++
		c.note("textDocument/didChange", map[string]any{
			"textDocument": map[string]any{"uri": uri(file), "version": version},
			"contentChanges": []any{map[string]any{
				"range": extent{at{2, 11}, at{2, 11 + version%2}}, "text": strings.Repeat("x", 1-version%2),
			}},
		})
		for m := c.next(); c.published[uri(file)].Version != version; m = c.next() {
			if m.Error != nil {
				b.Fatal(m.Error)
			}
		}
	}
}
