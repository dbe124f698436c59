package explain

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// browser is a headless Chromium, driven by the DevTools protocol over a pipe
// (--remote-debugging-pipe): messages are JSON, each ended by a zero byte, on the
// descriptors 3 and 4 of the browser.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	last    int
	// said are the events of the page so far.
	said []message
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// startBrowser skips the test where there is no Chromium.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("pages are not tried: no chromium")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "accessc-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+dir, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_ = b.write(message{ID: -1, Method: "Browser.close"})
		_, _ = io.Copy(io.Discard, b.out) // until it has closed its end
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		in.Close()
		out.Close()
		_ = os.RemoveAll(dir)
	})
	if err := out.SetReadDeadline(await.Deadline(t)); err != nil {
		t.Fatal(err)
	}
	b.open()
	return b
}

// open makes a page and listens to it.
func (b *browser) open() {
	var target struct{ TargetID string }
	b.ask("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.ask("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.ask(domain+".enable", nil, nil)
	}
}

func (b *browser) write(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(data, 0))
	return err
}

// ask sends a command and reads until its answer comes.
func (b *browser) ask(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	data, err := json.Marshal(params)
	if params == nil {
		data = []byte("{}")
	}
	if err == nil {
		err = b.write(message{ID: b.last, Method: method, Params: data, SessionID: b.session})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	m := b.until(func(m message) bool { return m.ID == b.last })
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

func (b *browser) until(found func(message) bool) message {
	b.t.Helper()
	for {
		data, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("the browser is gone: %v", err)
		}
		var m message
		if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		if m.Method != "" {
			b.said = append(b.said, m)
		}
		if found(m) {
			return m
		}
	}
}

// load shows a page and waits until all of it is there.
func (b *browser) load(page string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.said = nil
	b.ask("Page.navigate", map[string]any{"url": "file://" + filepath.ToSlash(file)}, nil)
	loaded := func(m message) bool { return m.Method == "Page.loadEventFired" }
	for _, m := range b.said {
		if loaded(m) {
			return
		}
	}
	b.until(loaded)
}

// eval is the value of an expression in the page, as JSON writes it.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var got struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	b.ask("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	return string(got.Result.Value)
}

// want compares the value of an expression.
func (b *browser) want(expression string, value any) {
	b.t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		b.t.Fatal(err)
	}
	var compact any
	got := b.eval(expression)
	if err := json.Unmarshal([]byte(got), &compact); err != nil {
		b.t.Fatalf("%s is %q", expression, got)
	}
	again, _ := json.Marshal(compact)
	if string(again) != string(data) {
		b.t.Errorf("%s is %s, not %s", expression, again, data)
	}
}

// quiet fails the test if the page asked for anything but itself, or if the browser had
// something to complain about.
func (b *browser) quiet() {
	b.t.Helper()
	requests := 0
	for _, m := range b.said {
		switch m.Method {
		case "Network.requestWillBeSent":
			if requests++; requests > 1 {
				b.t.Errorf("the page asks for %s", m.Params)
			}
		case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled":
			b.t.Errorf("%s: %s", m.Method, m.Params)
		}
	}
}

func (b *browser) media(scheme string) {
	b.ask("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

func (b *browser) size(width int) {
	b.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// contrast lists the texts of the page that stand out less than WCAG 2.2, 1.4.3, asks for.
const contrast = `(function () {
	function rgb(c) { return c.match(/[\d.]+/g).map(Number); }
	function light(c) {
		return c.slice(0, 3).map(function (v) { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); })
			.reduce(function (sum, v, i) { return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0);
	}
	function below(e) {
		for (; e; e = e.parentElement) {
			var c = rgb(getComputedStyle(e).backgroundColor);
			if (c.length === 3 || c[3] === 1) { return c; }
		}
		return [255, 255, 255];
	}
	var out = [];
	document.querySelectorAll("body *").forEach(function (e) {
		var own = Array.prototype.some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.data.trim(); });
		if (!own || e.matches("script, .branch") || !e.getClientRects().length) { return; }
		var a = light(rgb(getComputedStyle(e).color)), b = light(below(e));
		var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) { out.push(e.className + " " + e.textContent.slice(0, 20) + " " + ratio.toFixed(2)); }
	});
	return out;
})()`

// readable checks a page in both colour schemes and in windows of several widths.
func (b *browser) readable() {
	b.t.Helper()
	paper := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.media(scheme)
		paper[scheme] = b.eval("getComputedStyle(document.body).backgroundColor")
		b.want(contrast, []string{})
	}
	if paper["light"] == paper["dark"] {
		b.t.Errorf("light and dark are both %s", paper["light"])
	}
	b.eval(`document.querySelectorAll("details").forEach(function (d) { d.open = true; })`)
	for _, width := range []int{1280, 800, 400, 390} {
		b.size(width)
		if got, has := b.eval("document.documentElement.scrollWidth"), b.eval("document.documentElement.clientWidth"); got != has {
			b.t.Errorf("%s wide where there are %s", got, has)
		}
		// A table that scrolls inside of its block hides its last column on a phone.
		b.want(`Array.from(document.querySelectorAll(".matrix td")).filter(function (e) {
			return e.getBoundingClientRect().right > document.documentElement.clientWidth; }).length`, 0)
		b.want(crowded, []string{})
	}
	b.size(1280)
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
func (b *browser) filter(words string, boxes ...string) {
	b.t.Helper()
	text, _ := json.Marshal(words)
	on, _ := json.Marshal(boxes)
	b.eval(`(function () {
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
