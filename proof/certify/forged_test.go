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
		in, is := strings.CutPrefix(target, "${workspace}/src/")
		if is && strings.HasSuffix(in, ".pem") && !strings.Contains(in, "/") {
			pem = target
		}
	}
	for _, forged := range []struct {
		name, want string
		change     func(c *check.Certificate)
	}{
		{"a class is missing", "missing: no class has files ${workspace}/src/generated", func(c *check.Certificate) {
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
	was := b.texts["landlock.json"]
	with := func(field string, value any) []byte {
		doc := map[string]any{}
		if err := json.Unmarshal(was, &doc); err != nil {
			t.Fatal(err)
		}
		doc[field] = value
		out, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	twice := bytes.Replace(was, []byte("{"), []byte(`{"Tool": "x",`), 1)
	for want, changed := range map[string][]byte{
		"the text starts another tool or command":             with("tool", "other"),
		"the text accepts process.signal, and the policy":     with("accept", []string{"process.signal"}),
		"which no policy spells so":                           with("paths", []any{map[string]any{"path": "/a/../b"}}),
		"the text does not list among its needs that":         with("needs", []any{}),
		"the certificate has other levels than the text":      with("levels", []any{}),
		"the artifact cannot be judged: json: unknown field ": with("trust", true),
		`found "tool" twice in an object`:                     twice,
	} {
		b.texts["landlock.json"] = changed
		c := decode(t, text)
		manifest := bytes.ReplaceAll(b.Manifest, []byte(sum(was)), []byte(sum(changed)))
		i := slices.IndexFunc(c.Texts, func(x check.Claim) bool { return x.File == "landlock.json" })
		c.Texts[i].Hash, c.Manifest = sum(changed), sum(manifest)
		forged, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, want, want, b, manifest, forged)
	}
	b.texts["landlock.json"] = was
	refused(t, "another policy's", "the certificate is of another", b, b.Manifest, otherText)
	more := bytes.Replace(text, []byte(`{`), []byte(`{"trust": 1,`), 1)
	refused(t, "a field", `unknown field "trust"`, b, b.Manifest, more)
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

// TestConstructs: tools that have every construct between them are certified and accepted.
func TestConstructs(t *testing.T) {
	for name, tool := range constructs() {
		t.Run(name, func(t *testing.T) { accepted(t, build(t, tool)) })
	}
}

func constructs() map[string]*ir.Tool {
	r, c, u, d, x := ir.Caps(ir.Read), ir.Caps(ir.Create), ir.Caps(ir.Update), ir.Caps(ir.Delete), ir.Caps(ir.Execute)
	tool := func(rules ...ir.FSRule) *ir.Tool {
		t := ir.NewTool("tool")
		t.FS, t.Declared.FS = rules, true
		return t
	}
	at := func(path string, caps ir.CapSet, names ...string) ir.FSRule {
		return ir.FSRule{Written: path, At: ir.In(path), Caps: caps, Names: names}
	}
	hosts := tool(at("", r))
	localhost := ir.Host{Kind: ir.HostName, Name: ir.Localhost}
	hosts.Net = []ir.NetRule{
		{Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Scheme: "https", Allow: true},
		{Host: ir.Host{Kind: ir.HostSuffix, Name: "example.com"}, Scheme: "http", Port: 8080, Path: []string{"v1"},
			Allow: true},
	}
	addresses := tool(at("", r))
	addresses.Net = []ir.NetRule{
		{Host: localhost, Port: 8080, Allow: true}, {Host: localhost, Port: 8081, Listen: true, Allow: true},
	}
	rest := tool(at("", r|x), at("bin", r|x))
	rest.Env = []ir.EnvRule{{Name: "A_", Prefix: true, Read: true}, {Name: "A_KEY"}, {Name: "LD_PRELOAD", Read: true}}
	rest.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitOpenFiles, Value: 64}}
	listed := tool(at("", r|x))
	listed.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "git", AnyArgs: true, AllEnvs: true}}}
	protected := sources()
	protected.FS = append(protected.FS, at(".github/workflows", ir.All), at("src/.env", r, "a*"))
	return map[string]*ir.Tool{
		"sources": sources(), "protected": protected, "hosts": hosts, "addresses": addresses, "rest": rest,
		"listed":         listed,
		"exception":      tool(at("", ir.All), at("a/b", r)),
		"nothing":        tool(),
		"late names":     tool(at("", r|x), at("a", r)),
		"only read":      tool(at("", r), at("secret", 0)),
		"create":         tool(at("", r|c), at("a", r|c|d), at("b", u)),
		"execute":        tool(at("", x), at("a", r|x|u)),
		"late directory": tool(at("a", r|u|d), at("a/b", r|c|u), at("a/b/c", ir.All)),
	}
}
