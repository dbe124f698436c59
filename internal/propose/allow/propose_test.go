package allow

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/denial"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/text/shellword/split"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// world is a workspace with a home, a state and a user's layer beside it.
func world(t testing.TB, files map[string]string) (Request, string) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Request{
		Compile: hostfacts.Options{
			Options: compiler.Options{Root: filepath.Join(base, "ws"), Layers: source.Request{Home: filepath.Join(base, "home")}, Platforms: []ir.Platform{hostfacts.Platform()}},
			State:   userdir.Dir(filepath.Join(base, "state", "a", "b", "c")),
		},
		Layer: ir.LayerLocal, Tool: "t",
	}, base
}

// tree has the files of these tests, with their text.
var tree = map[string]string{
	"ws/src/a": "", "ws/src/b": "", "ws/src/c": "", "ws/src/deep/x": "", "ws/.env": "", "ws/lib/.env.local": "", "ws/lib/a": "", "ws/lib/b": "", "ws/lib/c": "",
	"ws/.git/config": "", "ws/.git/index": "", "ws/.git/HEAD": "", "ws/.mcp.json": "", "ws/.github/workflows/x": "",
	"home/.ssh/id": "", "home/.gitconfig": "", "home/p/a": "", "home/p/b": "", "home/p/c": "", "home/q/.env": "", "home/q/a": "", "home/q/b": "", "home/q/c": "",
	"home/.pyenv/shims/python3": "", "home/.pyenv/libexec/pyenv": "", "home/.pyenv/.env": "", "home/.rustup/settings.toml": "", "home/.cargo/bin/cargo": "",
	"home/.bashrc": "", "home/r/.git/config": "", "home/r/x": "", "home/.claude/settings.json": "", "home/it's $(x)/y": "", "beside/a": "", "beside/b": "", "beside/c": "",
}

// forms are ways to write a tool's policy in a file; R is a list of rules on files.
var forms = []string{
	"[tools.t]\nsource = 'local'\ncommand = 'sh'\naccess.fs = [R]\n",
	"# mine\n[tools.t]\nsource = 'local'\naccess = { fs = [R] } # c\n\n[x-other]\nx = 1\n",
	"[conversation.tools.t]\nsource = 'local'\n[conversation.tools.t.access]\nfs = [\n  R,\n]\nnet = []",
	"tools.t = { source = 'local', access.fs = [ R ] }\n",
	"[tools.t]\nsource = 'local'\n\n[tools.t.access.fs]\nstrategy = 'append'\nvalue = [R]\n",
	"[servers.t]\ncommand = 'sh'\naccess.fs = [R]\n",
	"[tools.t]\r\nsource = 'local'\r\n\r\n[[tools.t.access.fs]]\r\npath = '.'\r\nread = true\r\n# end",
	"[tools.t]\nsource = 'local'\n[tools.t.access]\ncommands = { git = { args = [['status']] } }\nfs = [R]\n",
}

var rules = []string{
	"{ path = '.', read = true }", "{ path = 'src', read = true }", "{ path = 'src/a', read = true, update = false }", "{ path = 'lib', read = true, write = true }",
	"{ path = 'src/deep' }", "{ path = '.' }", "{ path = '.', read = true, write = true, execute = true }",
}

// operations are refusals that a run may have had; B is the directory beside which the workspace
// lies.
var operations = []string{
	"read B/ws/src/a", "update B/ws/src/a", "update B/ws/src/b", "update B/ws/src/c", "create B/ws/src/new", "create B/ws/src/sedAb12Xy", "create B/ws/dist/", "delete B/ws/src/c",
	"read B/ws/.env", "update B/ws/lib/.env.local", "update B/ws/lib/a", "update B/ws/lib/b", "delete B/ws/lib/c", "read B/ws/src", "read B/ws/lib", "read B/ws",
	"update B/ws/.git/config", "create B/ws/.git/index.lock", "update B/ws/.git/index", "create B/ws/.git", "create B/ws/.mcp.json", "update B/ws/accessc.toml", "create B/ws/.accessc/local.toml",
	"create B/ws/.github/x", "create B/ws/.github/y", "create B/ws/.github/z", "rename B/ws/src/a B/ws/src/d", "rename B/ws/src/a B/ws/.envrc", "link B/ws/src/a B/ws/lib/l", "execute B/ws/src/a",
	"read B/home/.ssh/id", "read B/home/.gitconfig", "read B/home", "read B/home/p/a", "read B/home/p/b", "update B/home/p/c", "read B/home/q/a", "update B/home/p/a", "delete B/home/p/b", "read B/home/.bashrc", "update B/home/.bashrc", "create B/home/p/new", "read B/home/p", "execute B/home/p/a", "run B/home/p/a",
	"update B/home/r/x", "read B/home/r/x", "update B/home/.claude/settings.json", "read B/home/it's_$(x)/y", "rename B/home/p/a B/home/p/d", "read B/beside/a", "update B/beside/b", "read B/beside/c", "read B/home/q/b", "read B/home/q/c",
	"execute B/home/.pyenv/shims/python3", "read B/home/.pyenv/libexec/pyenv", "read B/home/.rustup/settings.toml", "execute B/home/.cargo/bin/cargo",
	"read /etc/shadow", "read /etc/passwd-", "update /etc/hosts", "dial B/ws/src/s", "connect https://a.test/x", "connect POST https://a.test/x", "connect 10.0.0.5:80", "connect a.test", "connect tcp://a.test:22",
	"update B/ws/src/it's_$(x)_`y`_\"&;|_#", "create B/ws/src/-x_y", "read B/ws/src/\x1b[2J", "run git it's_$(x)",
	"listen localhost:8080", "run sudo", "run git log", "run git", "run docker ps", "env HOME2",
}

// TestPropose: a proposal that is applied to the file by its lines permits its operations, and gives
// the tool nothing that is sensitive or protected; and no proposal is on a root or leads out.
func TestPropose(t *testing.T) {
	seen := map[string]int{}
	irtest.Check(t, 1500, 1, func(rt *rapid.T) {
		files := map[string]string{}
		for name, text := range tree {
			files[name] = text
		}
		text := func(name string) string {
			list := strings.Join(rapid.SliceOfN(rapid.SampledFrom(rules), 1, 3).Draw(rt, name), ", ")
			return strings.ReplaceAll(rapid.SampledFrom(forms).Draw(rt, name+" form"), "R", list)
		}
		files["ws/accessc.toml"] = text("workspace")
		if rapid.Bool().Draw(rt, "has local") {
			files["ws/.accessc/local.toml"] = text("local")
		}
		req, base := world(t, files)
		req.Layer = rapid.SampledFrom([]ir.Layer{ir.LayerLocal, ir.LayerWorkspace}).Draw(rt, "layer")
		p, err := Begin(req)
		if err != nil {
			return // two kinds of tool of one name
		}
		var entries []denial.Entry
		ops := rapid.SliceOfN(rapid.SampledFrom(operations), 1, 8).Draw(rt, "operations")
		if rapid.Bool().Draw(rt, "beside") {
			ops = append(ops, "read B/beside/a")
		}
		for _, op := range ops {
			words := strings.Fields(strings.ReplaceAll(op, "B/", base+"/"))
			for i, w := range words[1:] {
				words[i+1] = strings.Replace(w, "_", " ", -1)
			}
			words[len(words)-1] = strings.Replace(words[len(words)-1], "passwd ", "passwd-", 1)
			entries = append(entries, denial.Entry{Times: 1, Question: words})
		}
		told := 0
		for _, x := range p.Propose(entries) {
			told += len(x.Denials)
			switch {
			case x.Plan != nil:
				seen["rule"]++
				if strings.Contains(string(x.Plan.New), "external = true") {
					seen["external rule"]++
				}
				applied(rt, p, x, entries)
				commanded(rt, p, x)
			case x.Command != "":
				seen["mount"]++
				_, target, _ := strings.Cut(strings.TrimPrefix(x.Command, "accessc mount "), "=")
				target = strings.TrimRight(strings.Trim(target, "'"), ":row")
				if rel, _ := filepath.Rel(base, target); !slices.Contains([]string{"beside", "home/p"}, path.Dir(rel)) && rel != "beside" && rel != "home/p" {
					rt.Fatalf("%s", x.Command)
				}
			case !x.Permitted:
				seen["refusal"]++
				if x.WhyNot == "" {
					rt.Fatalf("%v: no word", entries[x.Denials[0]].Question)
				}
			}
		}
		if told != len(entries) {
			rt.Fatalf("%d of %d refusals are told", told, len(entries))
		}
	})
	irtest.Happened(t, seen, "rule", "external rule", "mount", "refusal")
	t.Logf("%v", seen)
}

// commanded runs the command of a proposal, with the words that a shell would make of it.
func commanded(rt *rapid.T, p *Planner, x Proposal) {
	words, err := split.Words(x.Command)
	if err != nil {
		rt.Fatalf("%s: %v", x.Command, err)
	}
	var asks []Ask
	for _, w := range words[slices.Index(words, "t")+1:] {
		question, err := split.Words(w)
		if err != nil {
			rt.Fatalf("%s: %v", w, err)
		}
		a, err := p.Question(question)
		if err != nil {
			rt.Fatalf("%s: %v", w, err)
		}
		asks = append(asks, a)
	}
	plan, err := p.Plan(asks...)
	if err != nil || string(plan.New) != string(x.Plan.New) {
		rt.Fatalf("%s: %v\n%s\nbut the proposal is\n%s", x.Command, err, plan.New, x.Plan.New)
	}
}

// applied edits the file by lines and asks the policy.
func applied(rt *rapid.T, p *Planner, x Proposal, entries []denial.Entry) {
	file := filepath.Join(p.root, p.dir, p.name)
	text, _ := os.ReadFile(file)
	old := lines(text)
	line, replaced, changed := x.Plan.Change()
	now := append(append(append([]string{}, old[:line-1]...), changed...), old[line-1+replaced:]...)
	opts := p.opts
	opts.Layers.Edited = map[string][]byte{file: []byte(strings.Join(now, "\n") + "\n")}
	opts.Planned = x.Plan.Approve
	res, tool, err := compile(opts, "t", true)
	if err != nil {
		rt.Fatalf("%v\n%s", err, strings.Join(now, "\n"))
	}
	v := ir.NewView(tool, hostfacts.Platform(), res.Facts(tool))
	then, err := p.After(x.Plan)
	if err != nil {
		rt.Fatal(err)
	}
	for _, i := range x.Denials {
		a, err := then.Question(entries[i].Question)
		if err != nil || !a.Allowed(v) {
			rt.Fatalf("%v: %v, still denied by\n%s", entries[i].Question, err, strings.Join(now, "\n"))
		}
	}
	if len(res.Reaches(tool)) > len(p.Now.Reaches(p.Tool)) {
		rt.Fatalf("sensitive: %v\n%s", res.Reaches(tool), strings.Join(now, "\n"))
	}
	for _, f := range tool.FS {
		if f.External && f.Caps&ir.Write != 0 {
			rt.Fatalf("%s may be written by\n%s", f.Written, strings.Join(now, "\n"))
		}
	}
	for _, g := range append(ir.ProtectedPaths(), ir.ProtectedPath{Path: ".git"}, ir.ProtectedPath{Path: ".github"}) {
		for _, c := range ir.Write.List() {
			op := ir.Access{Cap: c, On: ir.Direct(ir.In(g.Path)), Name: ir.NameFile}
			if v.Decide(op).Allowed() && !p.View.Decide(op).Allowed() {
				rt.Fatalf("%s %s by\n%s", c, g.Path, strings.Join(now, "\n"))
			}
		}
	}
}

// TestMountNames: mounts that are proposed together have a name each, also where places are called alike but for case,
// and a place has one name.
func TestMountNames(t *testing.T) {
	files := map[string]string{"ws/accessc.toml": "[tools.t]\nsource = 'local'\ncommand = 'sh'\n", "ws/data-2/x": ""}
	for _, dir := range []string{"one", "two", "three", "four"} {
		files[dir+"/data/x"], files[dir+"/Data/x"] = "", ""
	}
	req, base := world(t, files)
	p, err := Begin(req)
	if err != nil {
		t.Fatal(err)
	}
	var entries []denial.Entry
	for _, at := range []string{"one/data", "two/data", "three/data", "four/Data", "one/data"} {
		entries = append(entries, denial.Entry{Times: 1, Question: []string{"read", base + "/" + at}})
	}
	names := map[string]string{}
	for _, x := range p.Propose(entries) {
		name, at, ok := strings.Cut(strings.TrimPrefix(x.Command, "accessc mount t:"), "=")
		if other := names[strings.ToLower(name)]; !ok || other != "" && other != at {
			t.Errorf("%q is proposed for %s, and before for %s: %s %s", name, at, other, x.Command, x.WhyNot)
		}
		names[strings.ToLower(name)] = at
	}
	if len(names) != 4 {
		t.Errorf("got %v", names)
	}
}
