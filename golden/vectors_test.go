package golden_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
	"github.com/accessc/accessc/tool"
)

// vectors is a file of golden/vectors; golden/vectors/README.md documents the format.
type vectors struct {
	Format  string        `json:"format"`
	Version int           `json:"format_version"`
	About   string        `json:"about"`
	Groups  []vectorGroup `json:"groups"`
}

type vectorGroup struct {
	Name   string            `json:"name"`
	Tree   map[string]string `json:"tree,omitempty"`
	Access json.RawMessage   `json:"access"`
	Cases  []vector          `json:"cases"`
}

// vector is a question as accessc can --stdin takes it, and its answer.
type vector struct {
	Operation string   `json:"operation"`
	Method    string   `json:"method,omitempty"`
	Target    string   `json:"target"`
	Arguments []string `json:"arguments,omitempty"`
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason"`
	Canonical string   `json:"canonical,omitempty"`
}

// vectorFiles are the files, by how many cases each has at least.
var vectorFiles = map[string]int{"paths.json": 80, "fs.json": 80, "net.json": 80, "env.json": 50, "commands.json": 35}

const scratchSymbol = "${scratch}"

// TestVectors: the evaluator gives the answers of the vectors, and so do the library and an
// evaluator that was written from the documents alone.
func TestVectors(t *testing.T) {
	for file, least := range vectorFiles {
		t.Run(strings.TrimSuffix(file, ".json"), func(t *testing.T) {
			name := filepath.Join("vectors", file)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var v vectors
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			n := 0
			for i := range v.Groups {
				g := &v.Groups[i]
				world := layVectors(t, g)
				for j := range g.Cases {
					n++
					world.answer(t, &g.Cases[j])
				}
			}
			fmt.Printf("%s: %d cases in %d groups\n", t.Name(), n, len(v.Groups))
			if n < least {
				t.Errorf("%d cases, expected at least %d", n, least)
			}
			out := v.text(t)
			if *update {
				err = os.WriteFile(name, out, 0o644)
			} else if d := cmp.Diff(string(data), string(out)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// text lays a file out for review: a line for each name, rule and case.
func (v *vectors) text(t *testing.T) []byte {
	var b bytes.Buffer
	line := func(before string, v any, after string) {
		b.WriteString(before)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		b.Truncate(b.Len() - 1)
		b.WriteString(after + "\n")
	}
	comma := func(i, n int) string { return strings.Repeat(",", min(1, n-1-i)) }
	line("{\n  \"format\": ", v.Format, ",")
	line("  \"format_version\": ", v.Version, ",")
	line("  \"about\": ", v.About, ",\n  \"groups\": [")
	for i, g := range v.Groups {
		line("    {\n      \"name\": ", g.Name, ",\n      \"tree\": {")
		for j, name := range slices.Sorted(maps.Keys(g.Tree)) {
			line("        ", name, ": ")
			b.Truncate(b.Len() - 1)
			line("", g.Tree[name], comma(j, len(g.Tree)))
		}
		access, err := backends.JSON(g.Access)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("      },\n      \"access\": " + strings.ReplaceAll(strings.TrimSpace(string(access)), "\n", "\n      "))
		b.WriteString(",\n      \"cases\": [\n")
		for j, c := range g.Cases {
			line("        ", c, comma(j, len(g.Cases)))
		}
		b.WriteString("      ]\n    }" + comma(i, len(v.Groups)) + "\n")
	}
	b.WriteString("  ]\n}\n")
	return b.Bytes()
}

// vectorWorld is a group's tree on the disk, and its policy in three hands.
type vectorWorld struct {
	scratch string
	// free is true for a null access.
	free    bool
	asker   resolve.Asker
	view    *ir.View
	library *tool.Policy
	naive   naivePolicy
}

func layVectors(t *testing.T, g *vectorGroup) *vectorWorld {
	scratch, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &vectorWorld{scratch: filepath.ToSlash(scratch), free: string(g.Access) == "null"}
	if err := os.Mkdir(filepath.Join(scratch, "ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, what := range g.Tree {
		p := filepath.Join(scratch, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		if to, link := strings.CutPrefix(what, "-> "); link {
			err = errors.Join(err, os.Symlink(strings.ReplaceAll(to, scratchSymbol, scratch), p))
		} else {
			err = errors.Join(err, testbuild.WriteFile(p, nil, 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf(`{"root": "${scratch}/ws", "action": "run", "tool": "t", "access": %s}`, g.Access)
	context := []byte(strings.ReplaceAll(text, scratchSymbol, w.scratch))
	doc, err := contextjson.Parse(context)
	if err != nil {
		t.Fatal(err)
	}
	w.evaluator(t, doc)
	if w.library, err = tool.Parse(context); err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	w.naive = readNaive(t, context)
	return w
}

// evaluator prepares the questions to the one evaluator.
func (w *vectorWorld) evaluator(t *testing.T, doc *contextjson.Context) {
	policy, err := doc.Policy()
	if err != nil {
		t.Fatal(err)
	}
	if w.free {
		policy = &ir.Tool{FS: ir.DefaultFS()}
	}
	b := &ir.Bindings{Workspace: doc.Root, External: map[string]string{}}
	if doc.Access != nil {
		for _, r := range doc.Access.FS {
			if r.ApprovedTarget != nil {
				b.External[r.LexicalPath] = *r.ApprovedTarget
			}
		}
	}
	disk := resolve.Through(hostview.Now)
	w.asker = resolve.Asker{Resolver: &resolve.Resolver{Disk: disk, Root: doc.Root}, Bindings: b}
	if policy.Commands != nil {
		for i := range policy.Commands.Rules {
			r := &policy.Commands.Rules[i]
			if found, err := disk.Follow(doc.Root + "/" + r.Program); strings.Contains(r.Program, "/") && err == nil && found.Kind == ir.File {
				at := b.Locate(found.Abs)
				r.File = &at
			}
		}
	}
	w.view = ir.NewView(policy, ir.Linux, ir.Facts{Bindings: b, Located: true})
}

// answer fills in the evaluator's answer, and compares the others with it.
func (w *vectorWorld) answer(t *testing.T, c *vector) {
	question := vector{Operation: c.Operation, Method: c.Method, Target: c.Target, Arguments: c.Arguments}
	*c = question
	words := append([]string{c.Operation, c.Method, c.Target}, c.Arguments...)
	if c.Method == "" {
		words = slices.Delete(words, 1, 2)
	}
	q, err := resolve.ParseQuestion(words)
	if err != nil {
		t.Fatalf("%+v: %v", question, err)
	}
	op, err := w.asker.Operation(q)
	if err != nil {
		c.Verdict, c.Reason = "deny", "invalid"
	} else {
		v := w.view.Decide(op)
		c.Verdict, c.Reason = v.Effect.String(), v.Reason.String()
		if w.free && v.Allowed() {
			c.Reason = ir.ReasonAny.String()
		}
		c.Canonical = w.symbolic(op)
	}
	if got := w.naive.answer(question); !cmp.Equal(got, *c) {
		t.Errorf("the naive evaluator says %+v, the vector %+v", got, *c)
	}
	// The library answers for this system, on which names may fold.
	if got := w.ask(question); runtime.GOOS == "linux" && got != c.Verdict {
		t.Errorf("the library says %s, the vector %+v", got, *c)
	}
}

// symbolic is where a question about a file leads.
func (w *vectorWorld) symbolic(op ir.Operation) string {
	places := ir.Describe(op).Places
	if len(places) != 1 || places[0].At.Root.Kind == 0 {
		return ""
	}
	return strings.ReplaceAll(places[0].At.String(), w.scratch, scratchSymbol)
}

func (w *vectorWorld) ask(q vector) string {
	var err error
	switch q.Operation {
	case "read":
		_, err = w.library.CheckRead(q.Target)
	case "create":
		_, err = w.library.CheckCreate(q.Target)
	case "update":
		_, err = w.library.CheckUpdate(q.Target)
	case "delete":
		_, err = w.library.CheckDelete(q.Target)
	case "execute":
		_, err = w.library.CheckExecute(q.Target)
	case "connect":
		if err = w.library.CheckConnect(q.Target); q.Method != "" {
			err = w.library.CheckRequest(q.Method, q.Target)
		}
	case "listen":
		err = w.library.CheckListen(q.Target)
	case "env":
		err = w.library.CheckEnv(q.Target)
	case "run":
		err = w.library.CheckRun(q.Target, q.Arguments...)
	}
	if err != nil {
		return "deny"
	}
	return "allow"
}
