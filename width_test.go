package accessc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Bounds on wide lines of the product. Their number only falls: who makes a line wider than that has to wrap another.
const (
	maxColumns = 120 // a tab counts four
	wideLines  = 572
)

// TestWidth counts the lines of the product that are wider than a window.
func TestWidth(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	wide := 0
	for _, file := range goFiles(t) {
		at, _ := filepath.Rel(root, file)
		switch top, _, _ := strings.Cut(filepath.ToSlash(at), "/"); {
		case strings.HasSuffix(at, "_test.go"), top == "test", top == "golden", top == "examples", top == "tools":
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(code)) {
			if utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")) > maxColumns {
				wide++
			}
		}
	}
	if wide > wideLines {
		t.Errorf("%d lines are wider than %d columns, %d are known", wide, maxColumns, wideLines)
	}
	t.Logf("%d wide lines", wide)
}
