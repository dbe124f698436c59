package editor

import "encoding/json"

// The types are the parts of the protocol that the server uses; the names of the fields are the protocol's.

// position counts lines from 0, and characters in UTF-16 code units, or in bytes where both sides agreed on that.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type place struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type diagnostic struct {
	Range    span      `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	About    *about    `json:"codeDescription,omitempty"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type about struct {
	Href string `json:"href"`
}

type related struct {
	Location place  `json:"location"`
	Message  string `json:"message"`
}

type published struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type document struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type folder struct {
	URI string `json:"uri"`
}

type initialize struct {
	RootURI      string   `json:"rootUri"`
	Folders      []folder `json:"workspaceFolders"`
	Capabilities struct {
		General struct {
			Encodings []string `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			Watched struct {
				Dynamic bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
			Hints struct {
				Refresh bool `json:"refreshSupport"`
			} `json:"inlayHint"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

// change is a change of a document: of a range, or without any of the whole text.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

type didChange struct {
	Document document `json:"textDocument"`
	Changes  []change `json:"contentChanges"`
}

// about a document: the parameters of most requests.
type request struct {
	Document document `json:"textDocument"`
	Position position `json:"position"`
	Range    span     `json:"range"`
}

type folders struct {
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hover struct {
	Contents markup `json:"contents"`
	Range    *span  `json:"range,omitempty"`
}

type completion struct {
	Label  string    `json:"label"`
	Kind   int       `json:"kind"`
	Detail string    `json:"detail,omitempty"`
	Doc    string    `json:"documentation,omitempty"`
	Edit   *textEdit `json:"textEdit"`
}

type symbol struct {
	Name     string   `json:"name"`
	Detail   string   `json:"detail,omitempty"`
	Kind     int      `json:"kind"`
	Range    span     `json:"range"`
	Selected span     `json:"selectionRange"`
	Children []symbol `json:"children,omitempty"`
}

type action struct {
	Title string       `json:"title"`
	Kind  string       `json:"kind"`
	Fixes []diagnostic `json:"diagnostics,omitempty"`
	Edit  edits        `json:"edit"`
}

type edits struct {
	Changes map[string][]textEdit `json:"changes"`
}

type inlay struct {
	Position position `json:"position"`
	Label    string   `json:"label"`
	Padding  bool     `json:"paddingLeft"`
}

// The numbers of kinds, in the order of CompletionItemKind and SymbolKind.
const (
	kindKey, kindValue, kindName       = 10, 12, 9
	symbolTool, symbolTable, symbolKey = 5, 19, 7
)

// read reads parameters.
func read[T any](raw string) (T, error) {
	var out T
	if raw == "" {
		return out, nil
	}
	err := json.Unmarshal([]byte(raw), &out)
	return out, err
}
