package relay

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/visible"
)

// Version is the version of an entry of an audit log. It changes when a reader of the older form
// would misunderstand the newer one.
const Version = 1

// The events of an audit log.
const (
	EventStart   = "start"   // the program is about to start
	EventCall    = "call"    // a message that the policy is about was judged
	EventMessage = "message" // a line was dropped, since no message could be read from it
	EventHidden  = "hidden"  // a listing was shortened
	EventMode    = "mode"    // the session changed to another mode
	EventEnd     = "end"     // the program has ended
)

// The sides of a message, and the verdicts.
const (
	FromClient = "client"
	FromServer = "server"
	Allow      = "allow"
	Deny       = "deny"
)

// Entry is one line of an audit log. Arguments of calls may hold secrets, so of them an entry
// has only refusals.
type Entry struct {
	Version int    `json:"format_version"`
	Time    string `json:"time"`
	Event   string `json:"event"`
	// Name is that of the server or agent, From the side that sent the message.
	Name string `json:"name"`
	From string `json:"from,omitempty"`
	// ID and Method are the message's, Tool and Session the ones that it is about.
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Session string          `json:"session,omitempty"`
	// Agent and AgentID are the type of the subagent that makes a call, and its name.
	Agent   string `json:"agent,omitempty"`
	AgentID string `json:"agent_id,omitempty"`
	// Verdict is "allow", "deny" or "ask", Reason its sentence, Asked the refused text.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Asked   string `json:"asked,omitempty"`
	// Hidden are the names that were left out, Mode the new mode, Status that of the end.
	Hidden []string `json:"hidden,omitempty"`
	Mode   string   `json:"mode,omitempty"`
	Status *int     `json:"status,omitempty"`
}

// Log is an audit log, to which several runs may append. A nil Log keeps nothing.
type Log struct {
	mu   sync.Mutex
	name string
	file *os.File
	// torn is true after a line that was not written whole.
	torn bool
}

// OpenLog opens a log of entries about a server or an agent, or makes it for this user alone. A symlink may lead to a
// place where a tool writes, and so may a further name, so neither is a log. A named pipe keeps nothing, and
// one without a reader would not open.
func OpenLog(path, name string) (*Log, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(path); err == nil {
		if err := kind(path, info); err != nil {
			return nil, err // and nothing is made at the end of a link
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|openFlags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := alone(path, f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &Log{name: name, file: f}, nil
}

// kind is the error about anything but a file or, to read along, a terminal or another such device: it is no log.
func kind(path string, info fs.FileInfo) error {
	if to, err := os.Readlink(path); err == nil {
		return fmt.Errorf("%s is a symlink to %s; name the file itself", path, to)
	}
	switch {
	case info.Mode().IsRegular() || info.Mode()&fs.ModeCharDevice != 0:
		return nil
	case info.Mode()&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%s is a named pipe (FIFO), which keeps nothing; name a file", path)
	default:
		return fmt.Errorf("%s is no file", path)
	}
}

// alone reports an open file that has another name than the path.
func alone(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !os.SameFile(info, there):
		return fmt.Errorf("%s changed while it was opened", path)
	}
	if err := kind(path, info); err != nil || !info.Mode().IsRegular() {
		return err
	}
	n, err := names(f)
	if err == nil && n > 1 {
		err = fmt.Errorf("%s has a further name (a hard link), by which it could be written", path)
	}
	return err
}

// Add appends an entry. An entry whose error is not nil may be missing, and nothing that
// it allows should happen.
func (l *Log) Add(e Entry) error {
	if l == nil {
		return nil
	}
	e.Version, e.Time, e.Name = Version, time.Now().UTC().Format(time.RFC3339Nano), l.name
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("the audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line := append(visible.Bytes(data), '\n')
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	l.torn = n < len(line) && (n > 0 || l.torn)
	if err != nil {
		return fmt.Errorf("the audit log: %w", err)
	}
	return nil
}

// TooLong is the reason why a line was not read.
func TooLong() string { return fmt.Sprintf("the line is longer than %d bytes", MaxLine) }

// Unread records a line that is not passed on, since no message could be read from it, and
// returns the answer to its sender; none where it asks for none. A line of the client without an
// id may ask all the same (JSON-RPC 2.0, section 5).
func (l *Log) Unread(from string, o *jsonrpc.Outline, code int, why string) []byte {
	// Nothing is allowed by the entry, so nothing depends on it.
	_ = l.Add(Entry{Event: EventMessage, From: from, ID: json.RawMessage(o.ID()), Verdict: Deny, Reason: why})
	if !o.Request() && (from == FromServer || o.ID() != "") {
		return nil
	}
	return jsonrpc.Fail(o.ID(), code, "accessc: "+why)
}

// UnreadAnswer records a line of the server that is too long. What should have been an answer is
// an error for the client, a request is answered to the server.
func (l *Log) UnreadAnswer(o *jsonrpc.Outline) (forward, back []byte) {
	back = l.Unread(FromServer, o, jsonrpc.CodeInvalid, TooLong())
	if back == nil && o.ID() != "" {
		return jsonrpc.Fail(o.ID(), jsonrpc.CodeRefused, "accessc: "+TooLong()), nil
	}
	return nil, back
}

// Close closes the log.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
