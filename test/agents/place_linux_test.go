// Package agents_test runs published agents under accessc. Their model is a script on loopback, so
// the test chooses the tools that they use, and sees the results that they report. See decision D170.
package agents_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accessc/accessc/test/testbuild"

	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/await"
)

// packages is where "task npm" installs the agents.
const packages = "../../.cache/npm/node_modules"

// bin is the directory of the program under test.
var bin string

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "agents-"); err != nil {
		panic(err)
	}
	if err := os.Chmod(bin, 0o755); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

// built puts the program under test into its directory, once a test needs it.
var built = sync.OnceValue(func() error { return testbuild.Program(filepath.Join(bin, "accessc"), "cmd/accessc") })

// installed is the file of a published package; the test is skipped without it.
func installed(t *testing.T, pattern string) string {
	t.Helper()
	if start.ABI() == 0 {
		t.Skip("needs Landlock")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	found, err := filepath.Glob(filepath.Join(packages, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("needs %s in .cache/npm: task npm", pattern)
	}
	file, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A place is a workspace, and a user's directories beside it.
type place struct {
	*testing.T
	program  string // accessc
	dir      string // has the others
	ws, home string
	env      []string
	nobody   bool // runs as the user nobody
}

// newPlace lays out a workspace with these files.
func newPlace(t *testing.T, files map[string]string) *place {
	if err := built(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &place{T: t, program: filepath.Join(bin, "accessc"), dir: dir, ws: dir + "/ws", home: dir + "/home"}
	for _, d := range []string{p.ws, p.home, dir + "/tmp", dir + "/state"} {
		p.must(os.MkdirAll(d, 0o755))
	}
	for name, text := range files {
		p.write(name, text)
	}
	p.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + dir + "/tmp", "XDG_STATE_HOME=" + dir + "/state",
		// An agent reaches the model and nothing else.
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
	}
	return p
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write makes a file, whose text may name the workspace ${ws}.
func (p *place) write(name, text string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.file(name)), 0o755))
	p.must(testbuild.WriteFile(p.file(name), []byte(strings.ReplaceAll(text, "${ws}", p.ws)), 0o755))
}

// file is the path of a file. A name that begins with ~/ is one of the home directory.
func (p *place) file(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(p.home, rest)
	}
	return filepath.Join(p.ws, name)
}

// read is the text of a file, empty if there is none.
func (p *place) read(name string) string {
	text, err := os.ReadFile(p.file(name))
	if err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	return string(text)
}

// command is a command in the workspace. Agents end in seconds; one that waits for a person would
// wait for ever.
func (p *place) command(words ...string) *exec.Cmd {
	p.Helper()
	cmd := exec.CommandContext(await.Context(p.T), words[0], words[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Env = p.ws, p.env
	if p.nobody {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		p.own()
	}
	return cmd
}

// run runs a program in the workspace until it ends, and returns its standard output.
func (p *place) run(stdin string, words ...string) string {
	p.Helper()
	cmd := p.command(words...)
	cmd.Stdin = strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("%s: %v\n%s\n%s", words[0], err, out, errs.String())
	}
	return string(out)
}

// nobody is a user without privileges.
const nobody = 65534

// own gives all files to nobody.
func (p *place) own() {
	p.Helper()
	p.must(os.Chmod(filepath.Dir(p.dir), 0o755))
	p.must(exec.Command("chown", "-R", fmt.Sprint(nobody), p.dir).Run())
}

// users runs a test as this user and, if that is root, as nobody.
func users(t *testing.T, test func(t *testing.T, nobody bool)) {
	t.Run("user", func(t *testing.T) { test(t, false) })
	if os.Getuid() == 0 {
		t.Run("nobody", func(t *testing.T) { test(t, true) })
	}
}

// accessc runs the program under test.
func (p *place) accessc(words ...string) string {
	p.Helper()
	return p.run("", append([]string{p.program}, words...)...)
}

// has fails unless a text has a part.
func (p *place) has(text, part string) {
	p.Helper()
	if !strings.Contains(text, part) {
		p.Errorf("got %.600s, expected %q in it", text, part)
	}
}

// hasResults fails unless the model was told these things, one for each call in the script.
func (p *place) hasResults(results []string, parts ...string) {
	p.Helper()
	if len(results) != len(parts) {
		p.Fatalf("%d results have reached the model, not %d: %q", len(results), len(parts), results)
	}
	for i, part := range parts {
		p.has(results[i], part)
	}
}
