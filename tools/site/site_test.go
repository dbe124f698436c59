package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository writes files of a repository with a door, a playground and its program, and what is given besides.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	all := map[string]string{
		"README.md":      "# accessc\n\n[docs](docs/README.md) [code](code.toml) [why](docs/decisions/)\n",
		"docs/README.md": "# Documents\n\n## Use\n\n| page | |\n|---|---|\n| [tour](tour.md) | x |\n",
		"docs/tour.md":   "# Tour\n\n## One `two`: three\n\ntext\n", "code.toml": "a = 1 # <b>\n",
		playground:                         "<!-- head -->\n<!-- end of head --><!-- body -->\n<p>body<!-- end of body -->",
		"docs/playground/playground.js":    "",
		"docs/playground/playground.css":   "",
		"docs/playground/worker.js":        "",
		".cache/playground/accessc.wasm":   "wasm",
		".cache/playground/wasm_exec.js":   "exec",
		"docs/decisions/meaning.md":        "# Meaning\n",
		"docs/decisions/more/ignored.toml": "",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func made(root, out string) error { return build(root, out, filepath.Join(root, ".cache/playground")) }

// TestBuild: pages lead to each other, are in the search and in the navigation, and a second run writes the same.
func TestBuild(t *testing.T) {
	root := repository(t, map[string]string{"docs/tour.md": "# Tour\n\n## One `two`: three\n\n<a id=\"x\"></a>\n[a](#one-two-three) [b](../README.md#accessc) [c](#x)\n\n```sh\na <b>\n```\n"})
	out := filepath.Join(root, "dist")
	for range 2 {
		if err := made(root, out); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"index.html":                 `<a href="docs/decisions/index.html">`,
		"docs/tour.html":             `<a href="../index.html#accessc">`,
		"docs/index.html":            "<th>page</th><td></td>",
		"docs/decisions/index.html":  `<a href="meaning.html">meaning</a>`,
		"code.toml.html":             "a = 1 # &lt;b&gt;",
		"search.js":                  `["docs/tour.html#one-two-three","Tour","One two: three","a b c a \u003cb\u003e"]`,
		"docs/playground/index.html": "<p>body",
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	other := filepath.Join(root, "again")
	if err := made(root, other); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		a, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(other + strings.TrimPrefix(name, out))
		if string(a) != string(b) {
			t.Errorf("%s differs", name)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if err := made(root, filepath.Join(root, "docs")); err == nil || !strings.Contains(err.Error(), "is no site") {
		t.Errorf("a directory with other files was replaced: %v", err)
	}
}

// TestBroken: what would be a dead link, or HTML of a page's own, stops the build and names the page.
func TestBroken(t *testing.T) {
	for text, want := range map[string]string{
		"[a](gone.md)":                "gone.md",
		"[a](../gone/)":               "gone",
		"[a](#nowhere)":               "no such heading",
		"[a](../README.md#nowhere)":   "no such heading",
		"[a](../../outside.md)":       "out of the repository",
		"[a](javascript:alert(1))":    "leads nowhere",
		"[a](/etc/passwd)":            "leads nowhere",
		"![a](gone.svg)":              "gone.svg",
		"a <script>alert(1)</script>": "<script>",
		"<img src=x onerror=y>":       "<img",
		"<div>\n<b>x</b>\n</div>":     "<div>",
	} {
		root := repository(t, map[string]string{"docs/tour.md": "# Tour\n\n" + text + "\n"})
		err := made(root, filepath.Join(root, "dist"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := os.Stat(filepath.Join(root, "dist")); err == nil {
			t.Errorf("%s: a site was written", text)
		}
	}
}
