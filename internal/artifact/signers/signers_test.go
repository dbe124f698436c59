package signers

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/test/irtest"
)

// keys are made once: a.pub, b.pub and c.pub are their files.
type keys map[string]attest.Private

func newKeys(t testing.TB, dir string) keys {
	t.Helper()
	out := keys{}
	for _, name := range []string{"a", "b", "c"} {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		if out[name], err = attest.ParsePrivate(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
			t.Fatal(err)
		}
		if der, err = x509.MarshalPKIXPublicKey(public); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name+".pub"), string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	}
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (k keys) envelope(t testing.TB, build attest.Build, by ...string) *attest.Envelope {
	t.Helper()
	build.Form, build.Policy = "portable", "sha256:"+strings.Repeat("0", 64)
	s := &attest.Statement{Subjects: []attest.Subject{{Name: "manifest.json", Hash: build.Policy}}, Build: &build}
	var with []attest.Private
	for _, name := range by {
		with = append(with, k[name])
	}
	data, err := attest.Sign(s, with...)
	if err != nil {
		t.Fatal(err)
	}
	e, err := attest.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFindings: every mistake of a file is a finding, and a file with one permits nothing.
func TestFindings(t *testing.T) {
	dir := tempDir(t)
	newKeys(t, dir)
	write(t, filepath.Join(dir, "bad.pub"), "x")
	const one = "[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n"
	for text, want := range map[string]string{
		one:              "",
		"require = true": "",
		"require = [\"~/ws/**\", \"/ws\"]\n" + one: "",
		"require = 1":                  "found an integer, expected a boolean",
		"require = [1]":                "expected a string",
		"require = [\"ws\"]":           "begins with / or ~/",
		"require = [\"/[\"]":           "begins with / or ~/",
		"require = [\"/srv/*/ws\"]":    "no name behind",
		"require = [\"/a/{b,c/d}/e\"]": "no name behind",
		"require = [\"/a/**/b*/*\", \"/a/[bc]\", \"/a/\\\\*/b\"]": "",
		"signers = 1":               "expected an array of at most",
		"signers = [1]":             "expected a table",
		"[[signers]]":               "found no name",
		"[[signers]]\nname = \"a\"": "found no key",
		"[[signers]]\nname = \"\"\nkey = \"a.pub\"":     "found an empty string",
		"[[signers]]\nname = \"a\"\nkey = 1":            "expected a string",
		"[[signers]]\nname = \"a\"\nkey = \"no.pub\"":   "no such file",
		"[[signers]]\nname = \"a\"\nkey = \".\"":        "not a regular file",
		"[[signers]]\nname = \"a\"\nkey = \"bad.pub\"":  "not a PEM file",
		one + "workspaces = \"/ws\"":                    "expected an array of strings",
		one + "tools = [true]":                          "expected a string",
		one + "serial = 0":                              "expected one from 1",
		one + "serial = \"1\"":                          "expected an integer",
		one + "project = 1":                             "expected a string",
		one + "projects = \"x\"":                        "expected one of name, key",
		one + strings.Replace(one, "\"a\"", "\"b\"", 1): "found the key of another signer",
		"threshold = 2\n" + one:                         "the file names 1 signers",
		"threshold = 0\n" + one:                         "expected one from 1",
		"older = true\n" + one:                          "expected a string",
		"older = \"no\"\n" + one:                        "expected one of refuse, allow",
		"[attestation]\nrequire = true":                 "expected one of require",
		"require = true\nrequire = false":               "require",
		"\xff":                                          "not part of any character",
		strings.Repeat(" ", maxFile+1):                  "larger than",
	} {
		file := filepath.Join(dir, "attestation.toml")
		write(t, file, text)
		p, _, found := Read([]userdir.Attestation{{Path: file}}, filepath.Join(dir, "ws"), dir, nil)
		var all strings.Builder
		for _, d := range found {
			fmt.Fprintln(&all, d.Message, d.Label)
		}
		switch {
		case want == "" && len(found) > 0, want != "" && !strings.Contains(all.String(), want):
			t.Errorf("%.80q: got %q, expected %q", text, all.String(), want)
		case want != "" && (!found.Failed() || len(p.files) > 0):
			t.Errorf("%.80q: it has a mistake, and counts", text)
		}
	}
}

// TestNobodyPermits: where no file names a signer, no key may sign.
func TestNobodyPermits(t *testing.T) {
	dir := tempDir(t)
	k := newKeys(t, dir)
	file := filepath.Join(dir, "attestation.toml")
	e := k.envelope(t, attest.Build{Serial: 1}, "a")
	for _, text := range []string{"", "require = true", "signers = []"} {
		write(t, file, text)
		p, _, found := Read([]userdir.Attestation{{Path: file}, {Path: filepath.Join(dir, "none")}}, "", dir, nil)
		if _, _, err := p.Judge(e, Subject{Workspace: "/ws", Tool: "t"}); err == nil || len(found) > 0 {
			t.Errorf("%q: %v, %v", text, err, found)
		}
	}
	if _, _, err := (Policy{}).Judge(e, Subject{Workspace: "/ws", Tool: "t"}); err == nil {
		t.Error("the zero policy permits")
	}
}

// TestFilesOnlyNarrow: with a second file nothing is permitted that the first does not permit, nothing is required no
// longer, and an older attestation is not permitted where it was not. With signers in both, both must permit.
func TestFilesOnlyNarrow(t *testing.T) {
	dir := tempDir(t)
	k := newKeys(t, dir)
	text := func(t *rapid.T, label string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "require = %s\n", rapid.SampledFrom([]string{"true", "false", `["/ws"]`, `["/other/**"]`}).Draw(t, label+" require"))
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, label+" signers")
		if len(names) > 0 {
			fmt.Fprintf(&b, "threshold = %d\n", rapid.IntRange(1, len(names)).Draw(t, label+" threshold"))
		}
		fmt.Fprintf(&b, "older = %q\n", rapid.SampledFrom([]string{"refuse", "allow"}).Draw(t, label+" older"))
		for _, n := range names {
			fmt.Fprintf(&b, "[[signers]]\nname = %q\nkey = \"%s.pub\"\n", n, n)
			b.WriteString(rapid.SampledFrom([]string{"", "workspaces = [\"/w*\"]\n", "workspaces = [\"/other\"]\n"}).Draw(t, label+" workspaces"))
			b.WriteString(rapid.SampledFrom([]string{"", "tools = [\"t\"]\n", "tools = [\"u\"]\n"}).Draw(t, label+" tools"))
			b.WriteString(rapid.SampledFrom([]string{"", "project = \"p\"\n"}).Draw(t, label+" project"))
			b.WriteString(rapid.SampledFrom([]string{"", "serial = 5\n"}).Draw(t, label+" serial"))
		}
		return b.String()
	}
	read := func(t *rapid.T, texts ...string) Policy {
		var files []userdir.Attestation
		for i, text := range texts {
			file := filepath.Join(dir, fmt.Sprintf("%d.toml", i))
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, userdir.Attestation{Path: file})
		}
		p, _, found := Read(files, "", dir, nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		return p
	}
	irtest.Check(t, 300, 1, func(t *rapid.T) {
		first, second := text(t, "first"), text(t, "second")
		one, two, both := read(t, first), read(t, second), read(t, first, second)
		by := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, "by")
		b := attest.Build{Serial: rapid.IntRange(4, 6).Draw(t, "serial"), Project: rapid.SampledFrom([]string{"", "p"}).Draw(t, "project")}
		e := k.envelope(testingOf(t), b, by...)
		s := Subject{Workspace: rapid.SampledFrom([]string{"/ws", "/other"}).Draw(t, "workspace"), Tool: rapid.SampledFrom([]string{"", "t", "u"}).Draw(t, "tool")}
		permits := func(p Policy) bool { _, _, err := p.Judge(e, s); return err == nil }
		names := func(text string) bool { return strings.Contains(text, "[[signers]]") }
		want := (names(first) || names(second)) && (!names(first) || permits(one)) && (!names(second) || permits(two))
		if permits(both) != want {
			t.Fatalf("both permit: %v, expected %v", permits(both), want)
		}
		if (both.Requires(s) != "") != (one.Requires(s) != "" || two.Requires(s) != "") {
			t.Fatal("what is required depends on more than each file")
		}
		if both.Older() && (!one.Older() || !two.Older()) {
			t.Fatal("older attestations are permitted by one file")
		}
	})
}

// testingOf has helpers that fail a test fail a check.
func testingOf(t *rapid.T) testing.TB { return checkTB{TB: nil, t: t} }

type checkTB struct {
	testing.TB
	t *rapid.T
}

func (c checkTB) Helper()           {}
func (c checkTB) Fatal(args ...any) { c.t.Fatal(args...) }

// TestPatterns: a pattern matches by the path of the workspace without symlinks, also where the pattern has one.
func TestPatterns(t *testing.T) {
	dir := tempDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "real/shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("real/shop", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	s := Subject{Workspace: filepath.Join(dir, "real/shop"), Home: dir}
	for pattern, want := range map[string]bool{
		"~/real/shop": true, "~/real/*": true, "~/**": true, "~/link/*": true, "~/link/shop": true, "~/real": false, "~/real/sho": false,
		"~/real/shop/x": false, "~/real/shop/": true, "~/real/shop//": true, "~/real/shop/.": true, "~/real/../real/shop": true, "~/alias": true,
		"~/alias/": true, `~/re\al/shop`: true, `~/real/sho\p*`: true, filepath.ToSlash(dir) + "/real/**": true, "/**": true, "/": false,
	} {
		if got := s.in([]string{pattern}); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

// TestRequiredBelow: a pattern that requires attestations in a workspace requires them in the directories below it. A tool that may write
// there, or a commit, makes such a directory a workspace of its own by an accessc.toml in it, and a start from there was
// not compared with any. A signer of the workspace is none of such a directory.
func TestRequiredBelow(t *testing.T) {
	for pattern, want := range map[string]bool{"/w/shop": true, "/w/shop/": true, "/w/sh*": true, "/": true, "/w/sho": false, "/w/shop/src/x": false, "/w/other": false} {
		if got := (Subject{Workspace: "/w/shop/src"}).required([]string{pattern}, false); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	if (Subject{Workspace: "/w/shop/src"}).in([]string{"/w/shop"}) {
		t.Error("who may sign for a workspace may sign for a directory in it")
	}
}

// TestRequiredByAnyCase: where file systems do not tell cases apart, another spelling of a directory is still one that
// requires attestations; who may sign there goes by the letter.
func TestRequiredByAnyCase(t *testing.T) {
	s := Subject{Workspace: "/Users/You/Work/shop"}
	patterns := []string{"/users/you/work/*"}
	if !s.required(patterns, true) || s.required(patterns, false) || s.in(patterns) {
		t.Error("the case counts, or does not, where it should not")
	}
	if s.required([]string{"/users/you/other/*"}, true) {
		t.Error("another directory matches")
	}
}

// TestExposed: a file and a key that lie where tools write permit nothing.
func TestExposed(t *testing.T) {
	dir := tempDir(t)
	newKeys(t, dir)
	file := filepath.Join(dir, "attestation.toml")
	write(t, file, "[[signers]]\nname = \"a\"\nkey = \"a.pub\"\n")
	for _, name := range []string{"attestation.toml", "a.pub", ""} {
		p, _, found := Read([]userdir.Attestation{{Path: file}}, "", dir, func(path string) string {
			if filepath.Base(path) == name {
				return "lies in the workspace /w"
			}
			return ""
		})
		if refused := found.Failed() && len(p.files) == 0 && strings.Contains(found[0].Label, "lies in the workspace /w"); refused != (name != "") {
			t.Errorf("%q: %+v", name, found)
		}
	}
}

// TestRemember: of many starts at the same time none goes back behind another, and none is refused by one with the same
// serial.
func TestRemember(t *testing.T) {
	state := userdir.Dir(tempDir(t))
	if err := os.Mkdir(filepath.Dir(state.Attested("t")), 0o700); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	highest := 0
	for i := range 40 {
		wait.Go(func() {
			serial := 1 + i/2
			err := Remember(state, "t", serial)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				highest = max(highest, serial)
			} else if !strings.Contains(err.Error(), "it is a replay") {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if highest != 20 {
		t.Errorf("the highest is %d", highest)
	}
	for serial, ok := range map[int]bool{19: false, 20: true} {
		if err := Remember(state, "t", serial); (err == nil) != ok {
			t.Errorf("%d: %v", serial, err)
		}
	}
	if err := Remember(state, "u", 1); err != nil {
		t.Errorf("another tool: %v", err)
	}
	for _, text := range []string{"x\n", "0\n", "-1\n", strings.Repeat("1", 100)} {
		write(t, state.Attested("t"), text)
		if err := Remember(state, "t", 30); err == nil {
			t.Errorf("%q was taken for a serial", text)
		}
	}
}
