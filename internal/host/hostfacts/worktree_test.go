//go:build unix

package hostfacts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/userdir"
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
		"more than is read": {change: func(at func(string) string, _ func(string, string)) {
			must(t, os.Truncate(at("main/.git/config"), source.MaxSize+1))
		}, secret: "config"},
		"more than is read in a file of the work tree": {change: func(at func(string) string, write func(string, string)) {
			write("main/.git/worktrees/w/config.worktree", "")
			must(t, os.Truncate(at("main/.git/worktrees/w/config.worktree"), source.MaxSize+1))
		}, secret: "worktrees/w/config.worktree"},
		"a FIFO": {change: func(at func(string) string, _ func(string, string)) {
			must(t, os.Remove(at("main/.git/config")))
			must(t, syscall.Mkfifo(at("main/.git/config"), 0o600))
		}, secret: "config"},
		"an included credential": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/config", "[includeIf \"onbranch:x\"]\n\tpath = more\n")
			write("main/.git/more", "[include]\n\tpath = again\n\tpath = again\n")
			write("main/.git/again", "[include]\n\tpath = more\n[http]\n\tcookieFile = c\n")
		}, secret: "again"},
		"an included file that is too large": {change: func(at func(string) string, write func(string, string)) {
			write("main/.git/config", "[include]\n\tpath = more\n")
			write("main/.git/more", "")
			must(t, os.Truncate(at("main/.git/more"), source.MaxSize+1))
		}, secret: "more"},
		"includes of nothing": {change: func(_ func(string) string, write func(string, string)) {
			write("main/.git/config", "[include]\n\tpath = none\n\tpath = /dev/null\n\tpath = objects\n")
		}, want: "worktrees/w " + shared},
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

// TestUnreadGuards: no tool starts if git's configuration may name hooks that accessc does not see.
// Cause: a file of more than 16 MiB named no hooks, and those of core.hooksPath were not protected.
func TestUnreadGuards(t *testing.T) {
	many := "[include]\n"
	for i := range mostConfigs {
		many += fmt.Sprintf("\tpath = f%d\n", i)
	}
	for name, change := range map[string]func(dir string){
		"the configuration": func(dir string) { must(t, os.Truncate(dir+"/.git/config", source.MaxSize+1)) },
		"of the work tree": func(dir string) {
			must(t, os.WriteFile(dir+"/.git/config.worktree", make([]byte, source.MaxSize+1), 0o600))
		},
		"an included file": func(dir string) { must(t, os.Truncate(dir+"/more", source.MaxSize+1)) },
		"an included FIFO": func(dir string) {
			must(t, os.Remove(dir+"/more"))
			must(t, syscall.Mkfifo(dir+"/more", 0o600))
		},
		"too many to be read": func(dir string) { must(t, os.WriteFile(dir+"/more", []byte(many), 0o600)) },
		"nothing of the sort": func(dir string) { must(t, os.Remove(dir+"/more")) },
		"the null device": func(dir string) {
			must(t, os.Remove(dir+"/more"))
			must(t, os.Symlink(os.DevNull, dir+"/more"))
		},
	} {
		dir := t.TempDir()
		must(t, os.Mkdir(dir+"/.git", 0o755))
		must(t, os.WriteFile(dir+"/.git/config", []byte("[include]\n\tpath = ../more\n"), 0o600))
		must(t, os.WriteFile(dir+"/more", nil, 0o600))
		must(t, os.WriteFile(dir+"/accessc.toml", []byte("[tools.x]\nsource = \"local\"\ncommand = \"true\"\n"), 0o600))
		change(dir)
		_, err := Compile(Options{Options: compiler.Options{Root: dir}, Resolve: true, State: userdir.Dir(t.TempDir())})
		if open := strings.HasPrefix(name, "nothing") || strings.HasPrefix(name, "the null"); open != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCredentials: a configuration that may hold a credential is known by each of its forms.
func TestCredentials(t *testing.T) {
	for text, want := range map[string]bool{
		"[remote \"o\"]\nurl = ftp://u:p@h/":                 true,
		"[svn-remote \"o\"]\nurl = svn+ssh://u:p@h/":         true,
		"[remote \"o\"]\nurl = SSH://u:p@h/":                 true,
		"[remote \"o\"]\nurl = https://u:\"p\"@h/":           true,
		"[remote \"o\"]\nurl = \"ht\"tps://u:p@h/":           true,
		"[remote \"o\"]\nurl = https://u:\\\np@h/":           true,
		"[remote \"o\"]\nurl = https://a1b2c3d4@h/":          true,
		"[remote \"o\"]\nurl = https://ghp_short1@h/":        true,
		"[url \"https:\\//u:p@h/\"]\ninsteadOf = x":          true,
		"[remote \"o\"]\nurl = https://h/?access_token=abc":  true,
		"[remote \"o\"]\nurl = https://h/?private_token=abc": true,
		"[http]\nproxy = socks5://u:p@h":                     true,
		"[http]\ncookieFile = c":                             true,
		"[HTTP \"https://h\"]\nEXTRAHEADER = x":              true,
		"[http]\nsslKey = k":                                 true,
		"[core]\nsshCommand = ssh -i ~/.ssh/k":               true,
		"[core]\nsshCommand = ssh -o IdentityFile=k":         true,
		"[core]\nsshCommand = sshpass -p x ssh":              true,
		"[alias]\nx = \"!curl -H 'Authorization: x' h\"":     true,
		"[alias]\nx = \"!curl -H 'X: Bearer abcdefgh' h\"":   true,
		"[x]\ny = glpat-abcdefgh":                            true,
		"[credential]\nhelper = !f":                          true, "[sendemail]\nsmtpPass = x": true,
		"[core": true, "[x]\ny = \"": true,

		"": false,
		"[core]\nbare = false\n[user]\nname = A\nemail = a@b.c\nsigningKey = ABC":      false,
		"[core]\nsshCommand = ssh -p 22":                                               false,
		"[remote \"o\"]\nurl = https://me@h/x\nfetch = +refs/heads/*:refs/remotes/o/*": false,
		"[remote \"o\"]\nurl = git@h:x/y.git":                                          false,
		"[remote \"o\"]\nurl = ssh://git@h/\npushurl = https://anna.b2@h/":             false,
		"[branch \"x\"]\ndescription = token: none\nmerge = refs/heads/key":            false,
		"[credential \"https://h\"]\nhelper = store\nusername = me":                    false,
		"[alias]\nl = log --format='%h %s' # key":                                      false,
		"[url \"ssh://org-12345@github.com/\"]\ninsteadOf = https://github.com/":       false,
	} {
		if got := holdsSecret(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
