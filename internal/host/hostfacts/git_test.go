package hostfacts

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/ir"
)

// TestGitProtected: the files of the repository that git finds are protected wherever they lie.
// Cause: a .git that is a file was followed for nothing, so a tool wrote the configuration in the
// directory that it names, and the hooks in the one of core.hooksPath.
func TestGitProtected(t *testing.T) {
	whole := func(dir string) []string {
		return []string{dir + "/config", dir + "/config.lock", dir + "/config.worktree", dir + "/config.worktree.lock", dir + "/commondir",
			dir + "/branches", dir + "/remotes", dir + "/hooks", dir + "/sl/config",
			dir + "/info/attributes", dir + "/info/attributes.lock", dir + "/modules", dir + "/worktrees"}
	}
	inner := func(dir string) []string {
		return append(whole(dir), dir, dir+"/gitdir")
	}
	for name, c := range map[string]struct {
		files map[string]string
		links map[string]string
		want  []string
	}{
		"none":              {},
		"a plain directory": {files: map[string]string{".git/config": "[core]\n"}},
		"a git file":        {files: map[string]string{".git": "gitdir: ./.bare\n"}, want: append(whole(".bare"), ".git")},
		"a git file that leads out": {
			files: map[string]string{".git": "gitdir: /nowhere/x\n"}, want: []string{".git"},
		},
		"a worktree": {
			files: map[string]string{".git": "gitdir: x/worktrees/w", "x/worktrees/w/commondir": "../..\n"},
			want:  append(append(whole("x"), inner("x/worktrees/w")...), ".git"),
		},
		"a bare repository": {
			files: map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": ""}, want: whole("")},
		"half of a bare repository": {files: map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/x": ""}},
		"hooks elsewhere": {
			files: map[string]string{".git/config": "[CORE] hooksPath = conf/h # mine\n"}, want: []string{"conf/h"}},
		"hooks of one worktree": {
			files: map[string]string{".git/config.worktree": "[core]\nhookspath = \"./conf/h;\"\n"}, want: []string{"conf/h;"}},
		"includes": {
			files: map[string]string{
				".git/config": "[include]\n\tpath = ../conf/one\n[includeIf \"onbranch:x]\"]\npath = ../conf/two\n",
				"conf/one":    "[core]\nhooksPath = conf/h\n[include]\npath = one\n",
			},
			want: []string{"conf/h", "conf/one", "conf/one.lock", "conf/two", "conf/two.lock"},
		},
		"a symlink at the configuration": {
			files: map[string]string{"conf/c": "[core]\nhooksPath = conf/h\n", ".git/x": ""}, links: map[string]string{".git/config": "../conf/c"},
			want: []string{"conf/c", "conf/c.lock", "conf/h"},
		},
		// Cause: the second link was no protected path, and a tool let it lead to its own hooks.
		"symlinks over symlinks": {
			files: map[string]string{".git/config": "[core]\nhooksPath = by/h\n", "conf/h/x": ""},
			links: map[string]string{".git/info": "../a", "a": "b", "b": "conf", ".envrc": "c", "c": "conf/e", "by": "conf"},
			want:  []string{".git/info", "a", "b", "by", "c", "conf/attributes", "conf/attributes.lock", "conf/e", "conf/h"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(dir, file)
				must(t, os.MkdirAll(filepath.Dir(file), 0o755))
				must(t, os.WriteFile(file, []byte(text), 0o644))
			}
			for at, to := range c.links {
				must(t, os.Symlink(to, filepath.Join(dir, at)))
			}
			res, err := Compile(Options{Options: compiler.Options{Root: dir}})
			must(t, err)
			var got []string
			for _, p := range res.Protected(ir.NewTool("t")) {
				got = append(got, p.Path)
			}
			want := slices.Clone(c.want)
			for i := range want {
				want[i] = strings.TrimPrefix(want[i], "/")
			}
			slices.Sort(want)
			// A path below another protected path is not listed again.
			want = slices.DeleteFunc(want, func(p string) bool {
				return !strings.Contains(p, "/w") && slices.ContainsFunc(want, func(o string) bool { return strings.HasPrefix(p, o+"/") })
			})
			if !slices.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

// TestSettings reads configurations as git does (git-config(1)).
func TestSettings(t *testing.T) {
	for text, want := range map[string][]setting{
		"":                                         nil,
		"[core]\nhooksPath = a\n":                  {{"core.hookspath", "a"}},
		"[core]\r\n\thooksPath=a b \r\n":           {{"core.hookspath", "a b"}},
		"[core]\nbare\nhooksPath = a":              {{"core.hookspath", "a"}},
		"[core] # x \\\nhooksPath = a":             {{"core.hookspath", "a"}},
		"[core]\n; x = \\\nhooksPath = \"a#\"b":    {{"core.hookspath", "a#b"}},
		"[core]\nx = 1 # y \\\nhooksPath = a\\\nb": {{"core.x", "1"}, {"core.hookspath", "ab"}},
		"[a \"]\\\"\"]\nx = \\\"y\\\\":             {{"a.x", `"y\`}},
		"[a][core]x=y\n[":                          {{"core.x", "y"}},
		"[core]\n= x\n\\":                          {{"core.", "x"}},
	} {
		if got := settings(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
