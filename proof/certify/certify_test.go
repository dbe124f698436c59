package certify_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/registry"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/irjson"
	"github.com/accessc/accessc/proof/certify"
	"github.com/accessc/accessc/proof/check"
	"github.com/accessc/accessc/test/irtest"
)

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(h[:])
}

// built is a build of one tool in memory.
type built struct {
	tool  *ir.Tool
	texts map[string][]byte
	certify.Build
}

// build compiles a tool by all backends whose texts have a model.
func build(t interface{ Fatal(...any) }, tool *ir.Tool) built {
	b := built{tool: tool, texts: map[string][]byte{}}
	var rows []backends.Row
	hashes := map[string]string{}
	for _, back := range registry.All {
		if _, _, ok := check.Modelled(back.File()); !ok {
			continue
		}
		out, err := back.Compile(tool, backends.Target{Form: backends.Portable})
		if err != nil {
			t.Fatal(err)
		}
		if out.Data == nil {
			continue
		}
		b.texts[back.File()], hashes[back.File()] = out.Data, sum(out.Data)
		for _, r := range out.Ledger {
			rows = append(rows, backends.NewRow(r))
		}
	}
	manifest, err := json.Marshal(map[string]any{
		"format": "accessc/manifest", "format_version": 2, "form": "portable", "policy_sha256": "sha256:0",
		"tools": []any{map[string]any{
			"name": tool.Name, "source": "local", "confined": true, "artifacts": hashes, "policy": irjson.Tool(tool),
			"ledger": rows,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Build = certify.Build{
		Manifest: manifest, Tools: map[string]*ir.Tool{tool.Name: tool},
		Read: func(_, file string) ([]byte, error) { return b.texts[file], nil },
	}
	return b
}

func rules(t *ir.Tool) string {
	out := ""
	for _, r := range t.FS {
		out += fmt.Sprintf("%s %v %v\n", r.At, r.Names, r.Caps)
	}
	return fmt.Sprint(out, t.Protects, t.Protected)
}

func accepted(t interface {
	Fatal(...any)
	Errorf(string, ...any)
}, b built) (*check.Report, *check.Certificate) {
	text, err := certify.Certificate(b.Build)
	if err != nil {
		t.Fatal(fmt.Sprint(err, "\n", rules(b.tool)))
	}
	r, err := check.CheckText(b.Manifest, text, b.Read)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		t.Errorf("%s", p)
	}
	var c check.Certificate
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return r, &c
}

// drawn is a random policy with rules of every kind.
func drawn(t *rapid.T) *ir.Tool {
	tool := irtest.ToolByName(t, irtest.Plain, 5)
	if rapid.IntRange(0, 3).Draw(t, "net") == 0 {
		tool.Net, tool.Declared.Net = irtest.NetRules(t, 4), true
	}
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		name := rapid.SampledFrom([]string{"", "A", "AB", "HOME", "LD_", "TMPDIR"}).Draw(t, "variable")
		prefix := name == "" || rapid.Bool().Draw(t, "prefix")
		tool.Env = append(tool.Env, ir.EnvRule{Name: name, Prefix: prefix, Read: rapid.Bool().Draw(t, "forward")})
	}
	if rapid.IntRange(0, 5).Draw(t, "commands") == 0 {
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", AnyArgs: true, AllEnvs: true}}}
	}
	for _, k := range []ir.LimitKind{ir.LimitMemory, ir.LimitWallTime} {
		if rapid.Bool().Draw(t, k.String()) {
			value := uint64(rapid.IntRange(1, 1<<40).Draw(t, "value"))
			tool.Limits = append(tool.Limits, ir.Limit{Kind: k, Value: value})
		}
	}
	return tool
}

// TestRandomPolicies: the certificate of a random policy is accepted. On further targets, ten for each class, Decide
// and the checker's evaluator agree, and what policy and text say of each is what they say of some class.
func TestRandomPolicies(t *testing.T) {
	classes, targets := 0, 0
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		b := build(rt, drawn(rt))
		r, c := accepted(rt, b)
		m, err := check.ReadManifest(b.Manifest)
		if err != nil {
			rt.Fatal(err)
		}
		s, err := check.NewReader(&r.Assumptions).Subject(&m.Tools[0], "landlock.json", b.texts["landlock.json"])
		if err != nil {
			rt.Fatal(err)
		}
		said := map[string]bool{}
		for _, p := range c.Parts {
			for _, k := range p.Classes {
				answers := []string{}
				for _, v := range c.Answers[k[1]] {
					answers = append(answers, now(c.Verdicts[v]))
				}
				said[fmt.Sprint(p.Kind, now(c.Verdicts[k[0]]), answers)] = true
			}
		}
		classes += r.Classes
		for range 10 * r.Classes {
			q := further(rt)
			targets++
			decided, err := certify.Decide(b.tool, q)
			if err != nil {
				rt.Fatal(err)
			}
			if is := s.Policy.Answer(q); is != decided {
				rt.Fatalf("%s: Decide says %s, the checker %s\n%s", q.Key(), decided, is, rules(b.tool))
			}
			answers := []string{}
			for _, v := range s.Text.Answer(q) {
				answers = append(answers, now(v.Text(q.Kind)))
			}
			if !said[fmt.Sprint(q.Kind, now(decided.Text(q.Kind)), answers)] {
				rt.Fatalf("%s is in no class: %s, %v\n%s", q.Key(), decided.Text(q.Kind), answers, rules(b.tool))
			}
		}
	})
	fmt.Printf("property %s: %d classes, %d further targets\n", t.Name(), classes, targets)
}

// now is a verdict without the acts on late names.
func now(verdict string) string {
	verdict, _, _ = strings.Cut(verdict, "/")
	return verdict
}

// further is a target that need be no representative. All on the way to it existed at the start.
func further(t *rapid.T) check.Question {
	names := append([]string{"accessc.toml", ".git", "hooks", ".env", "zz"}, irtest.Plain...)
	roots := []string{"${workspace}", "${workspace}", "${workspace}", "${external:~}", "${home}", "/usr", "/etc"}
	place := func() string {
		at := rapid.SampledFrom(roots).Draw(t, "root")
		if p := irtest.Path(t, names, 4); p != "" {
			at += "/" + p
		}
		return at
	}
	if rapid.IntRange(0, 3).Draw(t, "move") == 0 {
		// Neither a directory that is a root, nor one into itself.
		src, dst := place()+"/a", place()+"/b"
		if !strings.HasPrefix(dst, src+"/") && !strings.HasPrefix(src, dst+"/") {
			return check.Question{Kind: check.Moves, Target: src, To: dst}
		}
	}
	at := place()
	return check.Question{Kind: check.Files, Target: at, To: at}
}
