package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/enforce/start"
)

var console = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// review is the document whose commands run in a repository of its own.
const review = "../../docs/review.md"

// own makes a repository with the policies of this project's own tools, as one commit.
func own(t *testing.T) string {
	dir := t.TempDir()
	data, err := os.ReadFile("../../accessc.toml")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "accessc.toml"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "user.email", "nobody@example.com"}, {"config", "user.name", "nobody"},
		{"config", "commit.gpgsign", "false"}, {"add", "."}, {"commit", "-q", "-m", "one"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// several is a directory with two repositories that are built, and the report of a host, as the document about them has
// these.
func several(t *testing.T) string {
	dir := t.TempDir()
	shop, site := filepath.Join(dir, "repos/shop"), filepath.Join(dir, "repos/site")
	data, err := os.ReadFile(fleets)
	if err == nil {
		err = errors.Join(os.CopyFS(shop, os.DirFS("../../examples/project")), os.MkdirAll(site, 0o755),
			os.WriteFile(filepath.Join(site, "accessc.toml"), configuration.FindSubmatch(data)[1], 0o644),
			os.WriteFile(filepath.Join(dir, "build-01.json"), hostReport.FindSubmatch(data)[1], 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{shop, site} {
		if code := run([]string{"-C", repo, "build"}, nil, io.Discard, io.Discard); code != exitOK {
			t.Fatalf("%s is not built: status %d", repo, code)
		}
	}
	return dir
}

var hostReport = regexp.MustCompile("(?s)```json\n(.*?)```")

const (
	fleets   = "../../docs/fleet.md"
	rulesets = "../../docs/rulesets.md"
	learning = "../../docs/learn.md"
)

var configuration = regexp.MustCompile("(?s)```toml\n(.*?)```")

// described is a copy of the example project whose configuration is the first one in a document.
func described(t *testing.T, doc string) string {
	dir := filepath.Join(t.TempDir(), "described")
	if err := os.CopyFS(dir, os.DirFS("../../examples/project")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(doc)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "accessc.toml"), configuration.FindSubmatch(data)[1], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConsole runs every "$ ..." line of the documents in the example project, or in a
// repository with the policies of this one, and compares the output. UPDATE_SCRIPTS=1 writes
// the documents anew.
func TestConsole(t *testing.T) {
	leaveTerminal()
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS("../../examples/project")); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(k, t.TempDir())
	}
	t.Setenv("NO_COLOR", "1")
	docs := map[string]string{
		"../../README.md": dir, "../../docs/tour.md": dir, "../../docs/config.md": dir, "../../docs/library.md": dir, "../../docs/platforms/linux.md": dir, "../../docs/targets.md": dir,
	}
	if _, err := exec.LookPath("git"); err == nil {
		docs[rulesets] = described(t, rulesets)
	}
	if start.ThisHost().Supervises {
		docs[learning] = described(t, learning)
	}
	if _, err := exec.LookPath("git"); err == nil {
		docs[review] = own(t)
		docs["../../docs/import.md"] = own(t)
	}
	docs[fleets] = several(t)
	if _, err := exec.LookPath("openssl"); err == nil {
		signed := filepath.Join(t.TempDir(), "example")
		if err := os.CopyFS(signed, os.DirFS("../../examples/project")); err != nil {
			t.Fatal(err)
		}
		docs["../../docs/attestations.md"] = signed
	}
	n := 0
	for _, doc := range slices.Sorted(maps.Keys(docs)) {
		t.Run(filepath.Base(doc), func(t *testing.T) {
			if doc == fleets {
				// A rule there is about keys in the home, which draws a warning where there are any.
				t.Setenv("HOME", t.TempDir())
			}
			n += shows(t, doc, docs[doc])
		})
	}
	if n == 0 {
		t.Error("the documents show nothing")
	}
	if repository := docs[review]; repository != "" {
		page(t, filepath.Join(repository, "change.html"), "../../docs/change.html")
	}
}

// shows replays the commands of a document in a directory, compares their output with that of the document, and returns how many
// blocks of them it has.
func shows(t *testing.T, doc, dir string) (n int) {
	data, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	got := console.ReplaceAllStringFunc(string(data), func(block string) string {
		n++
		return "```console\n" + replay(t, dir, console.FindStringSubmatch(block)[1]) + "```"
	})
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(doc, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(string(data), got); d != "" {
		t.Errorf("%s does not show what happens:\n%s", doc, d)
	}
	return n
}

// page compares a page that the documents have written with the one that they link to.
func page(t *testing.T, written, linked string) {
	got, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(linked, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(linked)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not what the command writes:\n%s", linked, d)
	}
}

// replay runs the commands of a block. A command that starts a tool needs Landlock; its
// output stays as it is where there is none.
func replay(t *testing.T, dir, block string) string {
	var out strings.Builder
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(block, -1)[1:] {
		line, _, _ := strings.Cut(part, "\n")
		if (strings.Contains(line, "exec") || strings.Contains(line, "--kernel") || strings.Contains(line, "accessc denials")) && start.ABI() == 0 {
			out.WriteString("$ " + part)
			continue
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
			t.Fatalf("%s: %v", line, err)
		}
		out.WriteString("$ " + line + "\n" + strings.ReplaceAll(string(text), dir, "/home/you/example"))
	}
	return out.String()
}
