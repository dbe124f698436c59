//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/test/irtest"
)

// hostile are parts of texts that a reader would not see, or take for the program's own.
var hostile = []string{
	"\x1b[36mFORGED", "\x1b[8m", "\x1b[2J", "\x1b]0;title\x07", "\u009b31m", "\r", "\x7f", "\x00", "\b\b\b",
	"\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\ufeff", "\u2028", "\u2029", "\u0085", "\U000e0041", "\ue000",
	"\n::error::FORGED", "\nFORGED", "](x)", "|", "`", "<b>", "a", "é", "/", ".", " ", `"`, `\`, "*",
}

func hostileText(r *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4).Draw(r, label), "")
}

// hostilePolicy is a configuration with such text in every place that takes one.
func hostilePolicy(r *rapid.T) string {
	text := func(label, plain string) string {
		if rapid.IntRange(0, 3).Draw(r, label+"?") > 0 {
			return tomltext.String(plain)
		}
		return tomltext.String(plain + hostileText(r, label))
	}
	// No such program is there: a start would take the place of the test.
	name := text("name", "tool")
	return "extends = [" + text("extends", "more.toml") + "]\n" +
		"[tools." + name + "]\nsource = " + text("source", "local") + "\ncommand = " + text("command", "no-such-program -c x") + "\nenable = true\n" +
		"access.sensitive_paths = [" + text("sensitive", "**/.env") + "]\n" +
		"access.tests = [{ allow = [" + text("test", "read src/a") + "] }]\n" +
		"access.env = [{ name = " + text("variable", "GOFLAGS") + ", read = true }]\n" +
		"access.net = [{ host = " + text("host", "example.com") + ", path_prefix = " + text("prefix", "/a") + ", allow = true }]\n" +
		"access.commands." + text("program", "git") + " = { args = [[" + text("argument", "status") + "]] }\n" +
		"access.fs = [{ path = \".\", read = true }, { path = " + text("path", "src") + ", read = true, " + text("key", "write") + " = true }]\n" +
		"access.accept = [" + text("cell", "net.host") + "]\n" +
		"constraints = { only_after = [" + text("after", "tool") + "] }\n"
}

// invisible is said without package visible.
func invisible(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs))
}

var painted = regexp.MustCompile("\x1b\\[(0|1|2|3[1-6]|1;3[13])m")

// TestEverythingIsVisible: for any text in a configuration, in names of files and in arguments,
// no output of any command in any format moves, colours, hides or reverses anything, and no
// text begins a line of its own where lines have a meaning.
func TestEverythingIsVisible(t *testing.T) {
	t.Chdir(".") // a start that fails late has gone to its workspace
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	commands := [][]string{
		{"check"}, {"check", "--format", "json"}, {"check", "--format", "sarif"}, {"check", "--format", "github"}, {"check", "--enforceable"},
		{"explain"}, {"explain", "--why", "--base"}, {"explain", "--format", "markdown"}, {"explain", "--format", "json"}, {"explain", "--html"},
		{"explain", "--diff", "OLD"}, {"explain", "--diff", "OLD", "--format", "markdown"}, {"explain", "--diff", "OLD", "--format", "json"},
		{"explain", "--diff", "OLD", "--format", "sarif"}, {"explain", "--diff", "OLD", "--format", "github"}, {"explain", "--diff", "OLD", "--html"},
		{"explain", "--who", "QUESTION"}, {"can", "TOOL", "read", "TEXT"}, {"can", "--format", "json", "TOOL", "read", "TEXT"},
		{"can", "TOOL", "connect", "TEXT"}, {"can", "TOOL", "run", "TEXT"}, {"can", "TOOL", "env", "TEXT"}, {"test"}, {"explain", "TEXT"}, {"TEXT"}, {"check", "--TEXT"},
		{"build", "--check"}, {"build", "--out", "OUT"}, {"verify", "TEXT"}, {"approvals"}, {"approve", "--yes", "TEXT"}, {"exec", "--artifact", "TEXT", "TOOL"},
		{"exec", "--no-prompt", "TEXT"}, {"check", "--config", "TEXT"}, {"check", "--set", "TEXT"}, {"check", "--config", "LAYER"}, {"mount", "TEXT"}, {"-C", "TEXT", "check"},
	}
	irtest.Check(t, 3000, 1, func(r *rapid.T) {
		ws, old := filepath.Join(dir, "ws"), filepath.Join(dir, "old")
		layer := filepath.Join(ws, "layer"+strings.NewReplacer("/", "", "\x00", "").Replace(hostileText(r, "layer"))+".toml")
		for file, text := range map[string]string{
			filepath.Join(ws, "accessc.toml"): hostilePolicy(r), filepath.Join(ws, "more.toml"): "", filepath.Join(old, "more.toml"): "",
			filepath.Join(old, "accessc.toml"): hostilePolicy(r), layer: hostileText(r, "text") + hostilePolicy(r),
		} {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				r.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				r.Fatal(err)
			}
		}
		defer os.RemoveAll(ws)
		words := map[string]string{"OLD": old, "TOOL": "tool", "TEXT": hostileText(r, "argument"), "LAYER": layer, "OUT": filepath.Join(dir, "out"), "QUESTION": "read " + hostileText(r, "question")}
		args := []string{"-C", ws, "--color", rapid.SampledFrom([]string{"always", "never"}).Draw(r, "color")}
		for _, w := range rapid.SampledFrom(commands).Draw(r, "command") {
			for name, text := range words {
				w = strings.Replace(w, name, text, 1)
			}
			args = append(args, w)
		}
		var out, errs bytes.Buffer
		run(args, strings.NewReader(""), &out, &errs)
		for _, b := range []*bytes.Buffer{&out, &errs} {
			shown := b.String()
			if strings.Contains(shown, "\x1b[36mFORGED") || strings.Contains(shown, "\nFORGED") || strings.Contains(shown, "\n::error::FORGED") {
				r.Fatalf("%q prints what was forged: %q", args, shown)
			}
			shown = painted.ReplaceAllString(shown, "")
			if i := strings.IndexFunc(shown, invisible); i >= 0 || !utf8.ValidString(shown) {
				r.Fatalf("%q prints at %d what nothing shows: %q", args, i, shown)
			}
		}
		if text := strings.TrimSpace(out.String()); strings.Contains(strings.Join(args, " "), "--format json") && text != "" && !json.Valid([]byte(text)) {
			r.Fatalf("%q prints no JSON: %s", args, text)
		}
	})
}
