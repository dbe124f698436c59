package explain

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
	"github.com/accessc/accessc/test/browser"
	"github.com/accessc/accessc/test/irtest"
)

// hostile are texts that would do something if they stood in a page as they are.
var hostile = []string{
	`</title><script>window.pwned=1</script>`, `"><img src=x onerror="window.pwned=1">`, `'><svg onload=window.pwned=1>`,
	`</script><script>window.pwned=1</script>`, `</style><style>*{display:none}</style>`, `javascript:window.pwned=1`, `{{.Style}}`, `<!--`, `-->`,
	`" onmouseover="window.pwned=1`, "\u2028window.pwned=1", `<a href="https://evil.example/">`, `&lt;b&gt;`, "<\x00script>", `\"`, "`${alert(1)}`",
	"\u202egnp.exe", "]]>", "<base href=https://evil.example/>", "<meta http-equiv=refresh content=0>",
}

// hostileTool has such a text wherever a configuration can put one.
func hostileTool(name, text string) *ir.Tool {
	origin := ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: text + ".toml", Line: 1}, Label: text}
	t := ir.NewTool(name)
	t.Source = ir.Source{Kind: ir.SourceLocal, Detail: text}
	t.Command = &ir.Command{Program: text, Args: []string{text}}
	t.FS = []ir.FSRule{
		{Written: text, At: ir.In(text), Caps: ir.All, Origin: origin}, {Written: text, At: ir.In(text), Caps: ir.All, Origin: origin},
		{Written: "x", At: ir.Location{Root: ir.Root{Kind: ir.External, Name: text}}, External: true, Caps: ir.All, Origin: origin},
	}
	t.Net = []ir.NetRule{{Written: text, Host: ir.Host{Kind: ir.HostName, Name: text}, Path: []string{text}, Allow: true, Origin: origin, Credential: &ir.Credential{File: text, As: "query", Name: text}}}
	t.Env = []ir.EnvRule{{Name: text, Read: true, Origin: origin}}
	t.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: text, Args: []ir.ArgPattern{{Words: []string{text}}}, Envs: []string{text}, Origin: origin}}}
	t.Sensitive = []ir.SensitivePattern{{Pattern: "**/" + text, Origin: origin}}
	t.Accept = []ir.Acceptance{{Gap: ir.Gap(text), Origin: origin}}
	return t
}

func policy(t *ir.Tool) *Policy {
	row := ir.Row{
		Resource: ir.FS, Rules: []ir.RuleID{ir.RuleID(t.Name)}, Aspects: []ir.Aspect{ir.AspectRead}, Platform: ir.Linux, Levels: ir.Levels{To: 9},
		Held: ir.Held{Is: ir.Weaker, Gap: ir.Gap(t.Name), Causes: []ir.Cause{{ID: ir.CauseID(t.Name)}}},
	}
	return &Policy{Tool: t, View: ir.NewView(t, ir.Linux, ir.Facts{}), Ledger: ir.Ledger{row}}
}

func render(t testing.TB, ts ...*ir.Tool) string {
	t.Helper()
	var ps []*Policy
	for _, x := range ts {
		ps = append(ps, policy(x))
	}
	var b bytes.Buffer
	if err := HTML(&b, Groups(ps), nil, Style{ABI: 7}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageInBrowser tries pages in a real browser.
func TestPageInBrowser(t *testing.T) {
	b := tried{browser.Start(t), t}
	t.Run("hostile", func(t *testing.T) { showHostile(t, b) })
	t.Run("filter", func(t *testing.T) { useFilter(t, b) })
	t.Run("narrow", func(t *testing.T) { showNarrow(t, b) })
}

// showHostile: nothing of a hostile policy runs, is markup or is asked for, and all of
// it is shown as text.
func showHostile(t *testing.T, b tried) {
	b.t = t
	var tools []*ir.Tool
	var names []string
	for _, text := range hostile {
		tools = append(tools, hostileTool(text, text))
		names = append(names, clean(text))
	}
	for _, page := range []struct{ text, names string }{
		{render(t, tools...), inView},
		{renderChanges(t, tools), inView},
	} {
		b.load(page.text)
		b.Want(page.names, names)
		b.Want("window.pwned === undefined", true)
		b.Want(`document.querySelectorAll("script").length`, 1)
		b.Want(`document.querySelectorAll("img, svg, iframe, object, base, link, [onload], [onerror], [onmouseover]").length`, 0)
		b.Want(`document.querySelectorAll("meta").length`, 4)
		b.Want(`Array.from(document.querySelectorAll("a")).every(function (a) { return a.getAttribute("href")[0] === "#"; })`, true)
		b.Want(`Array.from(document.querySelectorAll("[style]")).length`, 0)
		b.readable()
		b.quiet()
	}
}

// showNarrow: on a phone the cells of what is held stand apart, and their names are not broken.
func showNarrow(t *testing.T, b tried) {
	b.t = t
	p := policy(writer())
	p.Ledger = nil
	for i, a := range []ir.Aspect{
		ir.AspectRead, ir.AspectCreate, ir.AspectUpdate, ir.AspectDelete, ir.AspectExecute, ir.AspectMetadata,
	} {
		why := []ir.Cause{{ID: ir.CauseID(fmt.Sprint("cause", i))}}
		for _, rule := range []ir.RuleID{"home", "protected"} {
			for _, on := range ir.Platforms {
				p.Ledger = append(p.Ledger, ir.Row{
					Resource: ir.FS, Rules: []ir.RuleID{rule}, Aspects: []ir.Aspect{a}, Platform: on,
					Levels: ir.Levels{To: 9}, Held: ir.Held{Is: ir.Supervised, Gap: "fs.default", Causes: why},
				})
			}
		}
	}
	var page bytes.Buffer
	if err := HTML(&page, Groups([]*Policy{p}), nil, Style{ABI: 7}); err != nil {
		t.Fatal(err)
	}
	b.load(page.String())
	b.Want(`document.querySelectorAll(".cells td").length > 20`, true)
	b.readable()
	b.Size(390)
	b.Want(`getComputedStyle(document.querySelector(".matrix td.held"), "::before").content`, `"linux "`)
	b.quiet()
	b.Size(1280)
}

func renderChanges(t testing.TB, tools []*ir.Tool) string {
	t.Helper()
	var new []compare.Policy
	for _, x := range tools {
		new = append(new, compare.Policy{Tool: x})
	}
	cs := Changes(nil, new)
	// In the order of the tools, which Changes sorts by name.
	order := map[string]int{}
	for i, x := range tools {
		order[x.Name] = i
	}
	sorted := make([]Change, len(cs))
	for _, c := range cs {
		sorted[order[c.Name]] = c
	}
	var b bytes.Buffer
	if err := ChangesHTML(&b, sorted); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reader, writer and fetcher are tools that a filter tells apart.
func reader() *ir.Tool {
	return with("reader", func(t *ir.Tool) { t.FS = rule("docs", ir.Caps(ir.Read)) })
}
func writer() *ir.Tool {
	return with("writer", func(t *ir.Tool) { t.FS = rule("src", ir.Caps(ir.Read)|ir.Write) })
}
func fetcher() *ir.Tool { return with("fetcher", func(t *ir.Tool) { t.FS, t.Net = nil, network() }) }

func with(name string, set func(*ir.Tool)) *ir.Tool {
	t := ir.NewTool(name)
	t.Declared.FS = true
	set(t)
	return t
}

func rule(path string, caps ir.CapSet) []ir.FSRule {
	return []ir.FSRule{{Written: path, At: ir.In(path), Caps: caps, Origin: ir.Origin{Layer: ir.LayerWorkspace, Pos: ir.Pos{File: "accessc.toml", Line: 7}}}}
}

func network() []ir.NetRule {
	return []ir.NetRule{{Written: "a.example", Host: ir.Host{Kind: ir.HostName, Name: "a.example"}, Allow: true}}
}

// useFilter uses the filter as a user does.
func useFilter(t *testing.T, b tried) {
	b.t = t
	page := render(t, fetcher(), reader(), writer())
	sealed(t, page)
	b.load(page)
	b.Want(inView, []string{"fetcher", "reader", "writer"})
	for _, c := range []struct {
		words string
		boxes []string
		want  []string
	}{
		{"", []string{"update"}, []string{"writer"}},
		{"", []string{"read"}, []string{"reader", "writer"}},
		{"", []string{"network"}, []string{"fetcher"}},
		{"", []string{"read", "network"}, []string{}},
		{"SRC", nil, []string{"writer"}},
		{"accessc.toml:7", []string{"read"}, []string{"reader", "writer"}},
		{"a.example writer", nil, []string{}},
		{"", nil, []string{"fetcher", "reader", "writer"}},
	} {
		b.filter(c.words, c.boxes...)
		b.Want(inView, c.want)
		b.Want(`document.querySelector(".empty").getClientRects().length > 0`, len(c.want) == 0)
		b.Want(`Array.from(document.querySelectorAll("nav li")).filter(function (l) { return !l.hidden; }).length`, len(c.want))
	}
	b.filter("", "update")
	b.Want(`Array.from(document.querySelectorAll("tr.match")).map(function (r) { return r.cells[0].textContent.trim(); })`, []string{"└─ src"})
	b.Eval(`document.querySelectorAll("details").forEach(function (d) { d.open = true; })`)
	b.filter("")
	b.readable()
	b.quiet()

	// Without scripts everything is there but the filter.
	b.Ask("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.load(page)
	b.Want(inView, []string{"fetcher", "reader", "writer"})
	b.Want(`document.querySelector(".filter").getClientRects().length`, 0)
}

// TestPageHoldsNoForeignMarkup: a page has the elements of one of the same shape with harmless
// names, and no others, independent of the texts of the policy.
func TestPageHoldsNoForeignMarkup(t *testing.T) {
	irtest.Check(t, 500, 1, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.StringN(1, 30, -1)).Draw(rt, "text")
		if (ir.Root{Kind: ir.External, Name: text}).Direct() {
			return // no symlink of the workspace has this name, so the page has another shape
		}
		// One harmless character each, so that equal parts of texts stay equal.
		plain := hostileTool("n", "x")
		got, want := render(t, hostileTool("n", text)), render(t, plain)
		for _, mark := range []string{"<script", "<style", "<td", "<tr", "<a ", "<img", "<svg", "<meta", "<base", "</script", "</style", "</td"} {
			if g, w := strings.Count(got, mark), strings.Count(want, mark); g != w {
				rt.Fatalf("%d times %s, not %d", g, mark, w)
			}
		}
	})
}
