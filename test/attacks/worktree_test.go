//go:build linux

package attacks_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// linked makes the workspace a linked work tree of a repository outside, and gives its tool a rule on a place there.
func linked(mount string) func(*place) {
	return func(p *place) {
		linkedAlone(p)
		reach(p, mount)
	}
}

func linkedAlone(p *place) {
	main := p.outside + "/main"
	p.git("init", "-q", "-b", "main", main)
	p.git("-C", main, "-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "one")
	p.git("-C", main, "worktree", "add", "-q", p.outside+"/w")
	p.git("-C", main, "worktree", "add", "-q", p.outside+"/other")
	p.write("src/f", "fine")
	p.write(".git", "gitdir: "+main+"/.git/worktrees/w\n")
	p.write(main+"/.git/worktrees/w/gitdir", p.ws+"/.git\n")
}

// reach has the tool write in a place outside, by a rule of its own.
func reach(p *place, mount string) {
	p.symlink(p.outside+mount, "reach")
	p.approve("reach")
	const rule = `access.fs = [{ path = "reach", external = true, read = true, write = true }, `
	rules := strings.Replace(granted, "access.fs = [", rule, 1)
	p.write("accessc.toml", "[tools.t]\nsource = \"local\"\ncommand = \"bin/tool\"\n"+rules)
}

// TestRepositoryElsewhere: the files by which git starts programs stay as they are also where a rule leads to the
// repository of the workspace or is around it. Cause: only places of the workspace were protected, so a mount of the
// common directory of a linked work tree opened its hooks and configuration.
func TestRepositoryElsewhere(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	own := under("main/.git/worktrees/w/", "config.worktree", "commondir", "gitdir", "hooks/x", "config")
	both := append(under("main/.git/", "hooks/post-commit", "config", "config.lock", "config.worktree", "info/attributes",
		"modules/m/config", "worktrees/other/config.worktree", "worktrees/new/commondir"), own...)
	super := append(under("super/.git/", "hooks/x", "config", "info/attributes"),
		under("super/.git/modules/m/", "config", "hooks/x")...)
	for _, c := range []struct {
		name, mount string
		files       []string
		good        string
		setup       func(*place)
	}{
		{"the common directory", "/main/.git", both, "main/.git/worktrees/w/index.lock", linked("/main/.git")},
		{"a directory around it", "/main", both, "main/.git/objects/x", linked("/main")},
		{"the work tree's directory", "/main/.git/worktrees/w", own, "main/.git/worktrees/w/HEAD.lock",
			linked("/main/.git/worktrees/w")},
		{"hooks elsewhere", "", []string{"hooks/pre-commit", "more/config", "more/config.lock"}, "more/x", func(p *place) {
			p.make(p.outside + "/hooks")
			p.make(p.outside + "/more")
			linked("")(p)
			p.git("-C", p.outside+"/main", "config", "core.hooksPath", p.outside+"/hooks")
			p.git("-C", p.outside+"/main", "config", "include.path", p.outside+"/more/config")
		}},
		{"a submodule", "/super", super, "super/.git/modules/m/index.lock", func(p *place) {
			p.git("init", "-q", p.outside+"/super")
			p.make(p.outside + "/super/.git/modules")
			p.git("init", "-q", "--separate-git-dir", p.outside+"/super/.git/modules/m", p.outside+"/m")
			p.write(".git", "gitdir: "+p.outside+"/super/.git/modules/m\n")
			reach(p, "/super")
		}},
		{"a repository around the workspace", "", under("repo/.git/", "hooks/x", "config"), "repo/beside", func(p *place) {
			p.git("init", "-q", p.outside+"/repo")
			p.must(os.Rename(p.ws, p.outside+"/repo/ws"))
			p.ws = p.outside + "/repo/ws"
			reach(p, "/repo")
		}},
	} {
		for user, uid := range players(c.mount == "/main") {
			t.Run(c.name+" as "+user, func(t *testing.T) {
				t.Parallel()
				elsewhere(t, c.files, c.good, c.setup, uid)
			})
		}
	}
}

func under(dir string, names ...string) (out []string) {
	for _, n := range names {
		out = append(out, dir+n)
	}
	return out
}

// elsewhere has a tool write files outside that it may not, and one that it may.
func elsewhere(t *testing.T, files []string, good string, setup func(*place), uid int) {
	p := newPlace(t, scene{tool: "#!/bin/sh\n", toml: granted, setup: setup}, accessc(t), uid)
	at := func(name string) string { return p.outside + "/" + name }
	var script strings.Builder
	script.WriteString("#!/bin/sh\n")
	for _, f := range append([]string{good}, files...) {
		fmt.Fprintf(&script, "mkdir -p $(dirname %[1]s)\n{ echo evil >%[1]s; } 2>/dev/null\n", at(f))
		fmt.Fprintf(&script, "echo evil >x; ln x %[1]s; mv -f x %[1]s\n", at(f))
	}
	p.write("bin/tool", script.String())
	out, err := p.command(t.Context(), "exec", "-C", p.ws, "--no-prompt", "t").CombinedOutput()
	for _, f := range files {
		if data, _ := os.ReadFile(at(f)); strings.Contains(string(data), "evil") {
			t.Errorf("%s was written", f)
		}
	}
	if data, _ := os.ReadFile(at(good)); string(data) != "evil\n" {
		t.Errorf("the control was not written: %v\n%s", err, out)
	}
	explained, err := p.command(t.Context(), "explain", "-C", p.ws, "t").CombinedOutput()
	if err != nil || !strings.Contains(string(explained), "of this repository in ") {
		t.Errorf("explain: %v\n%s", err, explained)
	}
}

// TestBranches: git records the branches that it makes, and nothing else in its configuration. Cause: the lock of the
// configuration was refused, so git made a branch that tracks another one and stopped before it switched: the next
// commit went to the old branch.
func TestBranches(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	run(t, []scene{{
		name: "branches in the configuration",
		toml: granted,
		setup: func(p *place) {
			p.git("init", "-q", "-b", "main", ".")
			p.git("-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "one")
			p.git("init", "-q", "--bare", "src/up")
			p.git("remote", "add", "origin", "src/up")
			p.git("push", "-q", "origin", "main", "main:dev")
			p.git("fetch", "-q")
		},
		denied:  []string{"update .git/config", "create .git/config.lock"},
		allowed: []string{"create .git/index"},
		tool:    branches,
		good:    []string{"feat", "dev", "renamed", "removed", "pushed", "by hand", "given up", "again"},
		verdict: func(t *testing.T, p *place, out string) {
			unasked(t, p, out)
			text, _ := os.ReadFile(p.path(".git/config"))
			_, err := os.Lstat(p.path(".git/config.lock"))
			if err == nil || !strings.Contains(string(text), "[branch \"hand\"]") {
				t.Errorf("%v, and the configuration is\n%s", err, text)
			}
		},
	}})
}

// branches has git set variables of branches, and tries what a lock can be misused for.
const branches = `#!/bin/bash
on() { test "$(git symbolic-ref --short HEAD)" = $1 && echo GOOD $1; }
git checkout -q -b feat origin/main && on feat; git checkout -q dev && on dev; git checkout -q main
git branch -m feat other && git config branch.other.merge >/dev/null && echo GOOD renamed
git branch -q -D other && echo GOOD removed
git push -q -u origin main && git config branch.main.remote >/dev/null && echo GOOD pushed
evil() { printf '[core]\n\tfsmonitor = "touch %s/ran; false"\n' "$PWD"; }
exec 2>/dev/null
git config core.fsmonitor "touch $PWD/ran; false" && echo LEAK git
git config 'branch.a"][core]fsmonitor=touch ran;\.remote' origin && echo LEAK head
git config branch.main.remote "ext::touch $PWD/ran" && echo LEAK remote
git remote add evil "ext::touch $PWD/ran" && echo LEAK remote
for f in "ln -s $PWD/x" "mkdir" "mkfifo" "ln x"; do $f .git/config.lock && echo LEAK $f; done
set -C
exec 9>.git/config.lock && { cat .git/config; printf '[branch "hand"]\n\trebase = true\n'; } >&9
evil >src/evil
for f in "mv .git/config.lock src/l" "ln .git/config.lock src/l" "mv src/evil .git/config.lock" \
  "mv .git/config.lock .git/config.worktree"; do
  $f && echo LEAK $f
done
{ evil >>.git/config.lock; } && echo LEAK written
mv -T .git/config.lock .git/config && echo GOOD by hand
evil >&9; evil >/proc/self/fd/9
exec 9>.git/config.lock; cat .git/config >&9; evil >&9
mv -T .git/config.lock .git/config && echo LEAK judged
for head in '[branch "a"][core]fsmonitor = "touch ran; false" #\"]' '[branch "a"] [alias]x = y #\"]'; do
  exec 9>&-; rm -f .git/config.lock; exec 9>.git/config.lock; { cat .git/config; echo "$head"; } >&9
  mv -T .git/config.lock .git/config && echo LEAK head
done
rm .git/config.lock && echo GOOD given up
exec 9>.git/config.lock && echo GOOD again
git status >/dev/null
`

// TestLinkedReads: git answers questions in a linked work tree, whose repository is elsewhere, and the tool reads and
// writes nothing else there.
func TestLinkedReads(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	run(t, []scene{{
		name: "reading a repository elsewhere",
		toml: granted, setup: linkedAlone, good: []string{"status", "log"},
		denied: []string{"update %/main/.git/HEAD", "read %/main/.git/hooks/pre-commit.sample",
			"read %/main/.git/worktrees/other/HEAD"},
		allowed: []string{"read %/main/.git/HEAD", "read %/main/.git/worktrees/w/HEAD"},
		tool: "#!/bin/sh\ngit status --short >/dev/null && echo GOOD status\n" +
			"git log --oneline >/dev/null && echo GOOD log\n" +
			"main=$(git rev-parse --git-common-dir)\nexec 2>/dev/null\n" +
			"for f in hooks/pre-commit.sample worktrees/other/HEAD description; do cat $main/$f && echo LEAK $f; done\n" +
			"for f in HEAD index refs/heads/x config worktrees/w/index.lock; do echo x >>$main/$f && echo LEAK $f; done\ntrue\n",
	}, {
		name: "writing after one approval",
		toml: strings.Replace(granted, "[", "[{ path = \".git/common\", external = true, read = true, write = true }, ", 1),
		setup: func(p *place) {
			linkedAlone(p)
			p.approve(".git/common")
		},
		good: []string{"commit", "branch", "record"},
		denied: []string{"update .git/common/config", "create .git/common/hooks/x", "create .git/common/worktrees/other/x",
			"update .git/common/HEAD", "create .git/common/index.lock", "create .git/common/rebase-merge/git-rebase-todo"},
		allowed: []string{"create .git/common/objects/x", "create .git/common/worktrees/w/index.lock"},
		tool: "#!/bin/sh\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a\n" +
			"git add src && git commit -q --allow-empty -m two && echo GOOD commit\n" +
			"git checkout -q -b x && echo GOOD branch\ngit config branch.x.remote . && echo GOOD record\n" +
			"main=$(git rev-parse --git-common-dir)\nexec 2>/dev/null\ngit config core.fsmonitor x && echo LEAK config\n" +
			"for f in hooks/x config worktrees/other/HEAD worktrees/w/config.worktree HEAD index HEAD.lock logs/HEAD MERGE_MSG; do\n" +
			"echo x >>$main/$f && echo LEAK $f; done\nmkdir $main/sequencer && echo LEAK sequencer\n" +
			"echo x >src/h; mv src/h $main/HEAD && echo LEAK moved\n" +
			"true\n",
	}})
}
