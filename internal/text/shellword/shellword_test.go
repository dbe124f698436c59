package shellword_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/test/irtest"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "~": "'~'", "$HOME": "'$HOME'", "a\nb": `"a\nb"`, "=ls": "'=ls'",
	} {
		if got := shellword.Quote(word); got != want {
			t.Errorf("%q is written %s, not %s", word, got, want)
		}
	}
}

// TestRead: a shell reads a word back as it was.
func TestRead(t *testing.T) {
	irtest.Check(t, 10_000, 1, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\ $`~*?[]{}()<>|&;#!=%^é\u202e-/.")), 0, 12, -1).Draw(t, "word")
		text := shellword.Quote(word)
		got, err := shell.Fields("x "+text+" y", func(string) string { return "expanded" })
		if err != nil || !slices.Equal(got, []string{"x", word, "y"}) || strings.Contains(text, "\n") {
			t.Fatalf("%s is read as %q, %v", text, got, err)
		}
	})
}

// TestExact: a real shell reads a word back byte by byte, line breaks and all.
func TestExact(t *testing.T) {
	for word, want := range map[string]string{
		"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, `a\\b`: `'a'\\\\'b'`, "%x": "'%x'", "'": `\'`,
	} {
		if got := shellword.Exact(word); got != want {
			t.Errorf("%q is written %s, not %s", word, got, want)
		}
	}
	for _, name := range []string{"sh", "bash", "dash", "zsh", "fish", "busybox"} {
		args := []string{"-c"}
		if name == "busybox" {
			args = []string{"sh", "-c"}
		}
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("%s is not here", name)
			continue
		}
		irtest.Check(t, 500, 1, func(t *rapid.T) {
			word := rapid.StringOfN(rapid.RuneFrom([]rune("ab'\"\\ $`~*?[]{}()<>|&;#!=%^\n\r\t\x01é\u202e-/.")), 0, 20, -1).Draw(t, "word")
			got, err := exec.Command(name, append(args, "printf %s "+shellword.Exact(word))...).Output()
			if err != nil || string(got) != word {
				t.Fatalf("%s reads %s as %q, %v", name, shellword.Exact(word), got, err)
			}
		})
	}
}
