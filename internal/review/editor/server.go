package editor

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/internal/host/userdir"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

// Bounds of what an editor may have open, and of requests that wait for a check.
const (
	maxDocuments = 1000
	maxRoots     = 64
	maxWaiting   = 100
)

// Options are what the server is about.
type Options struct {
	// Config are flags for every workspace; with a directory it is the only one.
	Config config.Flags
	// Style is the layout of rows.
	Style explain.Style
	// Schema is the JSON Schema of the configuration.
	Schema string
	// Version is that of the program.
	Version string
}

// doc is an open document.
type doc struct {
	uri     string
	version int
	text    *text
	// path is its file as the editor names it, canonical without symlinks in its directory, and real without any.
	path, canonical, real string
}

type server struct {
	*wire
	options Options
	schema  *schema
	docs    map[string]*doc // by URI
	roots   []*root
	// folders are the directories that the editor has open.
	folders          []string
	utf8             bool
	refresh, watches bool
	// changes counts changes of texts and of the disk.
	changes int
	done    chan checkedRoot
	// waiting are requests that are answered by the next check.
	waiting []*jsonrpc.Message
	shown   map[string]string // the diagnostics that were published, by URI
	ready   bool
	stopped bool
}

// incoming is a message or the reason why there is none.
type incoming struct {
	body []byte
	err  error
}

// Serve answers an editor until it says exit, or its input ends. The result is whether it had said shutdown before.
func Serve(in io.Reader, out io.Writer, options Options) (orderly bool, err error) {
	s := &server{
		wire: newWire(in, out), options: options, docs: map[string]*doc{}, done: make(chan checkedRoot),
		shown: map[string]string{},
	}
	if s.schema, err = readSchema(options.Schema); err != nil {
		return false, err
	}
	messages, stop := make(chan incoming, 64), make(chan struct{})
	defer close(stop)
	go func() {
		for {
			body, err := s.next()
			select {
			case messages <- incoming{body, err}:
			case <-stop:
				return
			}
			if err != nil && !errors.Is(err, errLarge) {
				return
			}
		}
	}()
	for {
		if len(messages) == 0 {
			if err := s.settle(); err != nil {
				return false, err
			}
		}
		select {
		case m := <-messages:
			switch {
			case errors.Is(m.err, errLarge):
				err = s.fail("", jsonrpc.CodeParse, m.err.Error())
			case errors.Is(m.err, io.EOF):
				return s.stopped, nil
			case m.err != nil:
				return false, m.err
			default:
				err = s.receive(m.body)
			}
		case c := <-s.done:
			err = s.checked(c)
		}
		if errors.Is(err, errExit) {
			return s.stopped, nil
		}
		if err != nil {
			return false, err
		}
	}
}

var errExit = errors.New("exit")

// receive handles the messages of a body.
func (s *server) receive(body []byte) error {
	messages, _, err := jsonrpc.Parse(body)
	if err != nil {
		return s.fail(jsonrpc.Sketch(body).ID(), jsonrpc.CodeParse, err.Error())
	}
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Method == "exit":
			return errExit
		case m.Method == "": // an answer
		case m.ID == "":
			err = s.notified(m)
		case !s.ready && m.Method != "initialize":
			err = s.fail(m.ID, codeNotInit, "initialize comes first")
		case s.stopped:
			err = s.fail(m.ID, jsonrpc.CodeInvalid, "the server is shut down")
		default:
			err = s.requested(m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notified handles a message without an answer. One that is wrong is passed over, as the protocol has it.
func (s *server) notified(m *jsonrpc.Message) error {
	raw := m.Params.Raw
	switch m.Method {
	case "initialized":
		return s.watch()
	case "textDocument/didOpen":
		if p, err := read[request](raw); err == nil {
			s.open(p.Document)
		}
	case "textDocument/didChange":
		p, err := read[didChange](raw)
		if d := s.docs[p.Document.URI]; err == nil && d != nil {
			return s.change(d, p)
		}
	case "textDocument/didClose":
		if p, err := read[request](raw); err == nil {
			delete(s.docs, p.Document.URI)
			s.disk()
		}
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		s.disk()
	case "workspace/didChangeWorkspaceFolders":
		if p, err := read[folders](raw); err == nil {
			for _, f := range p.Event.Removed {
				s.folders = slices.DeleteFunc(s.folders, func(dir string) bool { return dir == filePath(f.URI) })
			}
			s.add(p.Event.Added)
		}
	case "$/cancelRequest":
		return s.cancel(raw)
	}
	return nil
}

// cancel answers a request that waits.
func (s *server) cancel(raw string) error {
	p, err := strictjson.Parse(raw)
	if err != nil {
		return nil
	}
	members, err := jsonrpc.Members(p)
	if err != nil {
		return nil
	}
	for i, m := range s.waiting {
		if m.ID == members["id"].Raw {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			return s.fail(m.ID, codeCancelled, "cancelled")
		}
	}
	return nil
}

func (s *server) open(d document) {
	path := filePath(d.URI)
	if path == "" || len(s.docs) >= maxDocuments && s.docs[d.URI] == nil {
		return
	}
	data := []byte(d.Text)
	if len(data) > source.MaxSize {
		data = data[:source.MaxSize+1] // the compiler says that it is too long
	}
	o := &doc{uri: d.URI, version: d.Version, text: newText(data, s.utf8), path: path}
	o.canonical = filepath.Join(workspace.Canonical(filepath.Dir(path)), filepath.Base(path))
	o.real = o.canonical
	if real, err := filepath.EvalSymlinks(path); err == nil {
		o.real = real
	}
	s.docs[d.URI] = o
	s.disk()
}

// change applies the changes of a document. One that cannot be applied would leave another text than the editor's: the
// document is closed, which the editor is told.
func (s *server) change(d *doc, p didChange) error {
	for _, c := range p.Changes {
		now, _, _, err := d.text.replaced(c)
		if err == nil && len(now.data) > source.MaxSize {
			now.data = now.data[:source.MaxSize+1]
		}
		if err != nil {
			delete(s.docs, d.uri)
			s.disk()
			return s.say(d.uri + ": a change cannot be applied: " + err.Error() + "; open the file again")
		}
		d.text = now
	}
	d.version = p.Document.Version
	s.changes++
	for _, r := range s.roots {
		r.dirty = true
	}
	return nil
}

// say shows a line in the log of the editor.
func (s *server) say(text string) error {
	return s.notify("window/logMessage", map[string]any{"type": 2, "message": "accessc: " + text})
}

// disk notes that files, or the set of open texts, may be others than they were.
func (s *server) disk() {
	s.changes++
	s.find()
	for _, r := range s.roots {
		r.forget()
	}
}

func (s *server) add(all []folder) {
	for _, f := range all {
		if dir := filePath(f.URI); dir != "" && !slices.Contains(s.folders, dir) {
			s.folders = append(s.folders, dir)
		}
	}
	s.disk()
}

// find finds the workspaces around the folders and the open documents. Those that are there stay.
func (s *server) find() {
	var dirs []string
	if s.options.Config.Dir != "" {
		dirs = []string{s.options.Config.Dir}
	} else {
		own, _ := userdir.Root() // without any there is none that a tool could write
		from := slices.Clone(s.folders)
		for _, d := range s.docs {
			from = append(from, filepath.Dir(d.path))
		}
		slices.Sort(from)
		for _, dir := range slices.Compact(from) {
			at, err := workspace.Find(dir, own, source.Lists(hostview.Now))
			if err == nil && !slices.Contains(dirs, at) && len(dirs) < maxRoots {
				dirs = append(dirs, at)
			}
		}
	}
	var roots []*root
	for _, dir := range dirs {
		i := slices.IndexFunc(s.roots, func(r *root) bool { return r.flags.Dir == dir })
		if i >= 0 {
			roots = append(roots, s.roots[i])
		} else {
			roots = append(roots, newRoot(s.options.Config, dir))
		}
	}
	for _, r := range s.roots {
		if !slices.Contains(roots, r) && r.memory != nil {
			r.memory.forget()
		}
	}
	s.roots = roots
}

// settle compiles what has changed once no message waits, publishes the findings, and begins checks.
func (s *server) settle() error {
	if !s.ready || s.stopped {
		return nil
	}
	dirty := false
	for _, r := range s.roots {
		if r.dirty {
			r.compile(s.docs)
			dirty = true
		}
	}
	if dirty {
		if err := s.publish(); err != nil {
			return err
		}
	}
	for _, r := range s.roots {
		if r.at != s.changes && !r.running {
			r.running = true
			r.check(s.docs, s.changes, s.done)
		}
	}
	return nil
}

// checked takes the result of a check. One of texts that have changed meanwhile is of no use; another follows.
func (s *server) checked(c checkedRoot) error {
	c.root.running = false
	if c.at != s.changes || !slices.Contains(s.roots, c.root) {
		return nil
	}
	if c.root.dirty {
		c.root.compile(s.docs)
	}
	first := c.root.res == nil
	c.root.take(c)
	if err := s.publish(); err != nil {
		return err
	}
	if s.refresh && !first {
		if err := s.request("accessc/hints", "workspace/inlayHint/refresh", nil); err != nil {
			return err
		}
	}
	return s.answerWaiting()
}

// current reports whether all checks are of the texts as they are.
func (s *server) current() bool {
	return !slices.ContainsFunc(s.roots, func(r *root) bool { return r.at != s.changes })
}

// answerWaiting answers the requests that waited, once all checks are of the texts as they are.
func (s *server) answerWaiting() error {
	if !s.current() {
		return nil
	}
	all := s.waiting
	s.waiting = nil
	for _, m := range all {
		if err := s.respond(m); err != nil {
			return err
		}
	}
	return nil
}

// publish tells the editor the findings of each file, where they are others than it was told.
func (s *server) publish() error {
	byPath := map[string]*doc{}
	for _, d := range s.docs {
		byPath[d.path], byPath[d.canonical], byPath[d.real] = d, d, d
	}
	lists := map[string]diag.List{}
	texts := map[string]*text{}
	for _, r := range s.roots {
		for _, p := range r.paths() {
			d := byPath[p]
			uri := fileURI(p)
			if d != nil {
				uri = d.uri
				texts[uri] = d.text
			} else if data, ok := r.typed.texts[p]; ok && texts[uri] == nil {
				texts[uri] = newText(data, s.utf8)
			}
			now := r.slow.texts[p]
			if t := texts[uri]; t != nil {
				now = t.data
			} else {
				texts[uri] = newText(nil, s.utf8)
			}
			list := lists[uri]
			for _, f := range r.shown(p, now) {
				if !(found{list: map[string]diag.List{p: list}}).has(p, f) {
					list.Add(f)
				}
			}
			list.Sort()
			lists[uri] = list
		}
	}
	for uri := range s.shown {
		if _, still := lists[uri]; !still {
			lists[uri] = nil
		}
	}
	for _, d := range s.docs { // also to say that there is nothing
		if _, has := lists[d.uri]; !has {
			lists[d.uri] = nil
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(lists)) {
		p := published{URI: uri, Diagnostics: []diagnostic{}}
		if d := s.docs[uri]; d != nil {
			p.Version = &d.version
		}
		for _, f := range lists[uri] {
			p.Diagnostics = append(p.Diagnostics, s.diagnostic(texts[uri], f))
		}
		told, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if s.shown[uri] == string(told) || len(p.Diagnostics) == 0 && s.shown[uri] == "" && s.docs[uri] == nil {
			continue
		}
		if s.shown[uri] = string(told); s.docs[uri] == nil && len(p.Diagnostics) == 0 {
			delete(s.shown, uri)
		}
		if err := s.notify("textDocument/publishDiagnostics", p); err != nil {
			return err
		}
	}
	return nil
}

// checksPage explains the codes.
const checksPage = "https://github.com/accessc/accessc/blob/main/docs/checks.md#"

func (s *server) diagnostic(t *text, d diag.Diagnostic) diagnostic {
	start, end := t.find(d.At, d.Span)
	message := d.Message
	if d.Label != "" {
		message += ": " + d.Label
	}
	if d.Hint != "" {
		message += "\nhint: " + d.Hint
	}
	out := diagnostic{
		Range: t.span(start, end), Severity: int(d.Severity) + 1, Code: string(d.Code), Source: "accessc",
		About: &about{checksPage + strings.ToLower(string(d.Code))}, Message: message,
	}
	for _, r := range d.Related {
		if at, ok := s.placeOf(r.At); ok {
			out.Related = append(out.Related, related{at, r.Note})
		} else {
			out.Message += "\n" + strings.TrimPrefix(r.At.String()+": "+r.Note, ": ")
		}
	}
	return out
}

// placeOf is the place of a position, if it is in a file.
func (s *server) placeOf(at ir.Pos) (place, bool) {
	for _, r := range s.roots {
		if r.res == nil {
			continue
		}
		f := r.res.Files[at.File]
		if f == nil || f.Path == "" || at.Line < 1 {
			continue
		}
		uri, t := s.file(f.Path, f.Data)
		start, end := t.find(at, 0)
		return place{uri, t.span(start, end)}, true
	}
	return place{}, false
}

// file is the URI and the text of a file: that of the open document, if it is open.
func (s *server) file(path string, data []byte) (string, *text) {
	for _, d := range s.docs {
		if path == d.path || path == d.canonical || path == d.real {
			return d.uri, d.text
		}
	}
	return fileURI(path), newText(data, s.utf8)
}

// watch has the editor say which files change, where it can.
func (s *server) watch() error {
	if !s.watches {
		return nil
	}
	return s.request("accessc/watch", "client/registerCapability", map[string]any{
		"registrations": []any{map[string]any{
			"id": "accessc/watch", "method": "workspace/didChangeWatchedFiles",
			"registerOptions": map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*.toml"}}},
		}},
	})
}

// filePath is the file of a URI, empty for another scheme.
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
		if u.Host != "" {
			path = "//" + u.Host + u.Path
		}
	} else if u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path = filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
