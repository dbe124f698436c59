package bench_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accessc/accessc/internal/enforce/start"
)

// supervisedTools are tools of one workspace: without a rule that takes anything back, and
// with such a rule for writing, for reading, for reading by name, and for a program's arguments.
const supervisedTools = `
[tools.free]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }]
access.accept = ["fs.metadata"]

[tools.writes]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".git", read = true }]

[tools.reads]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".env" }]

[tools.named]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }, { path = ".", names = [".env", "*.pem"] }]

[tools.programs]
source = "local"
command = "/usr/bin/env"
access.fs = [{ path = ".", read = true, write = true, execute = true }]
access.commands.true = { args = [[]] }
access.commands.sh = {}
`

// bed is a workspace with compiled tools in it.
type bed struct {
	b            *testing.B
	dir, accessc string
}

func newBed(b *testing.B) *bed {
	if start.ABI() == 0 {
		b.Skip("needs Landlock")
	}
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	x := &bed{b, filepath.Join(dir, "ws"), installed(b, "../../cmd/accessc")[0]}
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	if err := os.MkdirAll(filepath.Join(x.dir, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(x.dir, ".env"), "SECRET=1\n")
	write(b, filepath.Join(x.dir, "file"), "text\n")
	write(b, filepath.Join(x.dir, "accessc.toml"), supervisedTools)
	return x
}

// installed builds packages as they are released, and returns the programs. They lie in the user's cache, as a rule on the file
// system of installed programs: from tmpfs a large program takes a seventh more page faults, and bubblewrap is not there.
func installed(b *testing.B, packages ...string) (programs []string) {
	cache, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "accessc-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, p := range packages {
		program := filepath.Join(dir, filepath.Base(p))
		command(b, "env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, p)
		programs = append(programs, program)
	}
	return programs
}

// compile is done last, since a start from an artifact uses the state of the files at the
// build.
func (x *bed) compile() {
	command(x.b, x.accessc, "build", "-C", x.dir, "--resolve", "--out", x.dir+"/../out")
}

// exec is the command that runs words under a tool's policy.
func (x *bed) exec(tool string, words ...string) []string {
	head := []string{x.accessc, "exec", "--artifact", filepath.Join(x.dir, "../out", tool, "landlock.json"), tool, "--"}
	return append(head, words...)
}

// BenchmarkOpen opens a file for reading: without a sandbox, where nothing is taken back
// anywhere, where writing is somewhere, and where reading is, a file of the system and
// one beside the exception; and where everything is traced. Where there is a
// compiler for C, a supervisor that judges nothing is beside them. The figures are medians of
// one open and close.
func BenchmarkOpen(b *testing.B) {
	x := newBed(b)
	opens := filepath.Join(x.dir, "opens")
	command(b, "go", "build", "-trimpath", "-o", opens, "./opens")
	x.compile()
	words := func(file string) []string { return []string{opens, file, "20000"} }
	file := filepath.Join(x.dir, "file")
	names := []string{"plain", "free", "written", "system", "opened", "named", "traced"}
	sides := [][]string{
		words(file), x.exec("free", words(file)...), x.exec("writes", words(file)...),
		x.exec("reads", words("/etc/passwd")...), x.exec("reads", words(file)...), x.exec("named", words(file)...),
		append([]string{x.accessc, "exec", "-C", x.dir, "--trace", "free", "--"}, words(file)...),
	}
	if _, err := exec.LookPath("cc"); err == nil {
		notify := filepath.Join(x.dir, "../notify")
		command(b, "cc", "-O2", "-o", notify, "testdata/notify.c")
		names = append(names, "bare-continued", "bare-opened")
		sides = append(sides, []string{notify, file, "20000", "continue"}, []string{notify, file, "20000", "open"})
	}
	sums := make([]float64, len(sides))
	for b.Loop() {
		for i, side := range sides {
			out, err := exec.Command(side[0], side[1:]...).Output()
			ns, bad := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil || bad != nil {
				b.Fatalf("%v: %v %s", side, err, out)
			}
			sums[i] += ns
		}
	}
	for i, name := range names {
		b.ReportMetric(sums[i]/float64(b.N)/1000, "us-"+name)
		if i > 0 {
			b.ReportMetric(sums[i]/sums[0], name+"/plain")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkThreads has ripgrep, if it is in PATH, look through 20,000 files by as many threads as
// there are processors, and by one, without a sandbox, where reading is judged, and by one where names are.
func BenchmarkThreads(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("needs ripgrep")
	}
	x := newBed(b)
	x.plant("some text\n")
	x.compile()
	words := func(threads string) []string {
		return []string{"/bin/sh", "-c", `cd "$1" && "$2" --threads "$3" nothing .; test $? = 1`, "sh", x.dir, rg, threads}
	}
	race(b, side("plain", words("0")), side("reads", x.exec("reads", words("0")...)),
		side("one-plain", words("1")), side("one-reads", x.exec("reads", words("1")...)),
		side("one-named", x.exec("named", words("1")...)))
}

// plant makes a tree of 20,000 files.
func (x *bed) plant(text string) {
	for d := range 200 {
		dir := filepath.Join(x.dir, fmt.Sprintf("d%d", d%20), strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			x.b.Fatal(err)
		}
		for f := range 100 {
			write(x.b, filepath.Join(dir, strconv.Itoa(f)), text)
		}
	}
}

// age makes all files an hour old: git reads those again that are as young as its index.
func (x *bed) age() {
	then := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		x.b.Fatal(err)
	}
}

// BenchmarkProgram starts a hundred programs from a shell: without a sandbox, where they
// are granted by their files, and where each is judged with its arguments.
func BenchmarkProgram(b *testing.B) {
	x := newBed(b)
	x.compile()
	words := []string{"/bin/sh", "-c", "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done"}
	race(b, side("plain", words), side("floor", x.exec("free", words...)), side("judged", x.exec("programs", words...)))
}

// BenchmarkTree starts a tool in a tree of 20,000 files, with and without a denied one.
func BenchmarkTree(b *testing.B) {
	x := newBed(b)
	x.plant("")
	x.compile()
	race(b, side("writes", x.exec("writes", "/bin/true")), side("env", x.exec("reads", "/bin/true")))
}

// BenchmarkBuild compiles a package of this module and its imports, all anew.
func BenchmarkBuild(b *testing.B) {
	x := newBed(b)
	src, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	command(b, "env", "-C", src, "cp", "-r", "--parents", "ir", "internal/text/strictjson", "internal/text/visible", "test/irtest", "go.mod", "go.sum", x.dir)
	command(b, "go", "-C", x.dir, "mod", "vendor")
	gotool, err := exec.LookPath("go")
	if err != nil {
		b.Fatal(err)
	}
	cache := filepath.Join(x.dir, "cache")
	command(b, "env", "GOCACHE="+cache, gotool, "-C", x.dir, "build", "./ir/...")
	x.compile()
	words := []string{"GOCACHE=" + cache, "GOTOOLCHAIN=local", "GOTMPDIR=" + x.dir, "CGO_ENABLED=0", gotool, "build", "-a", "./ir/..."}
	plain := append([]string{"/usr/bin/env", "-C", x.dir}, words...)
	race(b, side("plain", plain), side("writes", x.exec("writes", words...)), side("reads", x.exec("reads", words...)))
}

func side(name string, words []string) contender {
	return contender{name, func(b *testing.B) { command(b, words[0], words[1:]...) }}
}
