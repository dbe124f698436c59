//go:build unix

package hostfacts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/ir"
)

// TestRepository: a repository elsewhere is read if it names the workspace as its work tree, and nothing else is.
// Cause: no git command worked in a linked work tree; a .git that anybody can write must not open a directory.
func TestRepository(t *testing.T) {
	const shared = "HEAD config info objects refs"
	for name, c := range map[string]struct {
		change func(at func(string) string, write func(name, text string))
		want   string
		secret string
	}{
		"a linked work tree": {want: "worktrees/w " + shared},
		"with relative paths": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/worktrees/w/gitdir", "../../../../ws/.git\n")
			write("ws/.git", "gitdir: ../main/.git/worktrees/w\n")
		}, want: "worktrees/w " + shared},
		"a submodule": {change: func(_ func(string) string, write func(string, string)) {
			write("ws/.git", "gitdir: ../main/.git\n")
			write("main/.git/config", "[core]\n\tworktree = ../../ws\n")
		}, want: shared},
		"another's submodule": {change: func(_ func(string) string, write func(string, string)) {
			write("ws/.git", "gitdir: ../main/.git\n")
			write("main/.git/config", "[core]\n\tworktree = ../../other\n")
		}},
		"any directory": {change: func(_ func(string) string, write func(string, string)) {
			write("ws/.git", "gitdir: ../keys\n")
			write("keys/id", "secret")
		}},
		"another's work tree": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/worktrees/w/gitdir", "../../../../other/.git\n")
			write("other/.git", "gitdir: ../main/.git/worktrees/w\n")
		}},
		"no way back": {change: func(at func(string) string, _ func(string, string)) {
			must(t, os.Remove(at("main/.git/worktrees/w/gitdir")))
		}},
		"a way back over a symlink": {change: func(at func(string) string, write func(string, string)) {
			write("back", at("ws")+"/.git\n")
			must(t, os.Remove(at("main/.git/worktrees/w/gitdir")))
			must(t, os.Symlink(at("back"), at("main/.git/worktrees/w/gitdir")))
		}},
		"a common directory elsewhere": {change: func(_ func(string) string, write func(string, string)) {
			write("own/worktrees/w/gitdir", "../../../ws/.git\n")
			write("own/worktrees/w/commondir", "../../../main/.git\n")
			write("ws/.git", "gitdir: ../own/worktrees/w\n")
		}},
		"a symlink among the parts": {change: func(at func(string) string, write func(string, string)) {
			write("keys/id", "secret")
			must(t, os.RemoveAll(at("main/.git/objects")))
			must(t, os.Symlink(at("keys"), at("main/.git/objects")))
		}, want: "worktrees/w HEAD config info refs"},
		"a directory that all may write": {change: func(at func(string) string, _ func(string, string)) {
			must(t, os.Chmod(at("main/.git/worktrees/w"), 0o777))
		}},
		"a symlink at .git": {change: func(at func(string) string, write func(string, string)) {
			must(t, os.Rename(at("ws/.git"), at("gitfile")))
			must(t, os.Symlink(at("gitfile"), at("ws/.git")))
		}},
		"a token in a URL": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/config", "[remote \"o\"]\n\turl = https://x:y@example.com/\n")
		}, secret: "config"},
		"a token in a section": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/config", "[url \"https://ghp_0123456789abcdef0123@example.com/\"]\n\tinsteadOf = x:\n")
		}, secret: "config"},
		"a header": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/worktrees/w/config.worktree", "[http \"https://x.example/\"]\n\textraHeader = AUTHORIZATION: x\n")
		}, secret: "worktrees/w/config.worktree"},
		"a user without a token": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/config", "[remote \"o\"]\n\turl = https://me@x.example/\n\tpushurl = ssh://git@x.example/\n")
		}, want: "worktrees/w " + shared},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			at := func(name string) string { return filepath.Join(dir, name) }
			write := func(name, text string) {
				must(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
				must(t, os.WriteFile(at(name), []byte(text), 0o644))
			}
			for name, text := range map[string]string{
				"HEAD": "ref: refs/heads/main\n", "config": "[core]\n", "objects/x": "", "refs/x": "", "info/exclude": "",
				"hooks/pre-commit": "", "modules/m/config": "", "worktrees/w/commondir": "../..\n",
				"worktrees/w/gitdir": at("ws") + "/.git\n", "worktrees/w/HEAD": "", "worktrees/other/HEAD": "", "description": "",
			} {
				write("main/.git/"+name, text)
			}
			write("main/file", "")
			write("ws/.git", "gitdir: "+at("main/.git/worktrees/w")+"\n")
			if c.change != nil {
				c.change(at, write)
			}
			res, err := Compile(Options{Options: compiler.Options{Root: at("ws")}})
			must(t, err)
			repo := res.Repository()
			if got := strings.Join(repo.Parts(), " "); got != c.want {
				t.Errorf("reads %q, want %q", got, c.want)
			}
			if repo != nil && strings.TrimPrefix(repo.Secret, at("main/.git")+"/") != c.secret || repo == nil && c.secret != "" {
				t.Errorf("%+v, and the secret is in %q", repo, c.secret)
			}
			if repo != nil && slices.ContainsFunc(repo.Rules, func(r ir.FSRule) bool { return r.Caps&^ir.Caps(ir.Read) != 0 }) {
				t.Errorf("%+v grants more than reading", repo.Rules)
			}
		})
	}
}
