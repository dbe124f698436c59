package build_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/internal/artifact/attest"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// buildIn names the directory that this program builds again and again, as a process that is killed.
const buildIn = "ACCESSC_TEST_BUILD_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(buildIn); dir != "" {
		err := buildForever(dir)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// buildForever says when all files of a build wait in its stage, and goes on with a line of input.
func buildForever(dir string) error {
	in := bufio.NewReader(os.Stdin)
	for i := 0; ; i++ {
		req := request(generation(i))
		req.Attest = func(*attest.Statement, []byte) ([]byte, error) {
			fmt.Println("staged")
			_, err := in.ReadString('\n')
			return []byte(fmt.Sprint(i)), err
		}
		if err := os.Remove(filepath.Join(dir, build.AttestationFile)); err != nil && i > 0 {
			return err
		}
		if _, _, err := build.Write(req, dir); err != nil {
			return err
		}
	}
}

// generation is a program whose tools differ from those of the one before, one of which goes and comes.
func generation(i int) *ir.Program {
	p := program("one", "two", fmt.Sprint("three", i%2))
	for _, t := range p.Tools {
		t.Command = &ir.Command{Program: "make", Args: []string{fmt.Sprint(i)}}
	}
	return p
}

// builder is a process that builds.
type builder struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

func startBuild(t *testing.T, dir string) *builder {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	b := &builder{t: t, cmd: exec.Command(self)}
	b.cmd.Env, b.cmd.Stderr = append(os.Environ(), buildIn+"="+dir), os.Stderr
	b.in, err = b.cmd.StdinPipe()
	must(t, err)
	out, err := b.cmd.StdoutPipe()
	must(t, err)
	b.lines = bufio.NewReader(out)
	must(t, b.cmd.Start())
	t.Cleanup(b.kill)
	return b
}

// staged waits until all files of the process's build are in its stage.
func (b *builder) staged() {
	b.t.Helper()
	if line, err := b.lines.ReadString('\n'); line != "staged\n" {
		b.t.Fatal(line, err)
	}
}

// proceed lets the build put its files into place.
func (b *builder) proceed() { _, _ = b.in.Write([]byte("\n")) }

// kill ends the process without a chance to clean up.
func (b *builder) kill() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// stagesIn lists the entries of the directory of stages.
func stagesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".accessc"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// strangers are the details of files that no statement about the build in dir is about.
func strangers(t *testing.T, dir string) string {
	t.Helper()
	m := manifest(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, build.ManifestFile))
	must(t, err)
	found, err := build.Attested(m.Statement(build.Hash(text)), m, build.Hash(text), dir)
	must(t, err)
	var out []string
	for _, p := range found {
		if p.Class != build.AttestationUnlisted {
			t.Errorf("%+v", p)
		}
		out = append(out, p.Detail)
	}
	return strings.Join(out, "\n")
}

// TestKilledBuild. Cause: a build that was killed left its stage for ever, whose files verify named one by one as
// files that are not attested. A stage in use is none of that, however old.
func TestKilledBuild(t *testing.T) {
	dir := t.TempDir()
	write(t, request(program("one", "two")), dir)
	before := snapshot(t, dir)
	dead, living := startBuild(t, dir), startBuild(t, dir)
	dead.staged()
	living.staged()
	if n := len(stagesIn(t, dir)); n != 4 {
		t.Fatalf("%d entries of two builds", n)
	}
	dead.kill()
	said := strangers(t, dir)
	if n := strings.Count(said, "\n") + 1; n != 2 || !strings.Contains(said, "left by a build that was killed") || !strings.Contains(said, "in use by a build") {
		t.Errorf("verify says %q", said)
	}
	after := snapshot(t, dir)
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s changed", path)
		}
	}
	// A build that finds nothing to do cleans up as well. One that fails leaves all as it was.
	req := request(program("one", "two"))
	req.Attest = func(*attest.Statement, []byte) ([]byte, error) { return nil, io.ErrUnexpectedEOF }
	if _, _, err := build.Write(req, dir); err == nil || len(stagesIn(t, dir)) != 4 {
		t.Errorf("a build that failed: %v, %v", err, stagesIn(t, dir))
	}
	write(t, request(program("one", "two")), dir)
	if n := len(stagesIn(t, dir)); n != 2 {
		t.Errorf("%d entries, of the build that goes on", n)
	}
	living.proceed()
	living.staged() // of its next build: the first has put its files into place
	if m := manifest(t, dir); len(m.Tools) != 3 {
		t.Errorf("the living build has made %d tools", len(m.Tools))
	}
	living.kill()
	write(t, request(generation(1)), dir)
	if s := stagesIn(t, dir); s != nil {
		t.Errorf("%v is left", s)
	}
	if d := cmp.Diff(freshly(t, generation(1)), snapshot(t, dir)); d != "" {
		t.Errorf("(-fresh +after):\n%s", d)
	}
}

// freshly is a build of a program in an empty directory.
func freshly(t *testing.T, p *ir.Program) map[string]string {
	t.Helper()
	dir := t.TempDir()
	write(t, request(p), dir)
	return snapshot(t, dir)
}

// TestKilledAtAnyMoment: of every tool that both builds have, each file is there after a kill, that of the one build
// or of the other. Cause: a file that was replaced was moved into the stage first, so that a build killed then left
// no manifest, and the next build of one tool forgot all others.
func TestKilledAtAnyMoment(t *testing.T) {
	n := irtest.Rounds(t, 200)
	seed := epoch.Seed(t)
	fmt.Printf("property %s: %d runs, seed %d\n", t.Name(), n, seed)
	r := epoch.Source(seed, 0)
	dir := t.TempDir()
	write(t, request(generation(0)), dir)
	for range n {
		_ = os.Remove(filepath.Join(dir, build.AttestationFile))
		before := snapshot(t, dir)
		b := startBuild(t, dir)
		b.staged()
		b.proceed()
		for range r.IntN(1000) {
			if _, err := os.Lstat(filepath.Join(dir, build.ManifestFile)); errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		b.kill()
		after := snapshot(t, dir)
		for path := range before {
			if _, there := after[path]; !there && !strings.HasPrefix(path, "three") {
				t.Fatalf("%s is gone", path)
			}
		}
		manifest(t, dir)
		next := generation(r.IntN(4))
		write(t, request(next), dir)
		_ = os.Remove(filepath.Join(dir, build.AttestationFile))
		if d := cmp.Diff(freshly(t, next), snapshot(t, dir)); d != "" {
			t.Fatalf("(-fresh +after):\n%s", d)
		}
	}
}

// TestBuildsAtOnce: builds of one directory leave each other's stages alone, and nothing behind.
func TestBuildsAtOnce(t *testing.T) {
	dir := t.TempDir()
	n := irtest.Rounds(t, 400)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range n {
				p := program(fmt.Sprint("t", i))
				p.Tools[0].Command = &ir.Command{Program: "make", Args: []string{fmt.Sprint(j)}}
				if _, _, err := build.Write(request(p, p.Tools[0].Name), dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := stagesIn(t, dir); s != nil {
		t.Errorf("%v is left", s)
	}
}
