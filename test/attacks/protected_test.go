//go:build linux

package attacks_test

import (
	"os"
	"os/exec"
	"testing"
)

// granted are operations that the default policy permits.
const granted = `access.fs = [{ path = ".", read = true, write = true }, { path = "bin", read = true, execute = true }]`

// Files that the host makes protected ones of, and repositories that git would find.
func TestRepositories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	const fsmonitor = `printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = %s\n\tfsmonitor = "touch %s/ran; false"\n' "$PWD" "$PWD" >`
	run(t, []scene{
		{
			name:    "names that become protected files",
			denied:  []string{"create .git/config.lock", "link .git/config.lock src/hl", "create access/.accessc/s/new0"},
			allowed: []string{"create .git/index.lock", "create access/t/context.json"},
			setup:   func(p *place) { p.mkdir(".git"); p.mkdir("access/.accessc/s"); p.fifo("src/lap") },
			tool:    "locks",
			host:    replace,
			good:    []string{"hold what becomes the index"},
		},
		{
			name:    "the root becomes a bare repository",
			toml:    granted,
			denied:  []string{"create HEAD", "rename src HEAD"},
			allowed: []string{"create config", "create objects"},
			tool: "#!/bin/sh\nmkdir objects refs\necho 'ref: refs/heads/main' >head\n{ echo 'ref: refs/heads/main' >HEAD; } 2>/dev/null\n" +
				"ln head HEAD 2>/dev/null\nln -s refs/heads/main HEAD 2>/dev/null\nmv head HEAD 2>/dev/null\n" + fsmonitor + "config && echo GOOD config\n",
			good:    []string{"config"},
			verdict: unasked,
		},
		{
			name: "the directory of a git file",
			toml: granted,
			setup: func(p *place) {
				p.git("init", "-q", "--bare", ".bare")
				p.write(".git", "gitdir: ./.bare\n")
			},
			denied:  []string{"update .bare/config", "create .bare/config.lock", "create .bare/hooks/pre-commit", "update .git", "rename .bare src", "delete .git"},
			allowed: []string{"update .bare/HEAD", "create .bare/index"},
			tool: "#!/bin/sh\n{ " + fsmonitor + ".bare/config; } 2>/dev/null\nmv .bare src 2>/dev/null && echo LEAK moved\n" +
				"echo x >.bare/description && echo GOOD create\n",
			good:    []string{"create"},
			verdict: unasked,
		},
		{
			name: "symlinks over symlinks",
			toml: granted,
			setup: func(p *place) {
				p.git("init", "-q", ".")
				p.git("config", "core.hooksPath", "by/h")
				p.write("conf/h/x", "fine")
				p.write("conf/e", "fine")
				p.symlink("conf", "by")
				p.symlink("c", ".envrc")
				p.symlink("conf/e", "c")
				p.must(os.RemoveAll(p.path(".git/info")))
				p.symlink("../by", ".git/info")
			},
			denied:  []string{"delete by", "rename by src", "delete c", "create conf/h/pre-commit", "update conf/e", "create conf/attributes"},
			allowed: []string{"create conf/other", "create .git/index"},
			tool: "#!/bin/sh\nmkdir mine mine/h\nfor n in by c .git/info .envrc; do { rm -f $n || ln -sfn mine $n || mv -T mine $n; } 2>/dev/null && echo LEAK $n\ndone\n" +
				"for n in by/h/pre-commit .git/info/attributes c; do { echo evil >$n; } 2>/dev/null && echo LEAK $n\ndone\necho x >by/other && echo GOOD create\n",
			good: []string{"create"},
		},
		{
			name: "work with git",
			toml: granted,
			setup: func(p *place) {
				p.write("src/a", "fine")
				p.git("init", "-q", "-b", "main", ".")
				p.git("init", "-q", "--bare", "-b", "main", "up")
			},
			denied:  []string{"update .git/config"},
			allowed: []string{"create .git/index", "create .git/HEAD.lock"},
			tool: "#!/bin/sh\nset -e\nexport GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a\n" +
				"git add src && git commit -q -m one && git checkout -q -b topic && echo b >src/b && git add . && git commit -q -m two\n" +
				"git push -q ./up topic && git checkout -q main && git fetch -q ./up topic && git merge -q FETCH_HEAD\n" +
				"echo c >>src/b && git stash -q && git stash pop -q && git tag v1 && git rebase -q --autostash topic && git gc -q\n" +
				"test -f src/b && echo GOOD work\n",
			good: []string{"work"},
		},
	})
}

// Files that decide which programs run outside of the sandbox are not written by a grant around
// them, also where git and the user have them elsewhere: SECURITY.md promises it without
// exceptions.
func TestProtected(t *testing.T) {
	for _, c := range []struct {
		name, file string
		setup      func(*place)
	}{
		{"the .git of a worktree", ".git", func(p *place) { p.write(".git", "gitdir: "+p.outside+"/main/.git/worktrees/w\n") }},
		{"the target of .git", "repo/config", func(p *place) { p.write("repo/config", "[core]\n"); p.symlink("repo", ".git") }},
		{"the target of .envrc", "conf/envrc", func(p *place) { p.write("conf/envrc", "true\n"); p.symlink("conf/envrc", ".envrc") }},
		{"the lock of the target of .git/config", "conf/c.lock", func(p *place) { p.write("conf/c", "[core]\n"); p.mkdir(".git"); p.symlink("../conf/c", ".git/config") }},
		{"hooks elsewhere", "conf/h/pre-commit", func(p *place) { p.write(".git/config", "[core]\nhooksPath = conf/h\n"); p.mkdir("conf/h") }},
		{"an included configuration", "conf/c", func(p *place) { p.write(".git/config", "[include]\npath = ../conf/c\n"); p.mkdir("conf") }},
		// git push runs the hooks of the repository that such a file names.
		{"a remote in an old form", ".git/remotes/origin", func(p *place) { p.mkdir(".git/remotes") }},
		{"a remote in the oldest form", ".git/branches/origin", func(p *place) { p.mkdir(".git/branches") }},
		{"the target of .claude", "conf/claude/settings.json", func(p *place) { p.write("conf/claude/settings.json", "{}\n"); p.symlink("conf/claude", ".claude") }},
	} {
		for user, uid := range players(false) {
			t.Run(c.name+" as "+user, func(t *testing.T) { guarded(t, c.file, c.setup, uid) })
		}
	}
}

// guarded has a tool write a file that it may not, and one that it may.
func guarded(t *testing.T, file string, setup func(*place), uid int) {
	p := newPlace(t, scene{tool: "#!/bin/sh\necho evil >" + file + "\necho fine >fine\n", toml: granted, setup: setup}, accessc(t), uid)
	out, err := p.command(t.Context(), "exec", "-C", p.ws, "--no-prompt", "t").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if data, _ := os.ReadFile(p.path("fine")); string(data) != "fine\n" {
		t.Errorf("the control was not written\n%s", out)
	}
	if data, _ := os.ReadFile(p.path(file)); string(data) == "evil\n" {
		t.Errorf("%s was written", file)
	}
	p.ask(t, []string{"update " + file}, nil)
}
