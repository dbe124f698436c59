package hostfacts

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/revision"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// checkout is a repository in which a test makes commits.
type checkout struct {
	*testing.T
	dir string
}

func newCheckout(t *testing.T, args ...string) checkout {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	return newCheckoutIn(t, t.TempDir(), args...)
}

func newCheckoutIn(t *testing.T, dir string, args ...string) checkout {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := checkout{t, filepath.Join(dir, "repo")}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return c
}

func (c checkout) git(args ...string) string { return c.feed("", args...) }

func (c checkout) read(name string) string {
	c.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
	if err != nil {
		c.Fatal(err)
	}
	return string(data)
}

// feed runs git with a standard input.
func (c checkout) feed(text string, args ...string) string {
	c.Helper()
	cmd := exec.Command("git", append([]string{"-c", "core.symlinks=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c checkout) write(name, text string) {
	c.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

func (c checkout) link(name, target string) {
	c.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.Symlink(target, file); err != nil {
		c.Skip(err)
	}
}

// shared compiles as comparisons of work trees and builds do.
func (c checkout) shared(sub string) *Result {
	c.Helper()
	res, err := Compile(Options{
		Options: compiler.Options{Root: filepath.Join(c.dir, sub), Layers: source.Request{Shared: true}},
		State:   userdir.Dir(c.TempDir()), Untested: true, Sensitive: true,
	})
	if err != nil {
		c.Fatal(err)
	}
	return res
}

// TestTracked: git's index says whether the local layer is the repository's, in every form that git writes it.
func TestTracked(t *testing.T) {
	const local = ".accessc/local.toml"
	for name, set := range map[string]struct {
		make func(c checkout)
		want bool
	}{
		"untracked":          {func(c checkout) { c.write(local, ""); c.git("add", "other") }, false},
		"tracked":            {func(c checkout) { c.write(local, ""); c.git("add", "-A") }, true},
		"removed":            {func(c checkout) { c.write(local, ""); c.git("add", "-A"); c.git("rm", "-q", "--cached", local) }, false},
		"added only by name": {func(c checkout) { c.write(local, "x = 1\n"); c.git("add", "-N", local) }, true},
		"version 4": {func(c checkout) {
			c.write(local, "")
			c.git("add", "-A")
			c.git("update-index", "--index-version", "4")
		}, true},
		"version 4 without": {func(c checkout) {
			c.write(local, "")
			c.git("add", "other", "tree")
			c.git("update-index", "--index-version", "4")
		}, false},
		"with a tree of its own": {func(c checkout) { c.write(local, ""); c.git("add", "-A"); c.git("commit", "-q", "-m", "c") }, true},
		// The entries of a split index are in another file: that the layer may be there counts.
		"split": {func(c checkout) { c.write(local, ""); c.git("add", "-A"); c.git("update-index", "--split-index") }, true},
		"over a symlink of a directory": {func(c checkout) {
			c.write("conf/local.toml", "")
			c.link(".accessc", "conf")
			c.git("add", "-A")
		}, true},
		"a tracked symlink": {func(c checkout) {
			c.write("conf/l.toml", "")
			c.link(local, "../conf/l.toml")
			c.git("add", local)
		}, true},
		"an own repository": {func(c checkout) {
			c.write(local, "")
			c.git("init", "-q", "--object-format="+c.git("rev-parse", "--show-object-format"), ".accessc")
			inner := checkout{c.T, filepath.Join(c.dir, ".accessc")}
			inner.git("add", "-A")
			inner.git("commit", "-q", "-m", "c")
			c.git("update-index", "--add", "--cacheinfo", "160000,"+inner.git("rev-parse", "HEAD")+",.accessc")
		}, true},
		"another file of the directory": {func(c checkout) { c.write(local, ""); c.write(".accessc/other", ""); c.git("add", ".accessc/other") }, false},
		"no index":                      {func(c checkout) { c.write(local, "") }, false},
		"damaged":                       {func(c checkout) { c.write(local, ""); c.write(".git/index", "DIRC") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []string{"sha1", "sha256"} {
				c := newCheckout(t, "--object-format="+format)
				c.write("other", "")
				c.write("tree/a", "")
				set.make(c)
				res := c.shared("")
				found := strings.Contains(fmt.Sprint(res.Findings), "ACC082")
				if res.Tracked != set.want || found != set.want {
					t.Errorf("%s: tracked: %v, found: %v, expected %v", format, res.Tracked, found, set.want)
				}
			}
		})
	}
}

// TestTrackedBelow: a workspace below the top of the work tree, and a linked work tree.
func TestTrackedBelow(t *testing.T) {
	c := newCheckout(t)
	c.write("sub/.accessc/local.toml", "")
	c.write("other/.accessc/local.toml", "")
	c.git("add", "sub")
	c.git("commit", "-q", "-m", "c")
	c.git("worktree", "add", "-q", "../linked")
	linked := checkout{t, filepath.Join(c.dir, "../linked")}
	if !c.shared("sub").Tracked || c.shared("other").Tracked || !linked.shared("sub").Tracked {
		t.Error("the index of the top was not asked about the place below it")
	}
	c.write("plain/sub/.git/x", "") // no repository of git's
	c.write("plain/sub/.accessc/local.toml", "")
	c.git("add", "-f", "plain")
	if !c.shared("plain/sub").Tracked {
		t.Error("a directory that is no repository hides the one around it")
	}
}

// scene draws where a commit has its layers. Each grants a place of its own, so that a missing one shows.
type scene struct {
	checkout
	r    *rand.Rand
	base string // of all of the scene's files in the repository
	at   string // of the workspace
	kind []string
	n    int
	// submodule is the path of one in the repository, empty for none.
	submodule string
	// refused is set where the revision has to be refused.
	refused bool
}

func (s *scene) chance(kind string) bool {
	if s.r.IntN(3) != 0 {
		return false
	}
	s.kind = append(s.kind, kind)
	return true
}

func (s *scene) layer(name string, extends ...string) {
	s.n++
	text := ""
	if len(extends) > 0 {
		text = `extends = ["` + strings.Join(extends, `", "`) + "\"]\n"
	}
	strategy := [...]string{"append", "replace", "prepend"}[s.r.IntN(3)]
	s.write(s.at+name, fmt.Sprintf("%s[tools.t]\nsource = \"local\"\ncommand = \"cat\"\n[tools.t.access.fs]\nstrategy = %q\nvalue = [{ path = \"p%d\", read = true }]\n",
		text, strategy, s.n))
}

// draw writes the files of the i-th commit.
func (s *scene) draw(i int) {
	s.at = s.base
	if s.chance("below the top") {
		s.at += "ws/"
	}
	var extends []string
	if s.chance("pattern") {
		extends = append(extends, "conf/**/*.toml")
		s.layer("conf/a.toml")
		s.layer("conf/deep/b.toml")
		if s.chance("dangling") {
			s.link(s.at+"conf/c.toml", "later.toml")
		}
		if s.chance("submodule") {
			s.layer("conf/sub/d.toml")
			s.submodule, s.refused = s.at+"conf/sub", true
		}
	}
	s.layer("accessc.toml", extends...)
	if s.chance("host's layer") {
		s.layer(".jp/config.toml")
	}
	s.hidden(i)
	local := locals[i%len(locals)]
	s.kind = append(s.kind, local)
	switch local {
	case "local layer":
		s.layer(".accessc/local.toml")
	case "local layer over a directory":
		s.layer("other/local.toml")
		s.link(s.at+".accessc", "other")
	case "local layer over a file":
		s.layer("other/layer.toml")
		s.link(s.at+".accessc/local.toml", "../other/layer.toml")
	case "local layer that extends":
		s.layer("more/c.toml")
		s.layer(".accessc/local.toml", "../more/*.toml")
	}
}

// hidden adds what git checks out otherwise than it shows, in every other commit.
func (s *scene) hidden(i int) {
	kind := hiddens[i%len(hiddens)]
	s.kind = append(s.kind, kind)
	switch kind {
	case "encoding":
		s.write(s.base+".gitattributes", "*.toml text\naccessc.toml working-tree-encoding=ISO-8859-1\n")
		s.refused = true
	case "ident below":
		s.layer(".jp/config.toml")
		s.write(s.at+".jp/.gitattributes", "/config.* ident\n")
		s.refused = true
	case "macro":
		s.write(s.base+".gitattributes", "**/*.toml other\n") // a macro of the top
		s.refused = true
	case "taken away":
		text := "* filter=x ident\n"
		for _, name := range []string{"accessc", "config", "local", "layer", "a", "b", "c", "d"} {
			text += name + ".toml -filter !ident\n"
		}
		s.write(s.base+".gitattributes", text+"local.toml eol=lf\n")
	case "of other files":
		s.write(s.base+".gitattributes", "*.bin filter=lfs\nsrc/*.toml ident\n/nested/** filter=lfs\n")
	}
}

// hiddens are the kinds of attributes of git.
var hiddens = []string{"no attributes", "encoding", "taken away", "ident below", "of other files", "macro", "no attributes"}

// locals are the forms of the local layer, which the draws take in turn.
var locals = []string{
	"no local layer", "local layer", "local layer over a directory", "local layer over a file", "local layer that extends",
}

// inMemory is a directory of the test, in memory where there is some: a full count writes millions of files.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "accessc-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestOneSetOfLayers: a start and a comparison of the same commit have the same policy, save the user's own layer. Cause:
// a committed local layer ruled every start, and no comparison read it.
func TestOneSetOfLayers(t *testing.T) {
	seen := map[string]int{}
	seed := epoch.Seed(t)
	per := 5
	if irtest.Full() {
		per = 200
	}
	rounds := irtest.Times(500)
	fmt.Printf("property %s: %d commits of %d workspaces, seed %d\n", t.Name(), rounds, per, seed)
	var lock sync.Mutex
	t.Run("commits", func(t *testing.T) {
		for n := range rounds {
			t.Run("", func(t *testing.T) { // which removes its files at its end
				t.Parallel()
				c := newCheckoutIn(t, inMemory(t))
				var scenes []*scene
				for j := range per {
					i := n*per + j
					s := &scene{checkout: c, r: epoch.Source(seed, uint64(i)), base: fmt.Sprintf("d%d/", j)}
					s.draw(i)
					scenes = append(scenes, s)
				}
				compareAll(t, c, scenes)
				lock.Lock()
				defer lock.Unlock()
				for _, s := range scenes {
					for _, k := range s.kind {
						seen[k]++
					}
				}
			})
		}
	})
	irtest.Happened(t, seen, append(append([]string{"below the top", "pattern", "dangling", "submodule", "host's layer"}, locals...), hiddens...)...)
}

// compareAll commits scenes, clones them, and compares a start of each with the sides of a comparison.
func compareAll(t *testing.T, c checkout, scenes []*scene) {
	c.write(".gitattributes", "[attr]other filter=x\n")
	c.git("add", "-f", "-A")
	modules := ""
	for _, s := range scenes {
		if s.submodule != "" {
			modules += "160000 " + strings.Repeat("1", 40) + "\t" + s.submodule + "\n"
		}
	}
	if modules != "" {
		c.feed(modules, "update-index", "--replace", "--index-info")
	}
	c.git("commit", "-q", "-m", "c")
	c.git("clone", "-q", "-s", ".", "../clone")
	repo, err := revision.Find(filepath.Join(c.dir, "../clone"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Open("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	revised, _, err := workspace.Further(tree, resolve.Fold)
	if err != nil {
		t.Fatal(err)
	}
	files, err := repo.Files(workspace.Marks()...)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := workspace.FurtherOf(files, resolve.Fold); err != nil || !slices.Equal(found, revised) {
		t.Errorf("workspaces of the work tree: %v, %v, of the revision: %v", found, err, revised)
	}
	for _, s := range scenes {
		s.compareSides(tree)
	}
}

// compareSides compares a start of a scene in the clone with the sides of a comparison.
func (s *scene) compareSides(tree *revision.Tree) {
	module := ""
	if s.submodule != "" {
		module = s.read(s.submodule + "/d.toml")
	}
	s.dir = filepath.Join(s.dir, "../clone")
	if s.submodule != "" {
		s.write(s.submodule+"/d.toml", module)
	}
	sub, err := tree.Sub(path.Clean(s.at))
	if err != nil {
		s.Fatal(err)
	}
	start := s.compile(compiler.Options{})
	for side, res := range map[string]*Result{
		"the work tree": s.compile(compiler.Options{Layers: source.Request{Shared: true}}),
		"the revision":  s.compile(compiler.Options{Tree: sub, Layers: source.Request{Shared: true}}),
	} {
		if s.refused && side == "the revision" {
			if res.Program != nil && !res.Findings.Failed() {
				s.Errorf("%s: %v: the revision is not refused", s.at, s.kind)
			}
		} else if why := differ(start, res); why != "" {
			s.Errorf("%s: %s: %v: %s", s.at, side, s.kind, why)
		}
	}
}

func (s *scene) compile(o compiler.Options) *Result {
	s.Helper()
	o.Root = filepath.Join(s.dir, s.at)
	res, err := Compile(Options{Options: o, State: userdir.Dir(filepath.Join(s.dir, "../state")), Untested: true})
	if err != nil {
		s.Fatal(err)
	}
	return res
}

// differ says in which way a comparison's side differs from a start. A side that does not compile where the start does
// is refused, which hides nothing.
func differ(start, side *Result) string {
	if side.Program == nil {
		if start.Program == nil {
			return ""
		}
		return fmt.Sprintf("it does not compile: %v", side.Findings)
	}
	if start.Program == nil {
		return fmt.Sprintf("the start does not compile: %v", start.Findings)
	}
	if !slices.EqualFunc(start.Program.Tools, side.Program.Tools, compare.Same) {
		return "it has another policy"
	}
	return ""
}
