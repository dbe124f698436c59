package editor

import (
	"github.com/accessc/accessc/compiler/format"
	"github.com/accessc/accessc/internal/text/jsonrpc"
)

// needsCheck are the requests that are answered by a check of the texts as they are.
var needsCheck = []string{
	"textDocument/hover", "textDocument/definition", "textDocument/inlayHint", "textDocument/codeAction",
	"textDocument/completion",
}

func (s *server) requested(m *jsonrpc.Message) error {
	for _, method := range needsCheck {
		if m.Method != method || !s.stale() {
			continue
		}
		if len(s.waiting) == maxWaiting {
			first := s.waiting[0]
			s.waiting = s.waiting[1:]
			if err := s.fail(first.ID, codeUnavailable, "too many requests wait"); err != nil {
				return err
			}
		}
		s.waiting = append(s.waiting, m)
		return nil
	}
	return s.respond(m)
}

// stale reports whether a check of the texts as they are is still to come.
func (s *server) stale() bool { return len(s.roots) > 0 && !s.current() }

// respond answers a request.
func (s *server) respond(m *jsonrpc.Message) error {
	switch m.Method {
	case "initialize":
		return s.initialize(m)
	case "shutdown":
		s.stopped = true
		return s.answer(m.ID, nil)
	}
	p, err := read[request](m.Params.Raw)
	if err != nil {
		return s.fail(m.ID, codeParams, "the parameters are not those of "+m.Method)
	}
	d := s.docs[p.Document.URI]
	if d == nil {
		switch m.Method {
		case "textDocument/formatting", "textDocument/documentSymbol":
			return s.answer(m.ID, nil)
		}
		for _, method := range needsCheck {
			if m.Method == method {
				return s.answer(m.ID, nil)
			}
		}
		return s.fail(m.ID, codeNoMethod, "there is no method "+m.Method)
	}
	switch m.Method {
	case "textDocument/formatting":
		return s.answer(m.ID, formatted(d))
	case "textDocument/documentSymbol":
		return s.answer(m.ID, symbols(d.text))
	case "textDocument/hover":
		return s.answer(m.ID, s.hover(d, d.text.offset(p.Position)))
	case "textDocument/definition":
		return s.answer(m.ID, s.definition(d, d.text.offset(p.Position)))
	case "textDocument/completion":
		return s.answer(m.ID, s.complete(d, d.text.offset(p.Position)))
	case "textDocument/inlayHint":
		return s.answer(m.ID, s.hints(d, p.Range))
	case "textDocument/codeAction":
		return s.answer(m.ID, s.actions(d, p.Range))
	}
	return s.fail(m.ID, codeNoMethod, "there is no method "+m.Method)
}

func (s *server) initialize(m *jsonrpc.Message) error {
	p, err := read[initialize](m.Params.Raw)
	switch {
	case err != nil:
		return s.fail(m.ID, codeParams, "the parameters are not those of initialize")
	case s.ready:
		return s.fail(m.ID, jsonrpc.CodeInvalid, "initialize comes once")
	}
	s.ready = true
	encoding := "utf-16"
	for _, e := range p.Capabilities.General.Encodings {
		if e == "utf-8" {
			s.utf8, encoding = true, e
		}
	}
	s.watches = p.Capabilities.Workspace.Watched.Dynamic
	s.refresh = p.Capabilities.Workspace.Hints.Refresh
	if len(p.Folders) == 0 && p.RootURI != "" {
		p.Folders = []folder{{p.RootURI}}
	}
	s.add(p.Folders)
	return s.answer(m.ID, map[string]any{
		"serverInfo": map[string]any{"name": "accessc", "version": s.options.Version},
		"capabilities": map[string]any{
			"positionEncoding":           encoding,
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": true},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"documentFormattingProvider": true,
			"documentSymbolProvider":     true,
			"inlayHintProvider":          true,
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{kindFix, kindLayout}},
			"completionProvider": map[string]any{
				"triggerCharacters": []string{".", "\"", "'", "=", "[", "{", ":"},
			},
			"workspace": map[string]any{
				"workspaceFolders": map[string]any{"supported": true, "changeNotifications": true},
			},
		},
	})
}

// formatted are the edits that lay a document out, none for one with mistakes.
func formatted(d *doc) []textEdit {
	out, finding, err := format.Text("", d.text.data)
	if finding != nil || err != nil || string(out) == string(d.text.data) {
		return []textEdit{}
	}
	return []textEdit{{d.text.whole(), string(out)}}
}
