package ruleset_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/irtest"
)

// recordFile is the variable by which a recorder finds the file that it appends to.
const recordFile = "ACCESSC_TEST_RECORD"

// TestMain turns this program into a recorder where it is started as one: it writes down its
// arguments and the file that it reads, and does nothing.
func TestMain(m *testing.M) {
	to := os.Getenv(recordFile)
	if to == "" {
		os.Exit(m.Run())
	}
	r := record{Args: append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		r.Input, _ = os.Readlink("/proc/self/fd/0")
	}
	line, _ := json.Marshal(r)
	f, err := os.OpenFile(to, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err != nil {
		os.Exit(99)
	}
	os.Exit(0)
}

// record is a program that was started.
type record struct {
	Args  []string
	Input string // the regular file that it reads, empty for none
}

// bench is a directory in which lines are run: nothing is on PATH but recorders and the shells.
type bench struct{ dir, bin, work, log string }

func newBench(t *testing.T, shells map[string]string) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir, filepath.Join(dir, "bin"), filepath.Join(dir, "w"), filepath.Join(dir, "log")}
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(b.bin, 0o755)
	}
	for _, name := range []string{"p", "q", "evil"} {
		err = errors.Join(err, os.Symlink(self, filepath.Join(b.bin, name)))
	}
	for name, file := range shells {
		err = errors.Join(err, os.Symlink(file, filepath.Join(b.bin, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs a line in a fresh directory until the last process of it has ended, and returns the
// programs that were started and the files that are new or changed.
func (b *bench) run(shell []string, line string) (started []record, written []string, err error) {
	err = errors.Join(os.RemoveAll(b.work), os.MkdirAll(filepath.Join(b.work, "d"), 0o755),
		os.WriteFile(filepath.Join(b.work, "a"), nil, 0o644), os.WriteFile(b.log, nil, 0o644))
	before := b.files()
	cmd := exec.Command(shell[0], append(slices.Clone(shell[1:]), "-c", line)...)
	cmd.Dir, cmd.Env = b.work, []string{"PATH=" + b.bin, "HOME=/nonexistent", recordFile + "=" + b.log}
	ended, life, also := os.Pipe()
	if err = errors.Join(err, also); err != nil {
		return nil, nil, err
	}
	defer ended.Close()
	// Every process of the line inherits the pipe. Its number has two digits, so that no line closes it.
	cmd.ExtraFiles = make([]*os.File, 8)
	cmd.ExtraFiles[7] = life
	timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Run() // lines may well fail
	timer.Stop()
	err = errors.Join(life.Close(), ended.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, also := ended.Read(make([]byte, 1)); also != io.EOF {
		err = errors.Join(err, fmt.Errorf("the line runs on: %w", also))
	}
	for name, what := range b.files() {
		if before[name] != what {
			written = append(written, name)
		}
	}
	data, also := os.ReadFile(b.log)
	err = errors.Join(err, also)
	for l := range bytes.Lines(data) {
		var r record
		err = errors.Join(err, json.Unmarshal(l, &r))
		started = append(started, r)
	}
	return started, written, err
}

// files are the files below the directory, with what changes when they are written.
func (b *bench) files() map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(b.work, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a background process may still be at work
		}
		if info, err := d.Info(); err == nil {
			out[p] = info.ModTime().String()
		}
		return nil
	})
	return out
}

// tokens are the parts of random lines. None of them begins an absolute path.
var tokens = strings.Split(` | | | |p|p|q|evil|evil|a|b|d|x|1|2|=|$|$|${|}|$(|)|(|`+"`"+`|\|\\|`+"\n"+`|'|'|"|"|$'|$"|@P|:-|#| #|;|;|&|&&|
|{|}|{ |; }|[|]|*|?|~|!|<<|<<-|<<<| <<E`+"\nx\nE\n"+`|E|<(|>(|$((|))|((|[[|]]|-|--|,|..|%|^|+|@(|a=|a=b |if |; then |; fi|for i in |; do |; done|
|case |esac|;;|time |coproc |function |() | >a| > b| >>a| 2>&1| >&2| &>b| <a| < b| <>a| >|>a| 3>b| 12>b|&-|cd d|cd d && |cd d; |(cd d) | cd .. |
|command p |exec p |exec |eval |eval 'p a'|eval "evil"|builtin |p a |q b |sh -c 'p'|bash -c 'q a'|sh -c "|export |set -|trap 'evil' |alias p=evil|unset |
|. a|source a|p(){ evil; }|é|\'|\"|\$|\`+"`"+`|\ |\x41|{p,evil}|{a,b}|"$(evil)"|'$(evil)'|$(evil)|`+"`evil`"+`|true |false |wait|read a|printf |echo |test |[ a ]|[ -v 'a[$(evil)]' ]`, "|")

// randomLine begins with an allowed program, so that a good part of the lines is allowed.
func randomLine(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"p ", "p a ", "q ", "cd d && p ", "p | q ", "{ p; } "}[r.IntN(6)])
	for range 1 + r.IntN(8) {
		b.WriteString(strings.TrimPrefix(tokens[r.IntN(len(tokens))], "\n"))
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// judged is the verdict on a line, with the files that were opened for it.
type judged struct {
	allowed     bool
	read, write map[string]bool
}

func (b *bench) judge(line string, dialect shell.Dialect) judged {
	out := judged{read: map[string]bool{}, write: map[string]bool{}}
	s := &ruleset.Set{Shell: dialect, Rules: []*ruleset.Rule{allow(named("p", "q", "true", "false", "echo", "printf", "test", "[", "sh", "bash"))}}
	h := ruleset.Host{
		Resolve: func(p string) (string, bool) { return path.Clean(p), true },
		Open: func(a shell.Access, p string) (ruleset.Outcome, string) {
			p = path.Clean(p)
			if !strings.HasPrefix(p, b.work+"/") {
				return ruleset.Deny, "outside"
			}
			map[bool]map[string]bool{true: out.read, false: out.write}[a == shell.Read][p] = true
			return ruleset.Allow, "inside"
		},
	}
	out.allowed = s.Decide(ruleset.Operation{Command: line, Dir: b.work}, h).Outcome == ruleset.Allow
	return out
}

// foreseen reports whether the analysis shows a start with these arguments.
func foreseen(line string, dialect shell.Dialect, dir string, args []string) bool {
	found := false
	shell.Analyze(line, dialect, dir).Each(func(p *shell.Part) {
		if p.Kind != shell.Program || p.Words[0].Text != args[0] {
			return
		}
		same := len(p.Words) == len(args)
		for i, w := range p.Words {
			if w.Form != shell.Literal {
				found = true // any number of words
			}
			same = same && i < len(args) && w.Text == args[i]
		}
		found = found || same
	})
	return found
}

// dialects are the shells in which lines are run, those of them that are here.
func dialects(t *testing.T) (out []dialect, links map[string]string) {
	if runtime.GOOS == "windows" {
		t.Skip("a recorder is a symlink")
	}
	links = map[string]string{}
	for _, d := range []dialect{
		{"bash", "bash", shell.Bash, nil}, {"sh", "dash", shell.POSIX, nil}, {"sh", "bash", shell.POSIX, []string{"--posix"}},
	} {
		file, err := exec.LookPath(d.program)
		if err != nil {
			t.Logf("there is no %s", d.program)
			continue
		}
		if links[d.name] == "" {
			links[d.name] = file
		}
		d.command = append([]string{file}, d.command...)
		out = append(out, d)
	}
	if len(out) == 0 {
		t.Skip("there is no shell")
	}
	return out, links
}

// dialect is a shell, by the name that lines call it, with the command that runs it.
type dialect struct {
	name, program string
	dialect       shell.Dialect
	command       []string
}

// TestDifferential runs random lines that are allowed, and looks for a program that was started,
// a file that was written, and a file that was read, which had not been judged.
func TestDifferential(t *testing.T) {
	shells, links := dialects(t)
	benches := make(chan *bench, 64)
	for range cap(benches) {
		benches <- nil
	}
	var ran atomic.Int64
	var setup sync.Mutex
	irtest.Many(t, 30_000, func(r *rand.Rand) error {
		b := <-benches
		defer func() { benches <- b }()
		if b == nil {
			setup.Lock()
			b = newBench(t, links)
			setup.Unlock()
		}
		line := randomLine(r)
		for _, s := range shells {
			j := b.judge(line, s.dialect)
			if !j.allowed {
				continue
			}
			ran.Add(1)
			if err := b.compare(s, line, j); err != nil {
				return fmt.Errorf("%s: %q %w", s.program, line, err)
			}
		}
		return nil
	})
	t.Logf("%d runs", ran.Load())
}

// TestBackground: a program in the background belongs to its line. A bench that waited for the
// shell alone found its file deleted, and its record among those of the next line.
func TestBackground(t *testing.T) {
	shells, links := dialects(t)
	b := newBench(t, links)
	for _, s := range shells {
		started, written, err := b.run(s.command, "{ p; p; p; q <a; } >b &")
		if err != nil || len(started) != 4 || started[3].Input != filepath.Join(b.work, "a") || !slices.Equal(written, []string{filepath.Join(b.work, "b")}) {
			t.Errorf("%s: started %v, wrote %q, %v", s.program, started, written, err)
		}
	}
}

// compare runs a line and reports whatever had not been judged.
func (b *bench) compare(s dialect, line string, j judged) error {
	started, written, err := b.run(s.command, line)
	for _, x := range started {
		if !foreseen(line, s.dialect, b.work, x.Args) {
			return fmt.Errorf("started %q", x.Args)
		}
		if strings.HasPrefix(x.Input, b.work) && !j.read[x.Input] && !j.write[x.Input] {
			return fmt.Errorf("read %s", x.Input)
		}
	}
	for _, f := range written {
		if !j.write[f] {
			return fmt.Errorf("wrote %s", f)
		}
	}
	return err
}
