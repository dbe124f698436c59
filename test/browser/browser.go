// Package browser drives a headless Chromium for tests of pages.
package browser

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// Browser is a headless Chromium, driven by the DevTools protocol over a pipe
// (--remote-debugging-pipe): messages are JSON, each ended by a zero byte, on the
// descriptors 3 and 4 of the browser.
type Browser struct {
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

// Start skips the test where there is no Chromium.
func Start(t *testing.T) *Browser {
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
	b := &Browser{t: t, in: in, out: bufio.NewReader(out)}
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
func (b *Browser) open() {
	var target struct{ TargetID string }
	b.Ask("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Ask("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Ask(domain+".enable", nil, nil)
	}
}

func (b *Browser) write(m message) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(data, 0))
	return err
}

// Ask sends a command and reads until its answer comes.
func (b *Browser) Ask(method string, params map[string]any, result any) {
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

func (b *Browser) until(found func(message) bool) message {
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

// Show goes to an address and waits until all of the page is there.
func (b *Browser) Show(url string) {
	b.t.Helper()
	b.said = nil
	b.Ask("Page.navigate", map[string]any{"url": url}, nil)
	loaded := func(m message) bool { return m.Method == "Page.loadEventFired" }
	for _, m := range b.said {
		if loaded(m) {
			return
		}
	}
	b.until(loaded)
}

// Eval is the value of an expression in the page, or of what it promises, as JSON writes it.
func (b *Browser) Eval(expression string) string {
	b.t.Helper()
	var got struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	b.Ask("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	return string(got.Result.Value)
}

// Want compares the value of an expression.
func (b *Browser) Want(expression string, value any) {
	b.t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		b.t.Fatal(err)
	}
	var compact any
	got := b.Eval(expression)
	if err := json.Unmarshal([]byte(got), &compact); err != nil {
		b.t.Fatalf("%s is %q", expression, got)
	}
	again, _ := json.Marshal(compact)
	if string(again) != string(data) {
		b.t.Errorf("%s is %s, not %s", expression, again, data)
	}
}

// Quiet fails the test if the page asked for anything that is not wanted, or if the browser had something to complain
// about.
func (b *Browser) Quiet(wanted func(url string) bool) {
	b.t.Helper()
	for _, m := range b.said {
		switch m.Method {
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			if err := json.Unmarshal(m.Params, &sent); err != nil || !wanted(sent.Request.URL) {
				b.t.Errorf("the page asks for %s", m.Params)
			}
		case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled":
			b.t.Errorf("%s: %s", m.Method, m.Params)
		}
	}
}

// Media has the page shown in a colour scheme, light or dark.
func (b *Browser) Media(scheme string) {
	b.Ask("Emulation.setEmulatedMedia", map[string]any{
		"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	}, nil)
}

// Size has the window so many pixels wide.
func (b *Browser) Size(width int) {
	b.Ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Contrast lists the texts of the page that stand out less than WCAG 2.2, 1.4.3, asks for.
const Contrast = `(function () {
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
