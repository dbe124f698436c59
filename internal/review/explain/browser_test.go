package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/browser"
)

// tried is a browser that shows accessc's pages.
type tried struct {
	*browser.Browser
	t *testing.T
}

// load shows a page from a disk, which nothing but itself belongs to.
func (b tried) load(page string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.Show("file://" + filepath.ToSlash(file))
}

// quiet fails the test if the page asked for anything but itself, or if the browser had
// something to complain about.
func (b tried) quiet() {
	b.t.Helper()
	requests := 0
	b.Quiet(func(string) bool { requests++; return requests == 1 })
}

// readable checks a page in both colour schemes and in windows of several widths.
func (b tried) readable() {
	b.t.Helper()
	paper := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.Media(scheme)
		paper[scheme] = b.Eval("getComputedStyle(document.body).backgroundColor")
		b.Want(browser.Contrast, []string{})
	}
	if paper["light"] == paper["dark"] {
		b.t.Errorf("light and dark are both %s", paper["light"])
	}
	b.Eval(`document.querySelectorAll("details").forEach(function (d) { d.open = true; })`)
	for _, width := range []int{1280, 800, 400, 390} {
		b.Size(width)
		if got, has := b.Eval("document.documentElement.scrollWidth"), b.Eval("document.documentElement.clientWidth"); got != has {
			b.t.Errorf("%s wide where there are %s", got, has)
		}
		// A table that scrolls inside of its block hides its last column on a phone.
		b.Want(`Array.from(document.querySelectorAll(".matrix td")).filter(function (e) {
			return e.getBoundingClientRect().right > document.documentElement.clientWidth; }).length`, 0)
		b.Want(crowded, []string{})
	}
	b.Size(1280)
}

// crowded lists the cells whose text does not fit, or stands in a column in which words are broken.
const crowded = `Array.from(document.querySelectorAll(".matrix td, .cells td")).filter(function (td) {
	var box = td.getBoundingClientRect(), text = td.firstElementChild || td;
	if (!td.textContent.trim() || !box.width) { return false; }
	return text.getBoundingClientRect().right > box.right + 1 || td.scrollWidth > td.clientWidth + 1 ||
		td.textContent.length > 3 && box.width < 30;
}).map(function (td) { return td.textContent; })`

// inView are the names of the tools that are shown.
const inView = `Array.from(document.querySelectorAll(".tool")).filter(function (t) { return t.getClientRects().length > 0; })
	.map(function (t) { return t.querySelector("h2").textContent; })`

// filter types words and chooses boxes.
func (b tried) filter(words string, boxes ...string) {
	b.t.Helper()
	text, _ := json.Marshal(words)
	on, _ := json.Marshal(boxes)
	b.Eval(`(function () {
		document.querySelectorAll("input[type=checkbox]").forEach(function (c) { if (c.checked !== (` + string(on) + ` || []).includes(c.value)) { c.click(); } });
		var w = document.querySelector("input[type=search]");
		w.value = ` + string(text) + `;
		w.dispatchEvent(new Event("input", { bubbles: true }));
	})()`)
}

// sealed checks that the text of a page asks for nothing outside of it.
func sealed(t *testing.T, page string) {
	t.Helper()
	for _, word := range []string{" src=", "url(", "@import", "<link", "<iframe", "<object", "<base", "fetch(", "XMLHttpRequest", "import("} {
		if strings.Contains(page, word) {
			t.Errorf("the page holds %s", word)
		}
	}
}
