//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStreamReloads: a process that answered for days by the policy of its first moment
// granted what had been taken back.
func TestStreamReloads(t *testing.T) {
	dir := t.TempDir()
	for _, k := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(k, t.TempDir())
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("accessc.toml", "extends = ['more/*.toml']\n[tools.t]\nsource = 'local'\naccess.fs = [{ path = '.', read = true }]\n")
	write("more/a.toml", "")
	ask, questions := io.Pipe()
	answers, out := io.Pipe()
	go func() {
		run([]string{"can", "-C", dir, "--stdin", "t"}, ask, out, io.Discard)
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	for i, step := range []struct{ name, text, want string }{
		{"", "", `"verdict":"allow"`},
		{"accessc.toml", "extends = ['more/*.toml']\n[tools.t]\nsource = 'local'\naccess.fs = [{ path = 'other', read = true }]\n", `"verdict":"deny"`},
		{"more/b.toml", "[tools.t]\naccess.fs = [{ path = 'src', read = true }]\n", `"verdict":"allow"`},
		{"more/b.toml", "[tools.", "has mistakes: accessc check shows them"},
		{"more/b.toml", "[tools.t]\naccess.fs = [{ path = 'src' }]\n", `"verdict":"deny"`},
		{".accessc/local.toml", "[tools.t]\naccess.fs = [{ path = 'src', read = true }]\n", `"verdict":"allow"`},
	} {
		if step.name != "" {
			write(step.name, step.text)
		}
		if _, err := io.WriteString(questions, `{"operation":"read","target":"src/a"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), step.want) {
			t.Errorf("step %d: found %s, expected %s", i, lines.Text(), step.want)
		}
	}
	questions.Close()
	if lines.Scan() {
		t.Errorf("found %s, expected the end", lines.Text())
	}
}
