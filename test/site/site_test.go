// Package site tries the site that task site builds in a browser.
package site

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/review/play"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/browser"
)

// built is the directory of the site.
func built(t *testing.T) string {
	dir := os.Getenv("ACCESSC_SITE")
	if dir == "" {
		t.Skip("needs the built site: .ci/nightly browser")
	}
	return dir
}

// serve shows the site by a server of files, and returns its address.
func serve(t *testing.T) string {
	server := httptest.NewServer(http.FileServer(http.Dir(built(t))))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// own reports whether an address is one of the site.
func own(base string) func(string) bool {
	return func(url string) bool { return strings.HasPrefix(url, base) }
}

const narrow = `document.documentElement.scrollWidth <= document.documentElement.clientWidth`

// TestPages: every page fits into a phone and into a window, is readable in both colour schemes, and asks for nothing but
// files of the site.
func TestPages(t *testing.T) {
	dir, base := built(t), serve(t)
	b := browser.Start(t)
	pages := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		pages++
		at, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		at = filepath.ToSlash(at)
		b.Show(base + at)
		for _, width := range []int{390, 1280} {
			if b.Size(width); b.Eval(narrow) != "true" {
				t.Errorf("%s is wider than %d pixels: %s", at, width, b.Eval(widest))
			}
		}
		for _, scheme := range []string{"light", "dark"} {
			b.Media(scheme)
			if got := b.Eval(browser.Contrast); got != "[]" {
				t.Errorf("%s, %s: %s", at, scheme, got)
			}
		}
		b.Quiet(own(base))
		return nil
	})
	if err != nil || pages < 40 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

// widest names the elements that stand out of the window.
const widest = `Array.from(document.querySelectorAll("main *")).filter((e) => !e.closest("pre, .wide") &&
	e.getBoundingClientRect().right > document.documentElement.clientWidth).map((e) => e.outerHTML.slice(0, 200)).slice(0, 3)`

// TestSearch: words find sections and lead to them, from a server and from a disk.
func TestSearch(t *testing.T) {
	dir, err := filepath.Abs(built(t))
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Start(t)
	for _, base := range []string{serve(t), "file://" + filepath.ToSlash(dir) + "/"} {
		b.Show(base + "docs/tour.html")
		b.Eval(`document.getElementById("search").focus()`)
		b.Eval(`(() => { const s = document.getElementById("search"); s.value = "Landlock container"; s.dispatchEvent(new Event("input")); })()`)
		await.Until(t, "the search has found something", func() bool { return b.Eval(`document.querySelectorAll("#results a").length`) > "0" })
		links := []string{}
		if err := json.Unmarshal([]byte(b.Eval(`Array.from(document.querySelectorAll("#results a"), (a) => a.href)`)), &links); err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			at, anchor, _ := strings.Cut(strings.TrimPrefix(link, base), "#")
			text, err := os.ReadFile(filepath.Join(dir, at))
			if err != nil || anchor != "" && !bytes.Contains(text, []byte(`id="`+anchor+`"`)) {
				t.Errorf("%s leads nowhere: %v", link, err)
			}
		}
		b.Eval(`(() => { const s = document.getElementById("search"); s.value = "<img src=x> qqq"; s.dispatchEvent(new Event("input")); })()`)
		b.Want(`document.getElementById("results").textContent`, "nothing found")
		b.Quiet(own(base))
	}
}

// show opens the playground, with the part of an address behind it, and waits for an answer.
func show(t *testing.T, b *browser.Browser, base, fragment string) {
	t.Helper()
	b.Show("about:blank")
	b.Show(base + "docs/playground/index.html" + fragment)
	answered(t, b)
}

// answered waits until the page shows the answer to what its fields say.
func answered(t *testing.T, b *browser.Browser) {
	t.Helper()
	await.Until(t, "the page has an answer", func() bool {
		return b.Eval(`(() => {
			const r = document.documentElement.dataset.request;
			if (!r || document.getElementById("text").classList.contains("old")) { return false; }
			const q = JSON.parse(r);
			return ["policy", "before", "system", "tool", "target"].every((f) => document.getElementById(f).value === q[f]);
		})()`) == "true"
	})
}

// enter types into a field.
func enter(t *testing.T, b *browser.Browser, field, value, event string) {
	t.Helper()
	text, _ := json.Marshal(value)
	b.Eval(`(() => { const f = document.getElementById("` + field + `"); f.value = ` + string(text) + `;
		document.getElementById("text").classList.add("old");
		f.dispatchEvent(new Event("` + event + `", { bubbles: true })); })()`)
	answered(t, b)
}

// same compares what the page shows with the answer of this process to the page's last request.
func same(t *testing.T, b *browser.Browser) {
	t.Helper()
	var got [3]string
	if err := json.Unmarshal([]byte(b.Eval(`[document.documentElement.dataset.request,
		document.getElementById("text").textContent, document.getElementById("findings").textContent]`)), &got); err != nil {
		t.Fatal(err)
	}
	request, shown, findings := got[0], got[1], got[2]
	var want play.Reply
	if err := json.Unmarshal(play.Answer([]byte(request)), &want); err != nil {
		t.Fatal(err)
	}
	if want.File != "" {
		want.Text = want.File + "\n\n" + want.Text
	}
	if want.Error != "" {
		want.Text = want.Error
	}
	if shown != want.Text || findings != want.Findings {
		t.Errorf("%s: the page shows %q and %q, not %q and %q", request, findings, shown, want.Findings, want.Text)
	}
}

// TestPlayground: the page answers each example, edits and links, as the compiler answers elsewhere.
func TestPlayground(t *testing.T) {
	base := serve(t)
	b := browser.Start(t)
	show(t, b, base, "")
	t.Logf("ms from the navigation to the first answer: %s", b.Eval(`document.documentElement.dataset.first`))
	b.Want(`["tool", "target", "abi"].map((f) => document.getElementById(f).selectedOptions[0]?.textContent)`,
		[]string{"all", "of the system", "newest"})
	same(t, b)
	examples := []string{}
	if err := json.Unmarshal([]byte(b.Eval(`Array.from(document.getElementById("example").options, (o) => o.value)`)), &examples); err != nil {
		t.Fatal(err)
	}
	for i, name := range examples {
		enter(t, b, "system", []string{"linux", "darwin", "windows"}[i%3], "change")
		enter(t, b, "example", name, "change")
		for _, view := range play.Views {
			enter(t, b, "show", view, "change")
			same(t, b)
			for _, width := range []int{390, 1280} {
				if b.Size(width); b.Eval(narrow) != "true" {
					t.Errorf("%s, %s: wider than %d pixels: %s", name, view, width, b.Eval(widest))
				}
			}
		}
	}
	enter(t, b, "system", "linux", "change")
	policy := "[tools.x]\nsource = \"local\"\ncommand = \"make\"\naccess.fs = [{ path = \"ä\", read = true }]\n"
	enter(t, b, "show", "ask", "change")
	enter(t, b, "policy", policy, "input")
	enter(t, b, "ask", "read ä/b", "input")
	same(t, b)
	b.Want(`document.getElementById("verdict").textContent`, "allowed")
	t.Logf("ms for the answer to an edit: %s", b.Eval(`document.documentElement.dataset.took`))
	b.Eval(`document.getElementById("share").click()`)
	await.Until(t, "the link is in the address", func() bool { return b.Eval(`location.hash.length > 3`) == "true" })
	var hash string
	if err := json.Unmarshal([]byte(b.Eval(`location.hash`)), &hash); err != nil {
		t.Fatal(err)
	}
	show(t, b, base, hash)
	b.Want(`["policy", "ask", "show"].map((f) => document.getElementById(f).value)`, []string{policy, "read ä/b", "ask"})
	same(t, b)
	b.Quiet(own(base))
}

// packed is a link with a text, as the page makes it.
func packed(t *testing.T, text string) string {
	t.Helper()
	var small bytes.Buffer
	z, err := flate.NewWriter(&small, flate.BestCompression)
	if err == nil {
		_, err = z.Write([]byte(text))
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return "#p=" + base64.RawURLEncoding.EncodeToString(small.Bytes())
}

// hostile are texts that would do something if the page took them for HTML, a script or a selector.
var hostile = []string{
	`</textarea><script>window.pwned=1</script>`, `"><img src=x onerror="window.pwned=1">`, `<svg onload=window.pwned=1>`,
	`<iframe srcdoc="<script>parent.pwned=1</script>">`, `javascript:window.pwned=1`, `{{.Body}}${window.pwned=1}`, `<base href=https://evil.example/>`,
	`<meta http-equiv=refresh content="0;url=https://evil.example/">`, `<a id=policy name=policy>`, "\u2028window.pwned=1", "\u202egnp.exe", "\x1b[31m\x00",
}

// TestHostileLinks: a link that somebody made shows text and does nothing. A link that is none, or that would fill the
// memory, leaves a page that works.
func TestHostileLinks(t *testing.T) {
	base := serve(t)
	b := browser.Start(t)
	show(t, b, base, "")
	const pieces = `[document.querySelectorAll("script, img, svg, iframe, base, meta, a, object, form").length, typeof window.pwned, typeof ({}).pwned]`
	clean := b.Eval(pieces)
	quoted := func(s string) string {
		data, _ := json.Marshal(s)
		return string(data)
	}
	links := []string{
		"#p=", "#p=%", "#p=AAAA", "#p=" + strings.Repeat("A", 1<<20), packed(t, "{"), packed(t, "[]"), packed(t, "null"), packed(t, "1"),
		packed(t, `{"__proto__": {"pwned": 1}, "constructor": {"prototype": {"pwned": 1}}, "policy": 1, "show": {}, "tool": []}`),
		packed(t, `{"policy": "`+strings.Repeat("a", 1<<20)+`"}`), packed(t, strings.Repeat("\x00", 1<<24)), packed(t, "\xff\xfe"),
		packed(t, `{"policy": "\ud800", "ask": "\ud800", "show": "ask"}`), packed(t, `{"policy": "`+strings.Repeat("[", 60000)+`"}`),
		packed(t, `{"policy": "`+strings.Repeat(`[[a.b.c]]\n`, 6000)+`"}`),
	}
	for _, h := range hostile {
		name := quoted(quoted(h)) // in a string of TOML, in a string of JSON
		name = name[1 : len(name)-1]
		text := `[tools.` + name + `]\nsource = \"local\"\ncommand = ` + name + `\naccess.fs = [{ path = ` + name + `, read = true }]\n` +
			`access.net = [{ host = ` + name + `, allow = true }]\naccess.env = [{ name = ` + name + `, read = true }]\n`
		for _, view := range play.Views {
			links = append(links, packed(t, `{"policy": "`+text+`", "before": "`+text+`", "show": "`+view+`", "ask": `+quoted("read '"+h+"'")+
				`, "tool": `+quoted(h)+`, "target": `+quoted(h)+`, "system": `+quoted(h)+`}`))
		}
		links = append(links, packed(t, `{"policy": `+quoted(h)+`, "show": `+quoted(h)+`}`), "#"+h, "#p="+h)
	}
	for _, link := range links {
		b.Eval(`document.getElementById("shared").textContent = ""; document.getElementById("text").classList.add("old");
			location.hash = ` + quoted(link))
		await.Until(t, "the page has read the link", func() bool {
			return b.Eval(`!document.getElementById("text").classList.contains("old") || document.getElementById("shared").textContent !== "" ||
				!location.hash.startsWith("#p=")`) == "true"
		})
		if got := b.Eval(pieces); got != clean {
			t.Errorf("%.200s: %s, not %s", link, got, clean)
		}
		enter(t, b, "show", "explain", "change")
		enter(t, b, "policy", "", "input")
		same(t, b)
	}
	b.Quiet(own(base))
	for _, link := range []string{links[0], links[len(links)-4]} {
		show(t, b, base, link)
		if got := b.Eval(pieces); got != clean {
			t.Errorf("%.200s: %s, not %s", link, got, clean)
		}
		b.Quiet(own(base))
	}
}

// TestSealed: the page's own policy refuses what a mistake in its script could do: text taken for HTML, a script that was
// not shipped, and a request to anywhere.
func TestSealed(t *testing.T) {
	base := serve(t)
	b := browser.Start(t)
	for _, page := range []string{"index.html", "docs/playground/index.html"} {
		b.Show(base + page)
		b.Want(`(async () => {
			const out = [];
			const refused = (what, run) => { try { run(); out.push(what); } catch {} };
			refused("innerHTML", () => { document.body.innerHTML = "<p>x"; });
			refused("worker", () => { new Worker("data:text/javascript,1"); });
			refused("policy", () => { trustedTypes.createPolicy("other", { createHTML: (s) => s }); });
			refused("script", () => { window.accesscScript.createScriptURL("https://evil.example/x.js"); });
			await fetch("index.html").then(() => out.push("fetch"), () => {});
			return out;
		})()`, []string{})
	}
}

// TestAccessible: axe-core finds nothing on a page of each kind, in both colour schemes and both widths.
func TestAccessible(t *testing.T) {
	name := os.Getenv("ACCESSC_AXE")
	if name == "" {
		t.Skip("needs axe-core: .ci/nightly browser")
	}
	axe, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	base := serve(t)
	b := browser.Start(t)
	for _, page := range []string{"index.html", "docs/config.html", "docs/playground/index.html"} {
		if b.Show(base + page); strings.Contains(page, "playground") {
			answered(t, b)
		}
		b.Eval(string(axe) + "; 0")
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{390, 1280} {
				b.Media(scheme)
				b.Size(width)
				got := b.Eval(`axe.run(document).then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))`)
				if got != "[]" {
					t.Errorf("%s, %s, %d pixels: %s", page, scheme, width, got)
				}
			}
		}
	}
}
