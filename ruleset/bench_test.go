//go:build unix

package ruleset_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/testbuild"
)

// record is the code of a program that lines start: it writes down its name and its arguments,
// reads a line if its input is a file, and does nothing else.
const record = `printf '%s\0' "$#" NAME "$@" >>"$RECORD"
[ -f /dev/stdin ] && read -r line
:
`

// programs are those that lines start. They are functions, which cost a fraction, and scripts on PATH. Lists have w and
// id, and none of the others.
var programs = []string{"p", "q", "w", "id", "evil"}

func functions() (out string) {
	for _, name := range programs {
		out += name + "() {\n" + strings.Replace(record, "NAME", name, 1) + "}\n"
	}
	return out
}

// longAgo is the time of every file before a line runs. The system notes a read of a file that has
// not been read since it was written.
var longAgo = time.Unix(1e9, 0)

// bench is a directory in which lines are run. On PATH are recorders, shells and tools.
type bench struct {
	t        *testing.T
	dir, bin string
	notes    bool // whether the file system notes reads
}

func newBench(t *testing.T, shells map[string]string) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, bin: filepath.Join(dir, "bin")}
	err = os.Mkdir(b.bin, 0o755)
	fast := shells["sh"]
	if fast == "" {
		fast = shells["bash"]
	}
	for _, name := range programs {
		err = errors.Join(err, testbuild.WriteFile(filepath.Join(b.bin, name), []byte("#!"+fast+"\n"+strings.Replace(record, "NAME", name, 1)), 0o755))
	}
	for name, file := range shells {
		err = errors.Join(err, os.Symlink(file, filepath.Join(b.bin, name)))
	}
	for _, name := range tools {
		if file, also := exec.LookPath(name); also == nil {
			err = errors.Join(err, os.Symlink(file, filepath.Join(b.bin, name)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b.prepare(0)
	if _, err := os.ReadFile(b.work(0) + "/a"); err != nil {
		t.Fatal(err)
	}
	b.notes = b.files(0)["a"].read
	return b
}

// work is the directory of a line, home the directory around it.
func (b *bench) work(i int) string { return b.home(i) + "/w" }
func (b *bench) home(i int) string { return b.dir + "/" + strconv.Itoa(i) }

// prepare makes the directory of a line as new: a file with a command in it, and another file in a directory.
func (b *bench) prepare(i int) error {
	if b.files(i).fresh() {
		return os.Truncate(b.home(i)+"/log", 0)
	}
	err := errors.Join(os.RemoveAll(b.home(i)), os.MkdirAll(b.work(i)+"/d", 0o755), testbuild.WriteFile(b.home(i)+"/log", nil, 0o644))
	for _, name := range []string{"/a", "/d/c"} {
		err = errors.Join(err, os.WriteFile(b.work(i)+name, []byte("evil from a file\n"), 0o644), os.Chtimes(b.work(i)+name, longAgo, longAgo))
	}
	return err
}

// touched says whether a file was read or written.
type touched struct{ read, written bool }

// files are the files below a line's directory, by their paths in it.
type files map[string]touched

// fresh reports whether they are those that prepare makes.
func (f files) fresh() bool { return maps.Equal(f, files{"a": {}, "d/c": {}}) }

func (b *bench) files(i int) files {
	out := files{}
	_ = filepath.WalkDir(b.home(i), func(p string, d fs.DirEntry, err error) error {
		var s unix.Stat_t
		if err != nil || p == b.home(i)+"/log" || unix.Lstat(p, &s) != nil || d.IsDir() && (p == b.home(i) || p == b.work(i) || p == b.work(i)+"/d") {
			return nil
		}
		name, _ := strings.CutPrefix(p, b.work(i)+"/")
		old := func(t unix.Timespec) bool { return t.Nano() == longAgo.Unix()*int64(time.Second) }
		out[name] = touched{read: !old(s.Atim), written: !old(s.Mtim)}
		return nil
	})
	return out
}

// outcome is the effect of a line: the programs that were started with their arguments, the files that
// were read and written.
type outcome struct {
	started [][]string
	files   files
}

// run runs each line in a fresh directory until the last process of all has ended. The line is the
// argument of eval in a subshell, every tenth line the argument of a shell of its own, without functions.
func (b *bench) run(s dialect, lines []string, locale string) ([]outcome, error) {
	script := "ulimit -f 1000\n" + functions()
	var err error
	for i, line := range lines {
		err = errors.Join(err, b.prepare(i))
		run := "eval " + quoted(line)
		if i%10 == 0 {
			run = "exec " + quoted(s.command...) + " -c " + quoted(line)
		}
		script += fmt.Sprintf("( cd %s && RECORD=%s/log && export RECORD && %s )\n", quoted(b.work(i)), quoted(b.home(i)), run)
	}
	err = errors.Join(err, os.WriteFile(b.dir+"/script", []byte(script), 0o644))
	ended, life, also := os.Pipe()
	if err = errors.Join(err, also); err != nil {
		return nil, err
	}
	defer ended.Close()
	cmd := exec.CommandContext(await.Context(b.t), s.command[0], append(slices.Clone(s.command[1:]), b.dir+"/script")...)
	cmd.Dir, cmd.Env = b.dir, []string{"PATH=" + b.bin, "HOME=/nonexistent", "LC_ALL=" + locale}
	// Every process of the lines inherits the pipe. Its number has two digits, so that no line closes it.
	cmd.ExtraFiles = make([]*os.File, 8)
	cmd.ExtraFiles[7] = life
	_ = cmd.Run() // lines may well fail
	err = errors.Join(life.Close(), ended.SetReadDeadline(await.Deadline(b.t)))
	if _, also := ended.Read(make([]byte, 1)); also != io.EOF {
		return nil, errors.Join(err, fmt.Errorf("a line runs on: %w", also))
	}
	out := make([]outcome, len(lines))
	for i := range lines {
		data, also := os.ReadFile(b.home(i) + "/log")
		out[i].files = b.files(i)
		out[i].started, also = records(data), errors.Join(also, err)
		err = also
	}
	return out, err
}

// records reads the output of recorders.
func records(data []byte) (out [][]string) {
	words := strings.Split(string(bytes.TrimSuffix(data, []byte{0})), "\x00")
	for len(words) > 1 {
		n, err := strconv.Atoi(words[0])
		if err != nil || n+2 > len(words) {
			return append(out, []string{"a torn record", string(data)})
		}
		out, words = append(out, words[1:n+2]), words[n+2:]
	}
	return out
}

func quoted(words ...string) string {
	var out []string
	for _, w := range words {
		out = append(out, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(out, " ")
}

// judged is the verdict on a line, with the files that were opened for it.
type judged struct {
	allowed     bool
	read, write map[string]bool
}

// judge judges a line that runs in the directory of number i.
func (b *bench) judge(i int, line string, dialect shell.Dialect) judged {
	out := judged{read: map[string]bool{}, write: map[string]bool{}}
	s := &ruleset.Set{Shell: dialect, Rules: []*ruleset.Rule{allow(named(append([]string{"p", "q", "w", "id", "true", "false", "echo", "printf", "test", "[", "sh", "bash"}, tools...)...))}}
	h := ruleset.Host{
		Resolve: func(p string) (string, bool) { return path.Clean(p), true },
		Open: func(a shell.Access, p string) (ruleset.Outcome, string) {
			name, inside := strings.CutPrefix(path.Clean(p), b.work(i)+"/")
			if !inside {
				return ruleset.Deny, "outside"
			}
			map[bool]map[string]bool{true: out.read, false: out.write}[a == shell.Read][name] = true
			return ruleset.Allow, "inside"
		},
	}
	out.allowed = s.Decide(ruleset.Operation{Command: line, Dir: b.work(i)}, h).Outcome == ruleset.Allow
	return out
}

// foreseen reports whether the analysis shows a start with these arguments.
func foreseen(line *shell.Part, args []string) bool {
	found := false
	line.Each(func(p *shell.Part) { found = found || p.Kind == shell.Program && becomes(p.Words, args) })
	return found
}

// usesTool reports whether a line starts a tool, which reads files that the analysis does not show.
func usesTool(line *shell.Part) bool {
	found := false
	line.Each(func(p *shell.Part) {
		found = found || p.Kind == shell.Program && slices.Contains(tools, p.Words[0].Text)
	})
	return found
}

// becomes reports whether a shell may turn words into these arguments.
func becomes(words []shell.Word, args []string) bool {
	if len(words) == 0 {
		return len(args) == 0
	}
	w := words[0]
	if w.Form == shell.Literal {
		return len(args) > 0 && args[0] == w.Text && becomes(words[1:], args[1:])
	}
	return becomes(words[1:], args) || len(args) > 0 && strings.HasPrefix(args[0], w.Text) && becomes(words, args[1:])
}

// check reports an effect of a line that the judgement did not foresee.
func (b *bench) check(i int, s dialect, line string, did outcome) error {
	j, shown := b.judge(i, line, s.dialect), shell.Analyze(line, s.dialect, b.work(i))
	for _, args := range did.started {
		if !foreseen(shown, args) {
			return fmt.Errorf("started %q", args)
		}
	}
	for name, f := range did.files {
		known := name == "a" || name == "d/c"
		switch {
		case f.written && !j.write[name]:
			return fmt.Errorf("wrote %s", name)
		case known && f.read && b.notes && !j.read[name] && !j.write[name] && !usesTool(shown):
			return fmt.Errorf("read %s", name)
		}
	}
	return nil
}
