package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkStatus has git, if it is in PATH, look whether any of 20,000 files has changed: without a sandbox, where a rule
// revokes writing, and where one revokes reading.
func BenchmarkStatus(b *testing.B) {
	git, err := exec.LookPath("git")
	if err != nil {
		b.Skip("needs git")
	}
	x := newBed(b)
	x.plant("some text\n")
	x.age()
	command(b, git, "-C", x.dir, "init", "-q")
	command(b, git, "-C", x.dir, "add", ".")
	x.compile()
	words := []string{"GIT_OPTIONAL_LOCKS=0", git, "status", "--porcelain"}
	plain := append([]string{"/usr/bin/env", "-C", x.dir}, words...)
	race(b, side("plain", plain), side("writes", x.exec("writes", words...)), side("reads", x.exec("reads", words...)))
}

// BenchmarkInstall has npm, if it is in PATH, install a package with its dependencies, without a network: npm itself, 1,900 files.
// Each run installs it in a directory of its own.
func BenchmarkInstall(b *testing.B) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		b.Skip("needs npm")
	}
	x := newBed(b)
	global, err := exec.Command(npm, "root", "-g").Output()
	if err != nil {
		b.Fatal(err)
	}
	packed, err := exec.Command(npm, "pack", "--silent", "--ignore-scripts", "--offline", "--cache", filepath.Join(x.dir, "cache"),
		"--pack-destination", x.dir, filepath.Join(strings.TrimSpace(string(global)), "npm")).Output()
	if err != nil {
		b.Skip("needs npm's own package to pack:", err)
	}
	archive := filepath.Join(x.dir, strings.TrimSpace(string(packed)))
	x.compile()
	n := 0
	install := func(name string, wrapped func(words ...string) []string) contender {
		return contender{name, func(b *testing.B) {
			n++
			dir := filepath.Join(x.dir, "project"+strconv.Itoa(n))
			if err := os.Mkdir(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			write(b, filepath.Join(dir, "package.json"), `{"name": "project", "version": "1.0.0"}`)
			words := wrapped("-C", dir, npm, "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--cache", filepath.Join(dir, "cache"), archive)
			command(b, words[0], words[1:]...)
			if _, err := os.Stat(filepath.Join(dir, "node_modules/npm/package.json")); err != nil {
				b.Fatal(err)
			}
		}}
	}
	under := func(tool string) func(...string) []string {
		return func(words ...string) []string { return x.exec(tool, words...) }
	}
	race(b,
		install("plain", func(words ...string) []string { return append([]string{"/usr/bin/env"}, words...) }),
		install("writes", under("writes")), install("reads", under("reads")),
	)
}
