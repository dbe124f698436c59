//go:build unix

package revision

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// TestNothingRuns: explain --diff once checked a revision out, and git started the programs
// that the repository named for that. Every way in which a repository names a program is set up
// to leave a mark, alone and with all others; the revision is read all the same.
func TestNothingRuns(t *testing.T) {
	traps := map[string]func(r repository, mark string){
		"filter": func(r repository, mark string) {
			for _, key := range []string{"clean", "smudge", "process"} {
				r.git("", "config", "filter.trap."+key, mark)
			}
			r.write(".git/info/attributes", "* filter=trap diff=trap\n")
		},
		"textconv": func(r repository, mark string) {
			r.git("", "config", "diff.trap.textconv", mark)
			r.git("", "config", "diff.trap.command", mark)
			r.git("", "config", "diff.external", mark)
			r.write(".git/info/attributes", "* filter=trap diff=trap\n")
		},
		"attributes": func(r repository, mark string) {
			r.write(".git/trap", "* filter=other\n")
			r.git("", "config", "core.attributesFile", filepath.Join(r.dir, ".git/trap"))
			r.git("", "config", "filter.other.smudge", mark)
		},
		"fsmonitor": func(r repository, mark string) {
			r.git("", "config", "core.fsmonitor", mark)
			r.git("", "config", "core.untrackedCache", "true")
		},
		"hooks": func(r repository, mark string) {
			r.git("", "config", "core.hooksPath", filepath.Join(r.dir, ".git/trap-hooks"))
			for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "post-rewrite"} {
				r.write(".git/trap-hooks/"+hook, "#!/bin/sh\n"+mark+"\n")
				r.write(".git/hooks/"+hook, "#!/bin/sh\n"+mark+"\n")
			}
		},
		"pager": func(r repository, mark string) {
			for _, key := range []string{"core.pager", "pager.rev-parse", "pager.cat-file", "core.editor", "sequence.editor"} {
				r.git("", "config", key, mark)
			}
		},
		"alias": func(r repository, mark string) {
			r.git("", "config", "alias.rev-parse", "!"+mark)
			r.git("", "config", "alias.cat-file", "!"+mark)
		},
		"include": func(r repository, mark string) {
			r.write(".git/more", "[core]\n\tfsmonitor = "+mark+"\n[protocol]\n\tallow = always\n")
			r.git("", "config", "include.path", "more")
		},
		"helpers": func(r repository, mark string) {
			for _, key := range []string{"credential.helper", "core.askPass", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand", "gpg.program", "uploadpack.packObjectsHook"} {
				r.git("", "config", key, mark)
			}
		},
	}
	for name, trap := range traps {
		t.Run(name, func(t *testing.T) { sprung(t, trap) })
	}
	t.Run("all", func(t *testing.T) {
		sprung(t, func(r repository, mark string) {
			for _, trap := range traps {
				trap(r, mark)
			}
		})
	})
}

func sprung(t *testing.T, trap func(r repository, mark string)) {
	r := newRepository(t)
	r.write("sub/a.toml", "old")
	id := r.commit()
	r.write("sub/a.toml", "new")
	r.commit()
	script, left := filepath.Join(filepath.Dir(r.dir), "mark"), filepath.Join(filepath.Dir(r.dir), "left")
	if err := testbuild.WriteFile(script, []byte("#!/bin/sh\necho \"$0 $@\" >>"+left+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	trap(r, script)
	for _, revision := range []string{id, "HEAD~1", "main^"} {
		tree, err := r.open("sub", revision)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(tree, "a.toml"); err != nil || string(data) != "old" {
			t.Errorf("%s: read %q, %v", revision, data, err)
		}
	}
	if text, err := os.ReadFile(left); err == nil {
		t.Errorf("the repository ran %s", text)
	}
}

// TestLazyFetch: an object that a partial clone lacks is fetched by git in silence, by
// uploadpack or an ext:: address of the repository's choice, and protocol.ext.allow in the
// repository wins over protocol.allow on the command line.
func TestLazyFetch(t *testing.T) {
	for _, remote := range []string{"ext", "upload"} {
		t.Run(remote, func(t *testing.T) {
			r := newRepository(t)
			r.write("a.toml", "text")
			id := r.commit()
			left := filepath.Join(filepath.Dir(r.dir), "left")
			for key, value := range map[string]string{
				"extensions.partialClone": "far", "core.repositoryFormatVersion": "1", "remote.far.promisor": "true",
				"protocol.allow": "always", "protocol.ext.allow": "always", "protocol.file.allow": "always",
				"remote.far.url":        map[string]string{"ext": "ext::sh -c touch% " + left, "upload": "file://" + r.dir}[remote],
				"remote.far.uploadpack": "touch " + left + " #",
			} {
				r.git("", "config", key, value)
			}
			blob := r.git("", "rev-parse", "HEAD:a.toml")
			if err := os.Remove(filepath.Join(r.dir, ".git/objects", blob[:2], blob[2:])); err != nil {
				t.Fatal(err)
			}
			// The trap is one: git itself walks into it.
			cmd := exec.Command("git", "-C", r.dir, "cat-file", "blob", blob)
			_ = cmd.Run()
			if _, err := os.Stat(left); err != nil {
				t.Fatal("this git does not fetch what is missing")
			}
			os.Remove(left)

			tree, err := r.open("", id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fs.ReadFile(tree, "a.toml"); err == nil || !strings.Contains(err.Error(), "lacks the object") {
				t.Errorf("got %v", err)
			}
			_, _ = r.open("", strings.Repeat("12", 20)) // a commit that is not there
			if _, err := os.Stat(left); err == nil {
				t.Error("the repository ran a program")
			}
		})
	}
}

// TestModes: modes that git does not write, and reads by their bits, are not guessed at. Cause: a symlink of such a mode,
// or a submodule, was a file in comparisons.
func TestModes(t *testing.T) {
	r := newRepository(t)
	blob, tree := r.blob("x"), r.git("", "hash-object", "-w", "-t", "tree", "/dev/null")
	known := map[string]fs.FileMode{
		"40000": fs.ModeDir, "040000": fs.ModeDir, "100644": 0, "100755": 0, "100664": 0,
		"120000": fs.ModeSymlink, "160000": fs.ModeDir,
	}
	modes := []string{
		"120777", "10644", "0", "1", "644", "20644", "60644", "140000", "160644", "170644", "777777777", "40755", "0100644", "0120000",
		"100645", "100600", "100777", "120644", "0160000", "", "-100644", "0x40", "00040000", "1006440", "7777777777777777777777",
	}
	for mode := range known {
		modes = append(modes, mode)
	}
	for _, mode := range modes {
		id := blob
		if strings.Contains(mode, "4000") {
			id = tree
		}
		kind, ok := known[mode]
		top, err := r.open("", r.made(r.entry("100644", "a", blob), r.entry(mode, "z.toml", id)))
		if err != nil {
			t.Fatal(err)
		}
		info, err := top.Lstat("z.toml")
		if !ok && (err == nil || !strings.Contains(err.Error(), "z.toml")) || ok && (err != nil || info.Mode().Type() != kind) {
			t.Errorf("%q: %v, %v", mode, info, err)
		}
		if _, err := top.ReadDir("."); ok != (err == nil) {
			t.Errorf("%q: the directory: %v", mode, err)
		}
	}
}

// TestNothingIsExchanged: replace refs, grafts, variables and core.worktree say that a
// revision or its place is another.
func TestNothingIsExchanged(t *testing.T) {
	r := newRepository(t)
	r.write("a.toml", "decoy")
	r.write("ws/a.toml", "decoy")
	decoy := r.commit()
	r.write("a.toml", "true")
	id := r.commit()
	r.write("a.toml", "last")
	last := r.commit()
	r.git("", "replace", id, decoy)
	r.write(".git/info/grafts", last+" "+decoy+"\n")
	r.git("", "config", "core.worktree", filepath.Dir(r.dir))
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_EXEC_PATH"} {
		t.Setenv(name, filepath.Dir(r.dir))
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.worktree")
	t.Setenv("GIT_CONFIG_VALUE_0", "/")
	for _, revision := range []string{id, last + "~1"} {
		tree, err := r.open("", revision)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(tree, "a.toml"); err != nil || string(data) != "true" {
			t.Errorf("%s: read %q, %v", revision, data, err)
		}
	}
}

// TestForgedObject: a loose object has the content of its name, or reading is an error. git
// does not check.
func TestForgedObject(t *testing.T) {
	r := newRepository(t)
	r.write("a.toml", "true")
	id := r.commit()
	object := func(text string) string {
		blob := r.git(text, "hash-object", "-w", "--stdin")
		return filepath.Join(r.dir, ".git/objects", blob[:2], blob[2:])
	}
	forged, err := os.ReadFile(object("forged"))
	if err != nil {
		t.Fatal(err)
	}
	file := object("true")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, forged, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := r.open("", id)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(tree, "a.toml"); err == nil {
		t.Errorf("read %q", data)
	}
	if _, err := fs.ReadFile(tree, "a.toml"); err == nil {
		t.Error("after a failure the stream stands anywhere")
	}
}

// TestProgramOfTheWorkTree: a git that lies in the work tree is not the user's.
func TestProgramOfTheWorkTree(t *testing.T) {
	r := newRepository(t)
	r.write("a", "")
	r.commit()
	left := filepath.Join(filepath.Dir(r.dir), "left")
	r.write("node_modules/.bin/git", "#!/bin/sh\ntouch "+left+"\n")
	link := filepath.Join(filepath.Dir(r.dir), "bin")
	if err := os.Symlink(filepath.Join(r.dir, "node_modules/.bin"), link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(r.dir, "node_modules/.bin")+":"+link+":.:"+os.Getenv("PATH"))
	if _, err := r.open("", "HEAD"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("the work tree's git ran")
	}
}
