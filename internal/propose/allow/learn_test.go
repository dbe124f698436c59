package allow

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/accessc/accessc/internal/host/approvals"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// recorded draws the operations of some runs.
func recorded(rt *rapid.T, base string) []denial.Entry {
	var entries []denial.Entry
	for _, op := range rapid.SliceOfN(rapid.SampledFrom(operations), 1, 10).Draw(rt, "operations") {
		words := strings.Fields(strings.ReplaceAll(op, "B/", base+"/"))
		for i, w := range words[1:] {
			words[i+1] = strings.ReplaceAll(w, "_", " ")
		}
		entries = append(entries, denial.Entry{Times: rapid.IntRange(1, 3).Draw(rt, "times"), Question: words, Own: rapid.Bool().Draw(rt, "own")})
	}
	return entries
}

// TestLearn: a plan from random evidence permits the operations that it names, reaches nothing sensitive
// or protected, and permits nothing beyond its stated reach.
func TestLearn(t *testing.T) {
	var planned, left, own atomic.Int64
	irtest.Check(t, 1500, 1, func(rt *rapid.T) {
		files := maps.Clone(tree)
		list := strings.Join(rapid.SliceOfN(rapid.SampledFrom(rules), 1, 3).Draw(rt, "rules"), ", ")
		files["ws/accessc.toml"] = strings.ReplaceAll(rapid.SampledFrom(forms).Draw(rt, "form"), "R", list)
		req, base := world(t, files)
		req.Wide = rapid.Bool().Draw(rt, "wide")
		p, err := Begin(req)
		if err != nil {
			rt.Fatal(err)
		}
		entries := recorded(rt, base)
		served := rapid.SampledFrom([]string{"", "read /proc/self/status"}).Draw(rt, "served")
		lesson, err := p.Learn(entries, served, func(a Added) []string { return []string{a.Rule} })
		if err != nil {
			rt.Fatal(err)
		}
		own.Add(int64(len(lesson.Own)))
		told := map[int]bool{}
		for _, l := range lesson.Left {
			left.Add(1)
			for _, i := range l.Entries {
				told[i] = l.Why != ""
			}
		}
		for _, i := range lesson.Own {
			told[i] = true
		}
		then := p.Policy
		if lesson.Plan != nil {
			planned.Add(1)
			if then, err = p.After(lesson.Plan); err != nil {
				rt.Fatal(err)
			}
			inBounds(rt, base, p, then, lesson.Plan, entries, told)
		}
		if p.unserved(then.Tool) || lesson.Unserved || served == "" && then.Tool.LateOpen {
			rt.Fatalf("%q: late %v, unserved %v", served, then.Tool.LateOpen, lesson.Unserved)
		}
		for i, e := range entries {
			if !told[i] && !then.Permits(e) {
				rt.Fatalf("%v is neither permitted nor refused", e.Question)
			}
		}
	})
	irtest.Happened(t, map[string]int{"for another layer": int(own.Load())}, "for another layer")
	if planned.Load() == 0 || left.Load() == 0 || own.Load() == 0 && irtest.Full() {
		t.Errorf("%d plans, %d refusals, %d for another layer", planned.Load(), left.Load(), own.Load())
	}
	t.Logf("%d plans, %d refusals, %d for another layer", planned.Load(), left.Load(), own.Load())
}

// inBounds compares two policies by brute force: on every file that there is, and on names that are
// not there.
func inBounds(rt *rapid.T, base string, p *Planner, then *Policy, plan *Plan, entries []denial.Entry, left map[int]bool) {
	asked, counted, beyond := map[string]bool{}, 0, []string{}
	for i, e := range entries {
		if left[i] || p.Permits(e) {
			continue
		}
		for _, w := range e.Question[1:] {
			asked[strings.TrimSuffix(w, "/")] = true
		}
	}
	for _, a := range plan.Added {
		counted += a.Reach.Files
		for _, s := range a.Reach.Beyond {
			if dir, ok := strings.CutPrefix(s, "what will be in "); ok {
				beyond = append(beyond, dir)
			}
		}
	}
	more := 0
	_ = filepath.WalkDir(base, func(abs string, e fs.DirEntry, _ error) error {
		names := []string{abs}
		if e.IsDir() {
			names = []string{abs + "/sub/new", abs + "/new"}
		}
		for _, name := range names {
			if gained := then.gained(p.Policy, name); gained != 0 && !asked[name] {
				if rel, _ := filepath.Rel(base, name); strings.Contains(name, ".env") || strings.HasPrefix(rel, "home/.ssh") {
					rt.Fatalf("%s of %s, which is sensitive, by\n%s", gained, rel, plan.New)
				}
				if more++; e.IsDir() {
					more--
					within(rt, then, name, beyond, plan)
				}
			}
		}
		return nil
	})
	if more != counted {
		rt.Fatalf("%d files are granted besides, %d are told:\n%s", more, counted, plan.New)
	}
	if len(then.Now.Reaches(then.Tool)) > len(p.Now.Reaches(p.Tool)) {
		rt.Fatalf("sensitive: %v\n%s", then.Now.Reaches(then.Tool), plan.New)
	}
	places := ir.ProtectedPaths()
	if !p.wide { // the default policy lets a tool remove these, and make them as directories
		places = append(places, ir.ProtectedPath{Path: ".git"}, ir.ProtectedPath{Path: ".github"})
	}
	for _, g := range places {
		abs, _ := p.asker.Bindings.Path(ir.In(g.Path))
		if gained := then.gained(p.Policy, abs); gained&ir.Write != 0 {
			rt.Fatalf("%s of %s by\n%s", gained, g.Path, plan.New)
		}
	}
}

// within makes sure that a name that is not there lies in a directory that is told.
func within(rt *rapid.T, then *Policy, name string, told []string, plan *Plan) {
	at := then.asker.Bindings.Locate(name).Short()
	if !slices.ContainsFunc(told, func(dir string) bool { return ir.Within(at, dir) }) {
		// A rule on a name that is not there is a directory's, too.
		if !slices.ContainsFunc(plan.Added, func(a Added) bool {
			return strings.Contains(a.Rule, " "+strings.TrimSuffix(filepath.Dir(at), "/sub")+":")
		}) {
			rt.Fatalf("%s is granted, and %v told:\n%s", at, told, plan.New)
		}
	}
}

// gained are the capabilities on a place that a policy grants and another does not.
func (p *Policy) gained(was *Policy, abs string) ir.CapSet {
	return p.Granted(abs) &^ was.Granted(abs)
}

// TestLearnPrograms: several calls of one program are one rule, a call with any arguments stands for the
// others, and programs that lead out have none.
func TestLearnPrograms(t *testing.T) {
	req, _ := world(t, map[string]string{"ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.commands = { sh = {} }\n"})
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	entry := func(words ...string) denial.Entry { return denial.Entry{Times: 1, Question: words} }
	for _, tt := range []struct {
		entries []denial.Entry
		want    string
		left    int
	}{
		{[]denial.Entry{entry("run", "git", "status"), entry("run", "git", "log", "-1"), entry("run", "git", "status")}, `git = { args = [["status"], ["log", "-1"]] }`, 0},
		{[]denial.Entry{entry("run", "git", "status"), entry("run", "git")}, "git = {}", 0},
		{[]denial.Entry{entry("run", "docker", "ps"), entry("run", "make")}, "make = {}", 1},
	} {
		lesson, err := p.Learn(tt.entries, "", nil)
		if err != nil || lesson.Plan == nil || !strings.Contains(string(lesson.Plan.New), tt.want+"\n") || len(lesson.Left) != tt.left {
			t.Errorf("%v: %+v, want %s", err, lesson, tt.want)
		}
	}
}

// TestLearnPorts: a port that the kernel chooses is another one in the next run.
func TestLearnPorts(t *testing.T) {
	req, _ := world(t, map[string]string{"ws/accessc.toml": "[tools.t]\nsource = 'local'\n"})
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	listen := func(ports ...string) (out []denial.Entry) {
		for _, port := range ports {
			out = append(out, denial.Entry{Times: 1, Question: []string{"listen", "127.0.0.1:" + port}})
		}
		return out
	}
	for _, tt := range []struct {
		entries []denial.Entry
		ports   int
		beyond  bool
	}{{listen("8080", "9090"), 2, false}, {listen("38979", "41200"), 0, true}} {
		lesson, err := p.Learn(tt.entries, "", nil)
		if err != nil || lesson.Plan == nil {
			t.Fatalf("%v %+v", err, lesson)
		}
		text := string(lesson.Plan.New)
		if strings.Count(text, "port = ") != tt.ports || strings.Count(text, "listen = true") != max(tt.ports, 1) || (len(lesson.Plan.Reach.Beyond) > 0) != tt.beyond {
			t.Errorf("%v\n%s", lesson.Plan.Reach, text)
		}
	}
}

// TestLearnWhole: after runs under the default policy a rule lets a tool change the whole workspace, if a program
// makes names up in it or moves files beside protected ones. After others none does.
func TestLearnWhole(t *testing.T) {
	for _, tt := range []struct {
		name string
		wide bool
		ops  string
		want bool
	}{
		{"made up", true, "create tmp1a2b3c", true},
		{"under another policy", false, "create tmp1a2b3c", false},
		{"a name of a person's", true, "create out", false},
		{"a journal", true, "create app.db-journal", false},
		{"moved", true, "create target1; create target1/x; rename target1 target", true},
		{"beside protected files", true, "create .git/index.lock; rename .git/index.lock .git/index", true},
		{"beside protected files, under another policy", false, "create .git/index.lock; rename .git/index.lock .git/index", false},
		{"to a protected file", true, "create .git/x; rename .git/x .git/config", false},
		{"elsewhere", true, "create src/tmp1a2b3c", false},
		{"moved, by a tool that reads some places", true, "create target1; create target1/x; rename target1 target; read src/a; read .", true},
	} {
		rule := "{ path = '.', read = true }"
		if strings.HasSuffix(tt.name, "some places") {
			rule = "{ path = '.' }"
		}
		req, base := world(t, map[string]string{
			"ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.fs = [" + rule + ", { path = '.env' }]\n", "ws/.env": "", "ws/.git/config": "", "ws/.git/index": "", "ws/src/a": "",
		})
		req.Wide = tt.wide
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		var entries []denial.Entry
		for op := range strings.SplitSeq(tt.ops, "; ") {
			words := strings.Fields(op)
			for i := range words[1:] {
				words[i+1] = base + "/ws/" + words[i+1]
			}
			entries = append(entries, denial.Entry{Times: 1, Question: words})
		}
		lesson, err := p.Learn(entries, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		then := p.Policy
		if lesson.Plan != nil {
			if then, err = p.After(lesson.Plan); err != nil {
				t.Fatal(err)
			}
		}
		whole := then.Granted(base + "/ws/any").Contains(ir.Write)
		if whole != tt.want || then.Granted(base+"/ws/.env") != 0 || then.Granted(base+"/ws/.git/config")&ir.Write != 0 {
			t.Errorf("%s: %+v", tt.name, lesson)
		}
		if !whole && strings.Contains(tt.ops, "tmp1a2b3c") && then.Granted(base+"/ws/tmp1a2b3c").Has(ir.Create) {
			t.Errorf("%s: a rule on a name that was made up", tt.name)
		}
	}
}

// TestLearnToolchain: a toolchain of the home is learned by its preset, and its other files are told.
func TestLearnToolchain(t *testing.T) {
	const extends = "[tools.t.access]\nextends = [\"preset:rust\"]\n"
	for _, tt := range []struct{ name, local, ops, want string }{
		{"once", "", "execute .cargo/bin/cargo, read .rustup/settings.toml", extends},
		{"a change beside", "", "execute .cargo/bin/cargo, update .rustup/settings.toml", extends},
		{"a list of presets", "[tools.t]\naccess.extends = ['preset:go']\n", "execute .cargo/bin/cargo", "path = \"~/.cargo/bin/cargo\"\n"},
		{"waiting", "[tools.t]\naccess.extends = ['preset:rust']\n", "execute .cargo/bin/cargo", ""},
		{"a file", "", "read .gitconfig", "path = \"~/.gitconfig\"\n"},
		{"an agent, which has hosts", "", "execute .opencode/bin/opencode", "path = \"~/.opencode/bin/opencode\"\n"},
	} {
		req, base := world(t, map[string]string{
			"home/.rustup/settings.toml": "", "home/.cargo/bin/cargo": "", "home/.cargo/bin/rustc": "", "home/.opencode/bin/opencode": "", "home/.gitconfig": "",
			"ws/accessc.toml": "[tools.t]\nsource = 'local'\n", "ws/.accessc/local.toml": tt.local,
		})
		var entries []denial.Entry
		for op := range strings.SplitSeq(tt.ops, ", ") {
			verb, name, _ := strings.Cut(op, " ")
			entries = append(entries, denial.Entry{Times: 1, Question: []string{verb, base + "/home/" + name}})
		}
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		lesson, err := p.Learn(entries, "", nil)
		switch {
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want == "" && (lesson.Plan != nil || !slices.Equal(lesson.Waiting, []string{"preset:rust"})):
			t.Errorf("%s: %+v", tt.name, lesson)
		case tt.want != "" && (lesson.Plan == nil || !strings.Contains(string(lesson.Plan.New), tt.want) || len(lesson.Plan.Added) != 1):
			t.Errorf("%s: %+v", tt.name, lesson)
		case tt.name == "once":
			a := lesson.Plan.Added[0]
			if a.Reach.Files != 1 || !slices.Contains(a.Reach.Beyond, "the variable RUSTUP_HOME") || !slices.Contains(a.Reach.Beyond, "what will be in ~/.rustup") {
				t.Errorf("%+v", a)
			}
		case tt.name == "a change beside" && len(lesson.Left) != 1:
			t.Errorf("%+v", lesson.Left)
		}
	}
}

// TestTemporary: names that programs make up, and names that people give.
func TestTemporary(t *testing.T) {
	for _, name := range []string{
		"sedAb12Xy", "tmp1a2b3c", ".a.c.swp", "4913", "a.c~", "app.db-journal", "app.db-wal", "x.tmp", "index.lock", "out.12345", "cache-8f3a91c2.json",
		"run.pid4711", "core.31337", "lib-1.2.3", "pkg@2.0.1", "go-build1234567", "a_0f9e8d7c6b5a",
	} {
		if !temporary(name) {
			t.Errorf("%s was made up", name)
		}
	}
	for _, name := range []string{"a.c", "main.go", "README.md", "dist", "build", "app.db", "index.html", "package-lock.json", "deadbeef", "v1", "file.1", "make_it_so"} {
		if temporary(name) {
			t.Errorf("%s was not made up", name)
		}
	}
}

// TestUnused: a rule is listed if it grants something and decides on no recorded operation. Rules of
// presets are not: they are taken or left together.
func TestUnused(t *testing.T) {
	req, base := world(t, map[string]string{
		"ws/src/a": "", "ws/lib/a": "",
		"ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.extends = ['preset:go']\naccess.commands = { sh = {}, git = {} }\naccess.fs = [\n" +
			"{ path = 'src', read = true },\n{ path = 'lib', read = true },\n{ path = 'src/deep' },\n]\n",
	})
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Unused([]denial.Entry{
		{Times: 1, Question: []string{"read", base + "/ws/src/a"}}, {Times: 1, Question: []string{"run", "sh", "-c", "x"}}, {Times: 1, Operation: "ptrace"},
	})
	var words []string
	for _, u := range got {
		words = append(words, u.Resource+" "+u.Rule)
	}
	if strings.Join(words, "; ") != "fs lib: read; commands git" || got[0].File != "accessc.toml" || got[0].Line != 7 {
		t.Errorf("%+v", got)
	}
}

// TestLearnKeeps: a rule pins its path, so one is left out that would take away a move that runs have
// made.
func TestLearnKeeps(t *testing.T) {
	req, base := world(t, map[string]string{
		"ws/lib/a": "", "ws/src/a": "", "ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.fs = [{ path = '.', read = true, write = true }]\n",
	})
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	entries := []denial.Entry{
		{Times: 1, Question: []string{"execute", base + "/ws/src/a"}}, {Times: 1, Question: []string{"execute", base + "/ws/lib/a"}},
		{Times: 1, Question: []string{"rename", base + "/ws/lib", base + "/ws/lib2"}},
	}
	if !p.Permits(entries[2]) {
		t.Fatal("the move is not permitted to begin with")
	}
	lesson, err := p.Learn(entries, "", nil)
	if err != nil || lesson.Plan == nil || len(lesson.Left) != 1 || lesson.Left[0].Entries[0] != 1 {
		t.Fatalf("%+v, %v", lesson, err)
	}
	then, err := p.After(lesson.Plan)
	if err != nil || !then.Permits(entries[0]) || then.Permits(entries[1]) || !then.Permits(entries[2]) {
		t.Errorf("%v\n%s", err, lesson.Plan.New)
	}
}

// TestLearnBesidePermitted: an operation that a rule of the user permits outside of the workspace, such as a change,
// keeps no other operation from being proposed. Cause: each was left out, for the reason that would forbid to propose
// the user's rule again.
func TestLearnBesidePermitted(t *testing.T) {
	req, base := world(t, map[string]string{
		"ws/a": "", "home/p/a": "", "ws/accessc.toml": "[tools.t]\nsource = 'local'\ncommand = 'sh'\n" +
			"access.fs = [{ path = 'a', read = true }, { path = '~/p/a', external = true, read = true, write = true }]\n",
	})
	_, err := approvals.Update(req.Compile.State.Approvals(), func(s *approvals.Store) error {
		return s.Approve(approvals.Mount{RulePath: "~/p/a", CanonicalTarget: base + "/home/p/a"})
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	entries := []denial.Entry{
		{Times: 1, Question: []string{"update", base + "/home/p/a"}}, {Times: 1, Question: []string{"create", base + "/ws/new"}},
		{Times: 1, Question: []string{"read", base + "/home/.ssh/id"}},
	}
	if !p.Permits(entries[0]) {
		t.Fatal("the rule of the user is not in force")
	}
	lesson, err := p.Learn(entries, "", nil)
	if err != nil || lesson.Plan == nil || len(lesson.Left) != 1 || lesson.Left[0].Entries[0] != 2 {
		t.Fatalf("%+v, %v", lesson, err)
	}
}
