package certify_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/proof/certify"
	"github.com/accessc/accessc/proof/check"
)

// sources is a tool that writes sources, without secrets and generated files.
func sources() *ir.Tool {
	t := ir.NewTool("tool")
	t.Protects, t.Declared.FS = true, true
	t.FS = []ir.FSRule{
		{Written: ".", At: ir.In(""), Caps: ir.Caps(ir.Read)},
		{Written: "src", At: ir.In("src"), Caps: ir.Caps(ir.Read, ir.Create, ir.Update, ir.Delete)},
		{Written: "src/generated", At: ir.In("src/generated"), Caps: ir.Caps(ir.Read)},
		{Written: ".", At: ir.In(""), Names: []string{"*.pem", ".env"}},
	}
	return t
}

// TestForged: the checker refuses a certificate that does not show what it says, and names what is wrong.
func TestForged(t *testing.T) {
	b := build(t, sources())
	text, err := certify.Certificate(b.Build)
	if err != nil {
		t.Fatal(err)
	}
	other := sources()
	other.FS[1].Caps = ir.Caps(ir.Read)
	otherText, err := certify.Certificate(build(t, other).Build)
	if err != nil {
		t.Fatal(err)
	}
	target := func(c *check.Certificate, name string) (part, class, at int) {
		for p := range c.Parts {
			for i, k := range c.Parts[p].Classes {
				for j, n := range k[3:] {
					if c.Targets[n] == name && c.Parts[p].Kind == check.Files {
						return p, i, j + 3
					}
				}
			}
		}
		t.Fatalf("no class has %s", name)
		return 0, 0, 0
	}
	remove := func(c *check.Certificate, name string) int {
		p, i, j := target(c, name)
		n := c.Parts[p].Classes[i][j]
		c.Parts[p].Classes[i] = slices.Delete(slices.Clone(c.Parts[p].Classes[i]), j, j+1)
		return n
	}
	pem := "" // the name that stands for those that *.pem matches
	for _, target := range decode(t, text).Targets {
		if strings.HasPrefix(target, "${workspace}/src/") && strings.HasSuffix(target, ".pem") && strings.Count(target, "/") == 2 {
			pem = target
		}
	}
	for _, forged := range []struct {
		name, want string
		change     func(c *check.Certificate)
	}{
		{"a class is missing", "a class is missing: no class has files ${workspace}/src/generated", func(c *check.Certificate) {
			remove(c, "${workspace}/src/generated")
		}},
		{"a class of names is missing", "a class is missing: no class has files " + pem, func(c *check.Certificate) {
			remove(c, pem)
		}},
		{"classes are joined", "two classes are joined", func(c *check.Certificate) {
			n := remove(c, "${workspace}/src/generated")
			p, i, _ := target(c, "${workspace}/src")
			c.Parts[p].Classes[i] = append(c.Parts[p].Classes[i], n)
		}},
		{"the policy's verdict", "a verdict is changed", func(c *check.Certificate) {
			p, i, _ := target(c, "${workspace}/src")
			k := &c.Parts[p].Classes[i]
			(*k)[0] = (*k)[0]%len(c.Verdicts) + 1
		}},
		{"the text's verdict", "a verdict is changed", func(c *check.Certificate) {
			p, i, _ := target(c, "${workspace}/src")
			c.Answers = append(c.Answers, slices.Clone(c.Answers[c.Parts[p].Classes[i][1]]))
			last := len(c.Answers) - 1
			c.Answers[last][0] = (c.Answers[last][0] + 1) % len(c.Verdicts)
			c.Parts[p].Classes[i][1] = last
		}},
		{"no row", "a row does not say the difference", func(c *check.Certificate) {
			for p := range c.Parts {
				for i, k := range c.Parts[p].Classes {
					if k[2] >= 0 {
						c.Parts[p].Classes[i][2] = -1
						return
					}
				}
			}
		}},
		{"another row", "a row does not say the difference", func(c *check.Certificate) { c.Rows[0].Is = "exact" }},
		{"a hash", "the artifact is not the certified text", func(c *check.Certificate) {
			c.Texts[0].Hash = "sha256:" + strings.Repeat("0", 64)
		}},
		{"no text", "the artifact has no certificate", func(c *check.Certificate) { c.Texts = c.Texts[:0] }},
		{"a base", "two classes are joined", func(c *check.Certificate) {
			c.Assumptions.Bases[0].Places = c.Assumptions.Bases[0].Places[1:]
		}},
		{"levels", "the certificate has other levels than the text", func(c *check.Certificate) {
			c.Texts[0].Levels = c.Texts[0].Levels[1:]
		}},
		{"a part", "the certificate has no part 99", func(c *check.Certificate) { c.Texts[0].Parts = []int{99} }},
		{"a model", "the certificate assumes another model of landlock.json", func(c *check.Certificate) {
			c.Assumptions.Models["landlock.json"] = "it does as it should"
		}},
	} {
		c := decode(t, text)
		forged.change(c)
		changed, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, forged.name, forged.want, b, b.Manifest, changed)
	}
	refused(t, "another policy's", "the certificate is of another", b, b.Manifest, otherText)
	refused(t, "a field", `unknown field "trust"`, b, b.Manifest, bytes.Replace(text, []byte(`{`), []byte(`{"trust": 1,`), 1))
	refused(t, "more text", "text follows the document", b, b.Manifest, append(bytes.Clone(text), '1'))
}

func decode(t *testing.T, text []byte) *check.Certificate {
	t.Helper()
	var c check.Certificate
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

func refused(t *testing.T, name, want string, b built, manifest, text []byte) {
	t.Helper()
	r, err := check.CheckText(manifest, text, b.Read)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Problems {
		if strings.Contains(p.String(), want) {
			return
		}
	}
	t.Errorf("%s: not refused by %q: %v", name, want, r.Problems)
}
