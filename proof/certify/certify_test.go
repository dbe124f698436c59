package certify_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
			"name": "tool", "source": "local", "confined": true, "artifacts": hashes, "policy": irjson.Tool(tool),
			"ledger": rows,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Build = certify.Build{
		Manifest: manifest, Tools: map[string]*ir.Tool{"tool": tool},
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
}, b built) *check.Report {
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
	return r
}

// TestRandomPolicies: a certificate of a random policy is accepted.
func TestRandomPolicies(t *testing.T) {
	irtest.Check(t, 5000, 1, func(rt *rapid.T) {
		accepted(rt, build(rt, irtest.ToolByName(rt, irtest.Plain, 5)))
	})
}
