package allow

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// entries are operations in words, with paths below a directory.
func entries(base, ops string) (out []denial.Entry) {
	for op := range strings.SplitSeq(ops, "; ") {
		words := strings.Fields(op)
		for i := range words[1:] {
			words[i+1] = base + "/" + words[i+1]
		}
		out = append(out, denial.Entry{Times: 1, Question: words})
	}
	return out
}

// TestReads: a directory stands for its files if it was opened or mostly read.
func TestReads(t *testing.T) {
	const all = "all"
	for _, tt := range []struct{ name, ops, want string }{
		{"files", "read src/a; read lib/a", "lib/a src/a"},
		{"two of three", "read lib/a; read lib/b", "lib/a lib/b"},
		{"most", "read src/a; read src/b; read src/c", "src"},
		{"three of many", "read many/1; read many/2; read many/3", "many/1 many/2 many/3"},
		{"opened", "read many", "many"},
		{"opened below", "read src/deep; read src/deep/x; read src/a", "src/a src/deep"},
		{"the workspace", "read src/a; read .", all},
		{"most of the workspace", "read src/a; read src/b; read src/c; read lib/a; read lib/b; read lib/c; read src/deep/x; read many/1; read many/2; read many/3; read many/4; read many/5; read many/6; read many/7; read many/8", "lib many src"},
		{"changed", "read src/a; update src/a; read lib/a", "lib/a"},
		{"made", "create made/; create made/x; read made/x; read made; read lib/a", "lib/a"},
		{"replaced", "read src/a; rename src/b src/a", ""},
		{"a directory with other times", "read lib; update lib", "lib"},
		{"sensitive", "read .env; read lib/.env.local", ""},
		{"gone", "read src/gone", ""},
		{"started", "execute src/a", "src/a"},
		{"protected", "read .git/config", ".git/config"},
		{"outside", "read ../home/p/a", ""},
	} {
		files := map[string]string{"ws/accessc.toml": policy, "ws/made/x": ""}
		for name := range tree {
			files[name] = ""
		}
		for _, n := range strings.Split("123456789", "") {
			files["ws/many/"+n] = ""
		}
		req, base := world(t, files)
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		reads, ok := p.Reads(entries(base+"/ws", tt.ops))
		var got []string
		for _, r := range reads {
			got = append(got, r.At.Path)
		}
		if !ok {
			got = []string{all}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, got, tt.want)
		}
	}
}

// TestReadsMany: rules on very many places are none that a person reads.
func TestReadsMany(t *testing.T) {
	files := map[string]string{"ws/accessc.toml": policy}
	var ops []string
	for i := range maxReads + 1 {
		dir := string(rune('A'+i/26)) + string(rune('a'+i%26))
		files["ws/"+dir+"/x"], files["ws/"+dir+"/y"] = "", ""
		ops = append(ops, "read "+dir+"/x")
		for _, more := range []string{"1", "2", "3"} {
			files["ws/"+dir+"/"+more] = ""
		}
	}
	req, base := world(t, files)
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	if reads, ok := p.Reads(entries(base+"/ws", strings.Join(ops, "; "))); ok {
		t.Errorf("%d places", len(reads))
	}
	if _, ok := p.Reads(entries(base+"/ws", strings.Join(ops[1:], "; "))); !ok {
		t.Error("too many places")
	}
}

// TestReadsCover: the places cover all files that were read and left as they are, and no other file but those of a
// directory that was opened, or of which at least half the files were read.
func TestReadsCover(t *testing.T) {
	req, base := world(t, tree)
	if err := os.WriteFile(filepath.Join(base, "ws", "accessc.toml"), []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	places := []string{"src/a", "src/b", "src/c", "src/deep/x", "src/deep", "lib/a", "lib/b", "lib/c", "lib/.env.local", ".git/index", ".git/HEAD", ".mcp.json", "src"}
	var narrow atomic.Int64
	irtest.Check(t, 2000, 1, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) string {
			return rapid.SampledFrom([]string{"read", "read", "read", "update", "execute"}).Draw(rt, "verb") + " " + rapid.SampledFrom(places).Draw(rt, "place")
		}), 1, 12).Draw(rt, "operations")
		reads, ok := p.Reads(entries(base+"/ws", strings.Join(ops, "; ")))
		if !ok {
			return
		}
		narrow.Add(1)
		for _, at := range places {
			read := slices.Contains(ops, "read "+at) || slices.Contains(ops, "execute "+at)
			file := !slices.Contains([]string{"src", "src/deep"}, at)
			i := slices.IndexFunc(reads, func(r Read) bool { return ir.In(at).Under(r.At) })
			switch {
			case i < 0 && read && at != "lib/.env.local" && !(file && slices.Contains(ops, "update "+at)):
				rt.Fatalf("%v: %s is not covered by %v", ops, at, reads)
			case i >= 0 && !read && !reads[i].Listed && (reads[i].Files < few || reads[i].Files < reads[i].Unread):
				rt.Fatalf("%v: %s is covered by %+v", ops, at, reads[i])
			case i >= 0 && p.sensitive(reads[i].At):
				rt.Fatalf("%v: %+v is sensitive", ops, reads[i])
			}
		}
	})
	if narrow.Load() == 0 {
		t.Error("no narrow policy")
	}
	t.Logf("%d narrow", narrow.Load())
}

// TestWider: a policy is wider by one capability on one file.
func TestWider(t *testing.T) {
	planner := func(rules string) *Policy {
		req, _ := world(t, map[string]string{"ws/src/a": "", "ws/src/b": "", "ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.fs = [" + rules + "]\n"})
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		return p.Policy
	}
	wide, narrow := planner("{ path = '.', read = true }"), planner("{ path = '.' }, { path = 'src/a', read = true }")
	one := planner("{ path = '.', read = true }, { path = 'src/b', read = true, execute = true }")
	// Each has a workspace of its own, and is asked about the files of the first.
	if narrow.Wider(narrow) || !one.Wider(planner("{ path = '.' }")) || wide.Wider(wide) {
		t.Error("a policy is wider than itself, or not wider than nothing")
	}
}

// TestLearnSocket: a connection to a socket file is learned where the run has bound that file itself, and no other was
// ever met at its path.
func TestLearnSocket(t *testing.T) {
	for _, tt := range []struct {
		name, at string
		own      []bool
		want     bool
	}{
		{"own", "ws/run/s", []bool{true}, true},
		{"another's", "ws/run/s", []bool{false}, false},
		{"own, and another's", "ws/run/s", []bool{true, false}, false},
		{"another's, and own", "ws/run/s", []bool{false, true}, false},
		{"outside", "beside/s", []bool{true}, false},
		{"of the home", "home/.gnupg/S.gpg-agent", []bool{true}, false},
		{"sensitive", "ws/.env", []bool{true}, false},
		{"protected", "ws/.git/hooks/s", []bool{true}, false},
		{"among the client's settings", "ws/.vscode/s", []bool{true}, false},
		{"closed", "ws/closed/s", []bool{true}, false},
	} {
		req, base := world(t, map[string]string{
			"ws/accessc.toml": "[tools.t]\nsource = 'local'\naccess.fs = [{ path = '.', read = true }, { path = 'closed' }]\n", "ws/run/keep": "", "beside/x": "", "home/.gnupg/x": "",
		})
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		var dials []denial.Entry
		for _, own := range tt.own {
			dials = append(dials, denial.Entry{Times: 1, Question: []string{"dial", base + "/" + tt.at}, Own: own})
		}
		lesson, err := p.Learn(dials, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (lesson.Plan != nil) != tt.want || !tt.want && len(lesson.Left) != len(tt.own) {
			t.Errorf("%s: %+v", tt.name, lesson)
		}
		if tt.want && (len(lesson.Plan.Added) != 1 || !slices.Contains(lesson.Plan.Added[0].Reach.Beyond, "connections to every program that will listen at run/s")) {
			t.Errorf("%s: %+v", tt.name, lesson.Plan.Added)
		}
		// Nothing but the record of a run says whose a socket is.
		for _, x := range p.Propose(dials) {
			if x.Plan != nil || x.Command != "" {
				t.Errorf("%s: %+v", tt.name, x)
			}
		}
	}
}

// TestLearnSought: settings of the user's home are learned by their preset, unless they lead to something sensitive.
func TestLearnSought(t *testing.T) {
	for _, tt := range []struct {
		name, local, leads string
		sought             []string
		want               bool
		left               int
	}{
		{name: "the file", sought: []string{"~/.gitconfig"}, want: true},
		{name: "another file of the directory", sought: []string{"~/.config/git/attributes", "~/.config/git/ignore"}, want: true},
		{name: "another directory", sought: []string{"~/.config/gitk", "~/.config/other/x", "~/.git"}},
		{name: "no preset", sought: []string{"~/.ssh/id", "~/.config", "~/../x"}},
		{name: "to a secret", leads: ".ssh/id", sought: []string{"~/.gitconfig"}, left: 1},
		{name: "nowhere", leads: "gone", sought: []string{"~/.gitconfig"}},
		{name: "a list of presets", local: "[tools.t]\naccess.extends = ['preset:go']\n", sought: []string{"~/.gitconfig"}, left: 1},
		{name: "a preset with hosts", sought: []string{"~/.opencode/bin/x"}, left: 1},
	} {
		req, base := world(t, map[string]string{
			"home/.ssh/id": "", "home/.opencode/bin/opencode": "", "home/.gitconfig": "", "ws/.accessc/local.toml": tt.local, "ws/accessc.toml": policy,
		})
		if tt.leads != "" {
			file := filepath.Join(base, "home", ".gitconfig")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(base, "home", tt.leads), file); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		lesson, err := p.Learn(p.Sought(tt.sought), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (lesson.Plan != nil) != tt.want || len(lesson.Left) != tt.left {
			t.Errorf("%s: %+v", tt.name, lesson)
		}
		if tt.want && (!slices.Equal(lesson.Plan.Presets, []string{"git"}) || len(lesson.Plan.Added) != 1) {
			t.Errorf("%s: %+v", tt.name, lesson.Plan)
		}
	}
}

// TestLearnRepeats: the next run may change the file that a run has made, and connect to no socket by that.
func TestLearnRepeats(t *testing.T) {
	for _, tt := range []struct {
		name    string
		entries []denial.Entry
		want    bool
	}{
		{"a file", []denial.Entry{{Question: []string{"create", "out"}}}, true},
		{"a socket", []denial.Entry{{Question: []string{"create", "out"}, Own: true}}, false},
		{"a socket of another", []denial.Entry{{Question: []string{"create", "out"}}, {Question: []string{"dial", "out"}}}, false},
	} {
		req, base := world(t, map[string]string{"ws/accessc.toml": policy})
		p, err := Begin(req)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tt.entries {
			tt.entries[i].Times, tt.entries[i].Question[1] = 1, base+"/ws/out"
		}
		lesson, err := p.Learn(tt.entries, "", nil)
		if err != nil || lesson.Plan == nil {
			t.Fatalf("%s: %v %+v", tt.name, err, lesson)
		}
		then, err := p.After(lesson.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if got := then.Granted(base + "/ws/out"); got.Has(ir.Update) != tt.want || !got.Has(ir.Create) || got.Has(ir.Delete) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
