package proof

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/compiler/merge"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/irtest"
)

// theories are the files of the model, each after those that it uses.
var theories = []string{"Names", "Files", "Walk", "Agree", "Moves", "Merge", "Theorems", "Extract"}

// TestNothingIsAssumed: no theorem rests on an axiom or on a proof that is left out, as far as the text tells. Coq tells
// the rest, in TestModel.
func TestNothingIsAssumed(t *testing.T) {
	assumed := regexp.MustCompile(`\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Hypothesis|give_up|bypass_check)\b`)
	comment := regexp.MustCompile(`(?s)\(\*.*?\*\)`)
	files, err := filepath.Glob("model/*.v")
	if err != nil || len(files) != len(theories) {
		t.Fatalf("%d files, %d theories, %v", len(files), len(theories), err)
	}
	printed := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := comment.ReplaceAllString(string(text), "")
		if found := assumed.FindString(code); found != "" {
			t.Errorf("%s: %s", file, found)
		}
		if strings.HasSuffix(file, "Theorems.v") {
			printed = code
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\s*Theorem (\w+)`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(printed, "Print Assumptions "+m[1]+".") {
				t.Errorf("%s: nothing prints the axioms of %s", file, m[1])
			}
		}
	}
}

// TestAnswers: accessc gives the model's answers to the questions in testdata, each of a line with the answer behind
// it. TestModel writes them with ACCESSC_PROOF=update.
func TestAnswers(t *testing.T) {
	text, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[int]int{}
	for line := range strings.Lines(string(text)) {
		ask, answer, _ := strings.Cut(strings.TrimSpace(line), " = ")
		q, err := parse(ask)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if q.line() != ask {
			t.Fatalf("read %s\nas %s", ask, q.line())
		}
		if _, err := q.check(answer); err != nil {
			t.Errorf("%v\nquestion %s\nmodel %s", err, ask, answer)
		}
		asked[q.kind]++
	}
	for kind := 1; kind <= kinds; kind++ {
		if asked[kind] < 50 {
			t.Errorf("%d questions of kind %d", asked[kind], kind)
		}
	}
}

// TestNoticed: an answer that is wrong in one number is noticed.
func TestNoticed(t *testing.T) {
	q := question{kind: askDecide, p: []rule{{grants: ir.All}}, paths: [][]string{{"a"}}}
	if _, err := q.check("1 30"); err == nil {
		t.Error("another grant was not noticed")
	}
	q = question{kind: askSame, p: []rule{{place: []string{around}, grants: ir.All}}}
	for _, answer := range []string{"0", "1 1 1 98", "-1"} {
		if _, err := q.check(answer); err == nil {
			t.Errorf("%q was not noticed", answer)
		}
	}
	q = question{kind: askOver, layers: [2]layer{{After: []int{1}}, {After: []int{2}}}}
	if _, err := q.check("0 0 2 2 1 0 0 0"); err == nil {
		t.Error("another order was not noticed")
	}
}

// TestModel proves the model and asks its evaluators and accessc the same questions.
func TestModel(t *testing.T) {
	how := os.Getenv("ACCESSC_PROOF")
	if how == "" {
		t.Skip("proves for some seconds, by Coq: task proof, a stage of .ci/nightly")
	}
	m := prove(t)
	if how == "update" {
		m.write(t)
		return
	}
	for kind := 1; kind <= kinds; kind++ {
		t.Run([]string{"decide", "same", "within", "gains", "over"}[kind-1], func(t *testing.T) {
			var mu sync.Mutex
			told := map[string]int{}
			irtest.Many(t, 1_000_000, func(r *rand.Rand) error {
				q := draw(r, kind)
				answer := m.ask(t, q.line())
				outcome, err := q.check(answer)
				if err != nil {
					return fmt.Errorf("%w\nquestion %s\nmodel %s", err, q.line(), answer)
				}
				mu.Lock()
				defer mu.Unlock()
				told[outcome]++
				return nil
			})
			t.Logf("%v", told)
		})
	}
}

// check compares an answer of the model with accessc's, and names what kind of answer it was.
func (q *question) check(answer string) (outcome string, err error) {
	r := &reader{fields: strings.Fields(answer)}
	switch q.kind {
	case askDecide:
		outcome, err = q.checkDecide(list(r, r.number))
	case askSame, askWithin:
		n := r.number()
		if n < 0 {
			return "", fmt.Errorf("the model gave up")
		}
		outcome, err = q.checkDifferences(times(n, r.path))
	case askGains:
		outcome, err = q.checkGains(r.number())
		for len(r.fields) > 0 && r.err == nil {
			r.path()
		}
	case askOver:
		r.number()
		outcome, err = q.checkOver(r.layer())
	}
	if err == nil && (r.err != nil || len(r.fields) > 0) {
		err = fmt.Errorf("answer %q: %v", answer, r.err)
	}
	return outcome, err
}

func times[T any](n int, f func() T) (out []T) {
	for range n {
		out = append(out, f())
	}
	return out
}

func (q *question) checkDecide(want []int) (string, error) {
	if len(want) != len(q.paths) {
		return "", fmt.Errorf("%d answers to %d questions", len(want), len(q.paths))
	}
	view, some := view(q.p), 0
	for i, path := range q.paths {
		got := granted(view, path)
		if len(path) == 0 { // a root is neither made nor removed
			want[i] &= bits(ir.All.Without(ir.Create).Without(ir.Delete))
		}
		if bits(got) != want[i] {
			return "", fmt.Errorf("%q: accessc grants %d, the model %d", path, bits(got), want[i])
		}
		some |= want[i]
	}
	if some == 0 {
		return "nothing granted", nil
	}
	return "granted", nil
}

func (q *question) checkDifferences(paths [][]string) (string, error) {
	old, new := view(q.p), view(q.q)
	differ := func(was, is ir.CapSet) bool { return was != is }
	if q.kind == askWithin {
		differ = func(was, is ir.CapSet) bool { return is&^was != 0 }
	}
	for _, path := range paths {
		if !differ(granted(old, path), granted(new, path)) {
			return "", fmt.Errorf("%q is no difference", path)
		}
	}
	ds := compare.Policies(compare.Policy{Tool: tool(q.p)}, compare.Policy{Tool: tool(q.q)})
	ds = slices.DeleteFunc(ds, func(d compare.Difference) bool {
		return strings.Contains(d.Where, "→") || d.What == "move or replace" || q.kind == askWithin && !d.Wider
	})
	if got, want := len(ds) > 0, len(paths) > 0; got != want {
		return "", fmt.Errorf("accessc finds %d differences, the model %q", len(ds), paths)
	}
	if len(paths) == 0 {
		return "none", nil
	}
	return "some", nil
}

// checkGains: what accessc permits to be moved gains nothing. It may refuse more: what rules hold at its place does not
// move at all.
func (q *question) checkGains(n int) (string, error) {
	if n < 0 {
		return "", fmt.Errorf("the model gave up")
	}
	src, dst := ir.Direct(location(q.paths[0])), ir.Direct(location(q.paths[1]))
	v := view(q.p).Decide(ir.Rename{Src: src, Dst: dst, SrcKind: ir.Dir, DstKind: ir.Absent})
	switch {
	case v.Allowed() && n > 0:
		return "", fmt.Errorf("accessc permits a move by which files gain")
	case v.Allowed():
		return "permitted", nil
	case n > 0:
		return "gains", nil
	default:
		return "refused otherwise", nil
	}
}

func (q *question) checkOver(want layer) (string, error) {
	got, _ := merge.Over(q.layers[0], q.layers[1], func(i int) int { return i })
	got.Stated, want.Stated = false, false
	if d := cmp.Diff(spread(want), spread(got)); d != "" {
		return "", fmt.Errorf("merged (-model +accessc):\n%s", d)
	}
	return "merged", nil
}

func spread(l layer) string {
	return fmt.Sprint(len(l.Before), l.Before, l.After, l.Replace, l.Dedup, l.Default)
}

// tool is a policy of the model as a tool that has nothing else.
func tool(rules []rule) *ir.Tool {
	t := compare.Nothing(&ir.Tool{Name: "t", Base: ir.BaseNone, Home: ir.HomeReal}).Tool
	for _, r := range rules {
		at := location(r.place)
		fs := ir.FSRule{Written: at.Path, At: at, Caps: r.grants}
		for _, p := range r.names {
			fs.Names = append(fs.Names, p.String())
		}
		t.FS = append(t.FS, fs)
	}
	return t
}

func view(rules []rule) *ir.View { return ir.NewView(tool(rules), ir.Linux, ir.Facts{}) }

func location(path []string) ir.Location { return ir.In(strings.Join(path, "/")) }

func granted(v *ir.View, path []string) (out ir.CapSet) {
	for _, c := range ir.Capabilities {
		if v.Decide(ir.Access{Cap: c, On: ir.Direct(location(path))}).Allowed() {
			out = out.With(c)
		}
	}
	return out
}

// String is the pattern as a policy writes it.
func (p pattern) String() string {
	var out strings.Builder
	for _, it := range p {
		switch it.kind {
		case itemChar:
			out.WriteRune(it.char)
		case itemAny:
			out.WriteByte('?')
		case itemRun:
			out.WriteByte('*')
		case itemClass:
			out.WriteByte('[')
			if it.not {
				out.WriteByte('^')
			}
			for _, r := range it.ranges {
				fmt.Fprintf(&out, "\\%c-\\%c", r[0], r[1])
			}
			out.WriteByte(']')
		}
	}
	return out.String()
}

// model is the extracted program.
type model struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// prove has Coq check every proof, compiles the extracted program, and starts it.
func prove(t *testing.T) *model {
	dir := t.TempDir()
	if out, err := exec.Command("cp", "-r", "model/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var said strings.Builder
	do := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		said.Write(out)
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	for _, theory := range theories {
		do("coqc", "-q", theory+".v")
	}
	text, err := os.ReadFile("model/Theorems.v")
	if err != nil {
		t.Fatal(err)
	}
	theorems := strings.Count(string(text), "Print Assumptions")
	if closed := strings.Count(said.String(), "Closed under the global context"); closed != theorems {
		t.Fatalf("%d of %d theorems rest on no axiom:\n%s", closed, theorems, said.String())
	}
	t.Logf("%d theorems, no axioms", theorems)
	do("ocamlopt", "-w", "-a", "model.mli", "model.ml", "main.ml", "-o", "model")
	cmd := exec.Command(filepath.Join(dir, "model"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &model{in: in, out: bufio.NewReader(out)}
}

func (m *model) ask(t *testing.T, line string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := io.WriteString(m.in, line+"\n"); err != nil {
		t.Error(err)
	}
	answer, err := m.out.ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	return strings.TrimSpace(answer)
}

// write writes questions with the model's answers into testdata.
func (m *model) write(t *testing.T) {
	var out strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for kind := 1; kind <= kinds; kind++ {
		for range 120 {
			q := draw(r, kind)
			fmt.Fprintf(&out, "%s = %s\n", q.line(), m.ask(t, q.line()))
		}
	}
	if err := os.WriteFile("testdata/answers.txt", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
