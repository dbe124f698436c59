//go:build unix

package revision

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/test/testbuild"
)

// repository is a work tree in which a test does the preparations of a hostile tool.
type repository struct {
	*testing.T
	dir string
}

func newRepository(t *testing.T, args ...string) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repository{t, filepath.Join(dir, "ws")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("", append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

// git runs git as its owner would, without the machine's settings.
func (r repository) git(stdin string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := testbuild.WriteFile(file, []byte(text), 0o755); err != nil {
		r.Fatal(err)
	}
}

func (r repository) commit() string {
	r.Helper()
	r.git("", "add", "-A")
	r.git("", "commit", "-q", "-m", "c")
	return r.git("", "rev-parse", "HEAD")
}

// made commits a tree of raw entries, which git would not make itself.
func (r repository) made(entries ...string) string {
	r.Helper()
	tree := r.git(strings.Join(entries, ""), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	return r.git("", "commit-tree", "-m", "c", tree)
}

// entry is one entry of a raw tree.
func (r repository) entry(mode, name, id string) string {
	raw, err := hex.DecodeString(id)
	if err != nil {
		r.Fatal(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

func (r repository) blob(text string) string { return r.git(text, "hash-object", "-w", "--stdin") }

func (r repository) open(dir, revision string) (*Tree, error) {
	r.Helper()
	repo, err := Find(filepath.Join(r.dir, dir))
	if err != nil {
		return nil, err
	}
	tree, err := repo.Open(revision)
	if err == nil {
		r.Cleanup(tree.Close)
	}
	return tree, err
}

// TestHostileTrees: trees that no checkout could be made of.
func TestHostileTrees(t *testing.T) {
	r := newRepository(t)
	blob, none := r.blob("x"), strings.Repeat("0", 40)
	empty := r.git("", "hash-object", "-w", "-t", "tree", "/dev/null")
	for name, c := range map[string]struct {
		entries []string
		want    string
	}{
		"parent":  {[]string{r.entry("100644", "..", blob)}, `the name ".."`},
		"slash":   {[]string{r.entry("100644", "a/b", blob)}, `the name "a/b"`},
		"empty":   {[]string{r.entry("100644", "", blob)}, `the name ""`},
		"twice":   {[]string{r.entry("40000", "a", empty), r.entry("100644", "a", blob)}, `"a" twice`},
		"cut":     {[]string{"100644 a\x00short"}, "cut off"},
		"missing": {[]string{r.entry("40000", "a", none)}, "lacks the object"},
		"kind":    {[]string{r.entry("40000", "a", blob)}, "is a blob, expected a tree"},
	} {
		t.Run(name, func(t *testing.T) {
			tree, err := r.open("", r.made(c.entries...))
			if err == nil {
				_, err = fs.ReadDir(tree, ".")
			}
			if err == nil {
				_, err = fs.ReadDir(tree, "a")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}

	odd := []string{"-x", "--output=y", ":path", "line\nbreak", "\x1b[31m", "ü\u202e"}
	var entries []string
	for _, name := range odd {
		entries = append(entries, r.entry("100644", name, blob))
	}
	entries = append(entries,
		r.entry("120000", "out", r.blob("/etc/passwd")), r.entry("120000", "long", r.blob(strings.Repeat("x", 5000))),
		r.entry("120000", "nul", r.blob("a\x00b")), r.entry("160000", "module", none), r.entry("40000", "dir", empty))
	tree, err := r.open("", r.made(entries...))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range odd {
		if data, err := fs.ReadFile(tree, name); name != "ü\u202e" && (err != nil || string(data) != "x") {
			t.Errorf("%q: read %q, %v", name, data, err)
		}
	}
	if target, err := tree.ReadLink("out"); err != nil || target != "/etc/passwd" {
		t.Errorf("out leads to %q, %v", target, err)
	}
	for _, name := range []string{"long", "nul", "dir", "nosuch", "module/x", "../x", "/etc"} {
		if target, err := tree.ReadLink(name); err == nil {
			t.Errorf("%s leads to %q", name, target)
		}
	}
	if data, err := fs.ReadFile(tree, "out"); len(data) > 0 {
		t.Errorf("a symlink was followed: %q, %v", data, err)
	}
	if _, err := fs.Stat(tree, "out/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a symlink: %v", err)
	}
	if list, err := fs.ReadDir(tree, "module"); err != nil || len(list) != 0 {
		t.Errorf("a submodule holds %v, %v", list, err)
	}
}

// TestNames: a name that is no revision is an error in words, in any form.
func TestNames(t *testing.T) {
	r := newRepository(t)
	r.write("sub/a", "x")
	r.commit()
	for _, name := range []string{"", "-x", "--output=y", "nosuch", "HEAD:sub/a", ":sub/a", "a\nb", "a\x00b", "..", "HEAD..HEAD", "@{u}", strings.Repeat("x", 1<<16)} {
		if _, err := r.open("", name); err == nil || strings.Contains(err.Error(), "exit status") {
			t.Errorf("%.20q: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "y")); err == nil {
		t.Error("a name was taken as a flag")
	}
	if err := os.Mkdir(filepath.Join(r.dir, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := r.open("new", "HEAD"); err == nil || err.Error() != "the workspace is not in that revision" {
		t.Errorf("got %v", err)
	}
}

// TestBounds: sizes, counts and times.
func TestBounds(t *testing.T) {
	r := newRepository(t)
	r.write("big", strings.Repeat("x", maxObject+1))
	r.write("small", "x")
	r.commit()
	tree, err := r.open("", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(tree, "small"); err != nil {
		t.Error(err)
	}
	if _, err := fs.ReadFile(tree, "big"); err == nil || !strings.Contains(err.Error(), "expected at most") {
		t.Errorf("got %v", err)
	}

	defer func(was time.Duration) { maxTime = was }(maxTime)
	maxTime = 300 * time.Millisecond
	head := filepath.Join(r.dir, ".git/HEAD")
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(head, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.open("", "main"); err == nil || !strings.Contains(err.Error(), "took longer") {
		t.Errorf("got %v", err)
	}
}

// TestKinds: names of 64 digits, linked work trees, bare repositories, directories that only
// look like one, and borrowed objects.
func TestKinds(t *testing.T) {
	read := func(t *testing.T, r repository, dir, revision string) {
		t.Helper()
		tree, err := r.open(dir, revision)
		if err != nil {
			t.Fatal(err)
		}
		data, err := fs.ReadFile(tree, "a")
		if err != nil || string(data) != "x" {
			t.Errorf("read %q, %v", data, err)
		}
		if _, err := os.Stat(tree.objects.dir); err != nil {
			t.Error(err)
		}
		tree.Close()
		if _, err := os.Stat(tree.objects.dir); err == nil {
			t.Error("something was left behind")
		}
	}
	r := newRepository(t)
	r.write("a", "x")
	r.write("sub/HEAD", "")
	r.write("sub/objects/a", "")
	r.write("sub/refs/a", "")
	r.write("sub/a", "x")
	r.commit()
	r.git("", "tag", "-a", "-m", "t", "v1")
	r.git("", "worktree", "add", "-q", "../linked")
	r.git("", "clone", "-q", "--bare", ".", "../bare.git")
	r.git("", "clone", "-q", "--shared", ".", "../sharing")
	read(t, r, "", "v1")
	read(t, r, "sub", "HEAD")
	read(t, r, "../linked", "HEAD")
	read(t, r, "../bare.git", "main")
	read(t, r, "../sharing", "HEAD")
	other := newRepository(t, "--object-format=sha256")
	other.write("a", "x")
	other.commit()
	read(t, other, "", "HEAD")
	for dir, bare := range map[string]bool{"": false, "sub": false, "../bare.git": true, "../linked": false} {
		if repo, err := Find(filepath.Join(r.dir, dir)); err != nil || repo.Bare() != bare {
			t.Errorf("%q: %+v, %v", dir, repo, err)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(r.dir))
	if _, err := Find(filepath.Dir(r.dir)); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
}

// FuzzTree: a tree of any bytes is read or refused, and the names in an accepted one can be
// walked.
func FuzzTree(f *testing.F) {
	id := strings.Repeat("\x01", 20)
	for _, seed := range []string{"", "40000 a\x00" + id, "100644 ..\x00" + id, "120000 x\x00" + id + "160000 y\x00" + id} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data, 20)
		if err != nil {
			return
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.name)
			if strings.ContainsAny(e.name, "/\x00") || e.name == ".." {
				t.Errorf("the name %q", e.name)
			}
		}
		var again []byte
		for _, e := range entries {
			raw, _ := hex.DecodeString(e.id)
			mode := map[fs.FileMode]string{fs.ModeDir | 0o755: "40000", fs.ModeSymlink | 0o777: "120000", 0o755: "100755", 0o644: "100644"}[e.mode]
			if e.id == "" {
				mode, raw = "160000", bytes.Repeat([]byte{0}, 20)
			}
			again = fmt.Appendf(again, "%s %s\x00%s", mode, e.name, raw)
		}
		second, err := parseTree(again, 20)
		if err != nil || !cmp.Equal(entries, second, cmp.AllowUnexported(entry{})) {
			t.Errorf("%v read again: %v, %v", names, second, err)
		}
	})
}
