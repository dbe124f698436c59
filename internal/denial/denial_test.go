package denial

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

var roots = &ir.Bindings{
	Workspace: "/ws", Home: "/home/t", Temp: "/run/t", External: map[string]string{"fork": "/srv/fork", irtest.Elsewhere.Name: "/home/u"},
}

// refused draws an operation that a random policy denies.
func refused(t *rapid.T) *Denial {
	tool := irtest.ToolByName(t, irtest.Names, 5)
	tool.Declared.FS = rapid.Bool().Draw(t, "declared")
	if !tool.Declared.FS {
		tool.FS = ir.DefaultFS()
	}
	d := &Denial{By: ByPolicy, Syscall: "call", Errno: "EACCES", PID: 1, Name: "x", Roots: roots}
	d.View = ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	place := func() ir.Place {
		at := irtest.Place(t, irtest.Names)
		if rapid.IntRange(0, 4).Draw(t, "outside") == 0 {
			at = ir.Sys("srv/" + irtest.Path(t, irtest.Names, 2))
		}
		return ir.Direct(at)
	}
	kind := func() ir.NodeKind { return irtest.Kind(t, ir.Unknown, ir.Absent, ir.File, ir.Dir) }
	switch rapid.IntRange(0, 6).Draw(t, "operation") {
	case 0:
		d.Operation = ir.Rename{Src: place(), Dst: place(), SrcKind: kind(), DstKind: kind()}
	case 1:
		d.Operation = ir.Link{Src: place(), Dst: place()}
	case 2:
		d.Operation = ir.Exchange{A: place(), B: place(), AKind: kind(), BKind: kind()}
	case 3:
		d.Operation = ir.Connect{To: ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("::1")}, Port: 80}}
	case 4:
		d.Operation = ir.Dial{On: place()}
	default:
		d.Wants = irtest.Caps(t)
		on := place()
		for _, c := range d.Wants.List() {
			d.Operation = ir.Access{Cap: c, On: on}
			if d.Verdict = d.View.Decide(d.Operation); !d.Verdict.Allowed() {
				return d
			}
		}
	}
	if d.Operation == nil {
		return nil
	}
	if d.Verdict = d.View.Decide(d.Operation); d.Verdict.Allowed() {
		return nil
	}
	return d
}

// written is a proposal as a TOML parser sees it.
type written struct {
	Conversation struct {
		Tools map[string]struct {
			Access struct {
				FS []struct {
					Path                                         string
					External                                     bool
					Read, Write, Create, Update, Delete, Execute bool
				}
				Net []struct {
					Host  string
					Port  uint16
					Allow bool
				}
			}
		}
	}
}

// TestGrant: a proposal is TOML, and under it the operation is permitted, with every capability
// that the call needed.
func TestGrant(t *testing.T) {
	proposed, none := 0, 0
	irtest.Check(t, 20000, 1, func(rt *rapid.T) {
		d := refused(rt)
		if d == nil {
			return
		}
		text, ok := d.Grant()
		if !ok {
			none++
			return
		}
		proposed++
		var w written
		if err := toml.Unmarshal([]byte(text), &w); err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		tool, bound := *d.View.Tool, *roots
		if !tool.Declared.FS {
			tool.FS = nil
		}
		added, ok := w.Conversation.Tools[tool.Name]
		if !ok {
			rt.Fatalf("about another tool:\n%s", text)
		}
		for _, f := range added.Access.FS {
			r := ir.FSRule{External: f.External}
			f.Path = strings.TrimPrefix(f.Path, "./") // before a name that begins with "$"
			if r.At = ir.In(f.Path); f.Path == "." {
				r.At = ir.In("")
			}
			if f.External {
				r.At = ir.Location{Root: ir.Root{Kind: ir.External, Name: f.Path}}
			}
			if f.External && !r.At.Root.Direct() {
				_, link, _ := strings.Cut(text, "ln -s ")
				link, _, _ = strings.Cut(link, "\n")
				target := ir.Describe(d.Operation).Places[0].At
				if link != shellword.Quote(target.String())+" "+shellword.Quote(f.Path) {
					rt.Fatalf("the link leads elsewhere: %s", link)
				}
				bound.External = map[string]string{f.Path: target.String()}
			}
			for _, c := range ir.Capabilities {
				has := map[ir.Capability]bool{
					ir.Read: f.Read, ir.Create: f.Create || f.Write, ir.Update: f.Update || f.Write, ir.Delete: f.Delete || f.Write, ir.Execute: f.Execute,
				}
				if has[c] {
					r.Caps = r.Caps.With(c)
				}
			}
			tool.FS = append(tool.FS, r)
		}
		for _, n := range added.Access.Net {
			addr := netip.MustParseAddr(strings.Trim(n.Host, "[]"))
			tool.Net = append(tool.Net, ir.NetRule{Host: ir.Host{Kind: ir.HostAddr, Addr: addr}, Port: n.Port, Allow: n.Allow})
		}
		v := ir.NewView(&tool, ir.Linux, ir.Facts{Bindings: &bound, Base: []ir.FSRule{}})
		for _, op := range relocated(d, &bound) {
			if got := v.Decide(op); !got.Allowed() {
				rt.Fatalf("%+v is still denied: %+v, under\n%s", op, got, text)
			}
		}
	})
	if proposed == 0 || none == 0 {
		t.Errorf("%d proposals and %d without", proposed, none)
	}
}

// TestSocket: a refused Unix socket is explained by the rules on files, and none is proposed.
func TestSocket(t *testing.T) {
	d := sample()
	for at, want := range map[ir.Location]string{ir.Sys("srv/docker.sock"): "connect /srv/docker.sock: no rule", ir.In("keys"): "connect keys: rule keys, accessc.toml:3"} {
		d.Operation, d.Wants, d.proposed = ir.Dial{On: ir.Direct(at)}, 0, nil
		d.Verdict = d.View.Decide(d.Operation)
		toml, ok := d.Grant()
		if got := d.Text(); ok || got != want {
			t.Errorf("%s: %q, %q", at, got, toml)
		}
	}
}

// relocated is the operation with places as other bindings see them, once for each needed
// capability.
func relocated(d *Denial, b *ir.Bindings) []ir.Operation {
	move := func(p ir.Place) ir.Place {
		abs, _ := roots.Path(p.At)
		return ir.Direct(b.Locate(abs))
	}
	switch op := d.Operation.(type) {
	case ir.Access:
		var out []ir.Operation
		for _, c := range d.Wants.List() {
			out = append(out, ir.Access{Cap: c, On: move(op.On)})
		}
		return out
	case ir.Dial:
		return []ir.Operation{ir.Dial{On: move(op.On)}}
	default:
		return []ir.Operation{d.Operation}
	}
}

// TestLines: every line is JSON of its own, even with hostile names, and every operation has a
// word.
func TestLines(t *testing.T) {
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		d := refused(rt)
		if d == nil {
			return
		}
		d.Name = rapid.String().Draw(rt, "name")
		d.Asked = []string{string(rapid.SliceOf(rapid.Byte()).Draw(rt, "asked"))}
		text := d.Line()
		if strings.Count(string(text), "\n") != 1 || text[len(text)-1] != '\n' {
			rt.Fatalf("not one line: %q", text)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			rt.Fatal(err)
		}
		if l.Version != Version || l.Operation == "" || l.Operation == "call" || l.Tool != "t" || l.Target == "" {
			rt.Fatalf("%+v", l)
		}
	})
}

func sample() *Denial {
	tool := ir.NewTool("a tool")
	tool.Declared.FS = true
	tool.FS = []ir.FSRule{{
		Written: "keys", At: ir.In("keys"), Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 3, Col: 1}},
	}}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	op := ir.Access{Cap: ir.Read, On: ir.Direct(ir.In("keys"))}
	return &Denial{
		Time: time.Unix(0, 0), By: ByPolicy, Operation: op, Wants: ir.Caps(ir.Read), Verdict: v.Decide(op), Syscall: "openat", Errno: "EACCES",
		Asked: []string{"./keys"}, PID: 7, Name: "cat", View: v, Roots: roots,
	}
}

// TestShape is the documented form of a line.
func TestShape(t *testing.T) {
	const want = `{"format_version":1,"event":"denied","time":"1970-01-01T00:00:00Z","tool":"a tool","risk":"low","operation":"read",` +
		`"needs":["read"],"target":"keys","path":"/ws/keys","asked":["./keys"],"syscall":"openat","errno":"EACCES",` +
		`"process":{"pid":7,"name":"cat"},"by":"policy","reason":"rule",` +
		`"rule":{"subject":"keys","layer":"workspace","file":"accessc.toml","line":3,"column":1},` +
		`"grant":"[[conversation.tools.\"a tool\".access.fs]]\npath = \"keys\"\nread = true\n"}` + "\n"
	if got := string(sample().Line()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestLog: lines of many threads stay whole, and lines that do not fit are counted.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLog(f)
	size := len(sample().Line())
	l.limit = int64(size)*100 + int64(size)/2
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				l.Add(sample())
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(path)
	denied, last := 0, ""
	for s := bufio.NewScanner(strings.NewReader(string(data))); s.Scan(); last = s.Text() {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, s.Bytes())
		}
		if l.Event == "denied" {
			denied++
		}
	}
	if denied != 100 || last != `{"format_version":1,"event":"lost","count":100}` || l.Total() != 200 {
		t.Errorf("%d lines of %d, the last %s", denied, l.Total(), last)
	}
}

// TestLogTo: a reader in place of a file is told of as many bytes as it takes, and at the end of how many lines it lacks.
func TestLogTo(t *testing.T) {
	for _, most := range []int{0, 3, 5} {
		var got []string
		l := NewLogTo(func(line []byte) { got = append(got, string(line)) }, int64(most*len(sample().Line())))
		for range 5 {
			l.Add(sample())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		last := got[len(got)-1]
		if most == 5 && (len(got) != 5 || strings.Contains(last, "lost")) {
			t.Errorf("got %d lines of 5, the last %s", len(got), last)
		}
		if want := fmt.Sprintf(`{"format_version":1,"event":"lost","count":%d}`+"\n", 5-most); most < 5 && (len(got) != most+1 || last != want) {
			t.Errorf("got %d lines of %d, the last %s", len(got), most+1, last)
		}
	}
}

// TestSummary: repeated denials are counted, those beyond one screen are left out, and names
// cannot write to the terminal.
func TestSummary(t *testing.T) {
	l := NewLog(nil)
	var b strings.Builder
	l.Summary(&b, "see there")
	if b.String() != "" {
		t.Errorf("said %q of nothing", b.String())
	}
	l.Add(sample())
	l.Add(sample())
	for i := range 6 {
		d := sample()
		op := ir.Access{Cap: ir.Create, On: ir.Direct(ir.In(fmt.Sprintf("x\x1b[%d", i)))}
		d.Operation, d.Wants, d.Verdict = op, ir.Caps(ir.Create), d.View.Decide(op)
		l.Add(d)
	}
	l.Summary(&b, "see there")
	const want = `accessc: a tool was refused 8 times
  read    keys ×2  rule keys, accessc.toml:3
  create  x\x1b[0  no rule
  create  x\x1b[1  no rule
  create  x\x1b[2  no rule
  create  x\x1b[3  no rule
  and 2 times more; see there
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestKeep: the file of a run counts all of its refusals, stays below its bound for all names that
// a tool can make, and has the questions that ask a policy for the operations of the tool.
func TestKeep(t *testing.T) {
	l := NewLog(nil)
	l.Add(sample())
	l.Add(sample())
	for i := range maxKept {
		d := sample()
		op := ir.Access{Cap: ir.Create, On: ir.Direct(ir.In(fmt.Sprintf("%s\x1b%d", strings.Repeat("x", 4000), i)))}
		d.Operation, d.Wants, d.Verdict = op, ir.Caps(ir.Create), d.View.Decide(op)
		l.Add(d)
	}
	text := l.Keep(Kept{Tool: "a tool"}, time.Unix(0, 0))
	var k Kept
	if err := json.Unmarshal(text, &k); err != nil || len(text) > MaxKept || strings.ContainsRune(string(text), '\x1b') {
		t.Fatalf("%v, %d bytes", err, len(text))
	}
	sum := k.LeftOut
	for _, e := range k.Denials {
		sum += e.Times
	}
	if sum != l.Total() || k.Total != l.Total() || k.LeftOut == 0 {
		t.Errorf("%d in all, %d left out, %d counted", k.Total, k.LeftOut, sum)
	}
	first := k.Denials[0]
	if first.Times != 2 || fmt.Sprint(first.Question, first.Needs) != "[read /ws/keys] [read]" || first.Rule.Line != 3 {
		t.Errorf("%+v", first)
	}
}

// TestSummarySocket: a socket file needs a rule on files, and an address a net rule.
func TestSummarySocket(t *testing.T) {
	tool := ir.NewTool("x")
	l := NewLog(nil)
	for _, op := range []ir.Operation{
		ir.Dial{On: ir.Direct(ir.Sys("srv/s"))},
		ir.Connect{To: ir.Endpoint{Host: ir.Host{Kind: ir.HostAddr, Addr: netip.MustParseAddr("::1")}, Port: 80}},
	} {
		l.Add(&Denial{Operation: op, Verdict: ir.Verdict{Reason: ir.ReasonDefault}, View: ir.NewView(tool, ir.Linux, ir.Facts{}), Roots: roots})
	}
	var b strings.Builder
	l.Summary(&b, "see there")
	for _, want := range []string{"connect  /srv/s    no rule\n", "connect  [::1]:80  no net rule\n  see there\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// TestSummaryJoins: a shell tries a program in each directory of PATH, and a person reads
// the same line of each.
func TestSummaryJoins(t *testing.T) {
	l := NewLog(nil)
	for _, path := range []string{"/usr/bin/git", "/bin/git", "/usr/bin/git"} {
		d := sample()
		rule := &ir.CommandRule{Program: "git", Origin: ir.Origin{Pos: ir.Pos{File: "accessc.toml", Line: 6}}}
		d.Operation, d.Wants = ir.Run{Program: path, Args: []string{"log"}}, 0
		d.Verdict = ir.Verdict{Reason: ir.ReasonArgs, Rule: rule}
		l.Add(d)
	}
	var b strings.Builder
	l.Summary(&b, "see there")
	const want = "accessc: a tool was refused 3 times\n  run  git log ×3  not with these arguments: rule git, accessc.toml:6"
	if !strings.HasPrefix(b.String(), want) || strings.Count(b.String(), "git log") != 1 {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestGrantReplaces: a file that has a rule is replaced by another of its directory, as editors do,
// once both rules grant the same. The name of the other file gets no rule.
func TestGrantReplaces(t *testing.T) {
	tool := ir.NewTool("x")
	tool.Declared.FS = true
	tool.FS = []ir.FSRule{
		{At: ir.In("src"), Caps: ir.Write.With(ir.Read).With(ir.Execute)},
		{At: ir.In("src/a.c"), Caps: ir.Write.With(ir.Read)},
	}
	v := ir.NewView(tool, ir.Linux, ir.Facts{Bindings: roots, Base: []ir.FSRule{}})
	d := &Denial{Operation: ir.Rename{Src: ir.Direct(ir.In("src/sedX7fK2a")), Dst: ir.Direct(ir.In("src/a.c")), SrcKind: ir.File, DstKind: ir.File}, View: v, Roots: roots}
	d.Verdict = v.Decide(d.Operation)
	list, ok := d.Rules()
	if d.Verdict.Allowed() || !ok || len(list) != 2 {
		t.Fatalf("%+v: %+v", d.Verdict, list)
	}
	for _, r := range list {
		if r.Caps != tool.FS[0].Caps || r.At != ir.In("src") && r.At != ir.In("src/a.c") {
			t.Errorf("%+v", r)
		}
	}
}
