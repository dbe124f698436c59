package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/testbuild"
)

// used are the programs that install.sh cannot do without; it has a choice of the others.
var used = []string{"sh", "uname", "mktemp", "rm", "cut", "awk", "tar", "gzip", "cp", "chmod", "mv", "mkdir", "cat", "grep", "tail"}

// having is a directory with some programs.
func having(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append(programs, used...) {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is missing", name)
		}
		if err := os.Symlink(file, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// install runs a text of install.sh, and returns what it says and what it installs. It leaves nothing else.
func install(t *testing.T, script, path string, args ...string) (said, installed string) {
	t.Helper()
	dir := t.TempDir()
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "temp")
	for _, d := range []string{home, temp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "install.sh")
	if err := testbuild.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", append([]string{file}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "TMPDIR=" + temp, "PATH=" + path}
	out, err := cmd.CombinedOutput()
	left, _ := filepath.Glob(temp + "/*")
	if len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	files, _ := filepath.Glob(home + "/.local/bin/*")
	hidden, _ := filepath.Glob(home + "/.local/bin/.*")
	if len(hidden) > 0 || (err == nil) != (len(files) == len(programs)) {
		t.Errorf("%v with %v, %v: %s", err, files, hidden, out)
	}
	if len(files) > 0 {
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		installed = string(text)
	}
	return string(out), installed
}

// TestInstall: install.sh installs what the release's key has signed, by whichever program can check it, and nothing that was
// cut off, changed, signed by another or of another release.
func TestInstall(t *testing.T) {
	r := fake(t, "1.2.3", 1)
	older, others := fake(t, "1.2.2", 1), fake(t, "1.2.3", 2)
	script := string(read(t, r.out, "install.sh"))
	archive := r.archive(platforms[0])
	changed := func(name string) []byte { return append(read(t, r.out, name), '\n') }
	forged := strings.Replace(string(read(t, r.out, checksumsFile)), sums(t, r.out)[archive], strings.Repeat("0", 64), 1)
	both, all := having(t, "sha256sum", "curl", "ssh-keygen", "openssl"), []string{"sha256sum", "curl"}
	opensslOnly, keygenOnly := having(t, append(all, "openssl")...), having(t, append(all, "ssh-keygen")...)
	for _, c := range []struct {
		name string
		// served are other texts of files; cut is a file whose connection ends early.
		served map[string][]byte
		cut    string
		path   string
		args   []string
		// says is what a refusal says, empty if it installs.
		says string
	}{
		{name: "whole", path: both},
		{name: "by openssl", path: opensslOnly},
		{name: "by ssh-keygen", path: keygenOnly},
		{name: "by wget and openssl alone", path: having(t, "wget", "openssl")},
		{name: "nothing checks the signature", path: having(t, all...), says: "nothing here can check the signature"},
		{name: "unsigned is accepted", path: having(t, all...), args: []string{"--accept", "unsigned"}},
		{name: "a wrong signature is not unsigned", path: both, args: []string{"--accept", "unsigned"},
			served: map[string][]byte{checksumsFile: []byte(forged)}, says: "not one of the release's key"},
		{name: "changed archive", path: both, served: map[string][]byte{archive: changed(archive)}, says: "another checksum"},
		{name: "changed archive, unsigned", path: having(t, all...), args: []string{"--accept", "unsigned"},
			served: map[string][]byte{archive: changed(archive)}, says: "another checksum"},
		{name: "cut archive", path: both, cut: archive, says: "not fetched whole"},
		{name: "cut archive, by wget", path: having(t, "wget", "openssl"), cut: archive, says: "not fetched whole"},
		{name: "short archive", path: both, served: map[string][]byte{archive: read(t, r.out, archive)[:100]}, says: "another checksum"},
		{name: "changed checksums, openssl", path: opensslOnly, served: map[string][]byte{checksumsFile: []byte(forged)}, says: "(openssl)"},
		{name: "changed checksums, ssh-keygen", path: keygenOnly, served: map[string][]byte{checksumsFile: []byte(forged)}, says: "(ssh-keygen)"},
		{name: "signed by another, openssl", path: opensslOnly, served: all3(t, others, archive), says: "(openssl)"},
		{name: "signed by another, ssh-keygen", path: keygenOnly, served: all3(t, others, archive), says: "(ssh-keygen)"},
		{name: "no signature", path: both, served: map[string][]byte{signatureFile: nil}, says: "not fetched whole"},
		{name: "an empty signature", path: opensslOnly, served: map[string][]byte{signatureFile: []byte("\n")}, says: "(openssl)"},
		{name: "older release", path: both, served: all3(t, older, archive), says: "of another release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				name := strings.TrimPrefix(req.URL.Path, "/")
				text, other := c.served[name]
				if !other {
					text = read(t, r.out, name)
				}
				switch {
				case text == nil:
					http.NotFound(w, req)
				case name == c.cut:
					w.Header().Set("Content-Length", "1000000")
					w.Write(text[:len(text)/2])
				default:
					w.Write(text)
				}
			}))
			defer server.Close()
			said, installed := install(t, script, c.path, append(c.args, "--from", server.URL)...)
			switch {
			case c.says != "" && (installed != "" || !strings.Contains(said, c.says)):
				t.Errorf("got %q, expected %q", said, c.says)
			case c.says == "" && !strings.Contains(installed, "accessc 1.2.3 linux/"):
				t.Errorf("installed %q: %s", installed, said)
			case len(c.args) > 0 && c.says == "" && !strings.Contains(said, "the signature was not checked"):
				t.Errorf("it does not say what it did not check: %s", said)
			}
		})
	}
}

// all3 are the archive of a platform and what checks it, from another release.
func all3(t *testing.T, r *release, archive string) map[string][]byte {
	return map[string][]byte{checksumsFile: read(t, r.out, checksumsFile), signatureFile: read(t, r.out, signatureFile),
		archive: read(t, r.out, r.archive(platforms[0]))}
}

// TestInstallCutOff: of a script that did not arrive whole nothing runs.
func TestInstallCutOff(t *testing.T) {
	script := string(read(t, fake(t, "1.2.3", 1).out, "install.sh"))
	dir, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"cat", "uname"} { // what it runs first, by its arguments
		if err := testbuild.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho >"+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(t.TempDir(), "install.sh")
	run := func(text string, args ...string) bool {
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", append([]string{at}, args...)...)
		cmd.Env = []string{"PATH=" + dir}
		cmd.Run() // it fails in any case: nothing is there to install
		_, err := os.Lstat(ran)
		os.Remove(ran)
		return err == nil
	}
	if !run(script) || !run(script, "--help") {
		t.Error("the whole script does not run")
	}
	end := strings.LastIndex(script, "}")
	for i := end; i > 0; i = strings.LastIndex(script[:max(0, i-500)], "\n") {
		if run(script[:i]) || run(script[:i], "--help") {
			t.Fatalf("cut behind %q it runs", script[max(0, i-40):i])
		}
	}
}
