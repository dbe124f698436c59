package start

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/contextjson"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// Call is a host's call of a tool. The Context carries it, and placeholders of the command stand for
// parts of it. It grants nothing: a policy is the same for each call.
// See decision D236.
type Call struct {
	// Action is contextjson.Run where it is empty.
	Action string `json:"action"`
	// Arguments, Answers and Options are JSON objects, nil where the host gives none.
	Arguments json.RawMessage `json:"arguments"`
	Answers   json.RawMessage `json:"answers"`
	Options   json.RawMessage `json:"options"`
	// WorkspaceID and ConversationID are names that the host gives, for the tool to keep its own
	// state apart.
	WorkspaceID    string `json:"workspace_id"`
	ConversationID string `json:"conversation_id"`
}

// maxCall and maxCallID bound a call and its names, in bytes.
const (
	maxCall   = 16 << 20
	maxCallID = 256
)

// ReadCall reads a call from a file, a pipe or an inherited descriptor. A pipe that no one writes to
// is an empty call, which is a mistake, and not waited for.
func ReadCall(path string) (Call, error) {
	f, err := openCall(path)
	if err != nil {
		return Call{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCall+1))
	switch {
	case err != nil:
		return Call{}, err
	case len(data) > maxCall:
		return Call{}, fmt.Errorf("%s: a call of more than %d bytes", path, maxCall)
	}
	c, err := ParseCall(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return c, err
}

// ParseCall reads a call. Every member is known and stands once, at any depth, so no two
// parsers read different calls.
func ParseCall(data []byte) (Call, error) {
	var c Call
	if !utf8.Valid(data) {
		return c, errors.New("the call is not UTF-8")
	}
	if err := strictjson.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("the call: %w", err)
	}
	return c, c.check()
}

// check reports the first mistake of a call.
func (c *Call) check() error {
	switch c.Action {
	case "", contextjson.Run, contextjson.FormatArguments:
	default:
		return fmt.Errorf("the call: found the action %q, expected %s or %s", c.Action, contextjson.Run, contextjson.FormatArguments)
	}
	for _, o := range c.objects() {
		if len(o.value) == 0 {
			continue
		}
		v, err := strictjson.Parse(string(o.value))
		if err != nil || !v.IsObject() {
			return fmt.Errorf("%s take a JSON object", o.name)
		}
		if err := jsonrpc.Strings(v, "", func(string, string) {}); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for _, id := range []struct{ name, value string }{{"workspace_id", c.WorkspaceID}, {"conversation_id", c.ConversationID}} {
		if len(id.value) > maxCallID || strings.ContainsFunc(id.value, unicode.IsControl) {
			return fmt.Errorf("the call: %s has more than %d bytes or control characters", id.name, maxCallID)
		}
	}
	return nil
}

// callObject is a member of a call that is an object.
type callObject struct {
	name  string
	one   string
	value json.RawMessage
}

func (c *Call) objects() []callObject {
	return []callObject{
		{"arguments", "argument", c.Arguments}, {"answers", "answer", c.Answers}, {"options", "option", c.Options},
	}
}

// empty reports whether the host says nothing.
func (c *Call) empty() bool {
	return c.Action == "" && c.WorkspaceID == "" && c.ConversationID == "" &&
		len(c.Arguments) == 0 && len(c.Answers) == 0 && len(c.Options) == 0
}

// carry checks the call of a request, and puts it into the Context of a start.
func (r *Request) carry(l *backends.Launch) error {
	if err := r.Call.check(); err != nil {
		return failed("%w", err)
	}
	if r.Call.empty() || l.Context == "" {
		return nil
	}
	var doc contextjson.Context
	if err := strictjson.Unmarshal([]byte(l.Context), &doc); err != nil {
		return failed("the Context: %w", err)
	}
	c := &r.Call
	if c.Action != "" {
		doc.Action = c.Action
	}
	doc.WorkspaceID, doc.ConversationID = c.WorkspaceID, c.ConversationID
	doc.Arguments, doc.Answers, doc.Options = c.Arguments, c.Answers, c.Options
	data, err := backends.JSON(doc)
	if err != nil {
		return failed("the Context: %w", err)
	}
	l.Context = string(data)
	return nil
}

// member is the text that a placeholder such as tool.answers.NAME stands for; ok is false where the
// name is none of these. missing is the error where the call lacks it.
func (c *Call) member(name string) (text string, missing error, ok bool) {
	for _, o := range c.objects() {
		if name == "tool."+o.name {
			return compact(o.value), nil, true
		}
		key, ok := strings.CutPrefix(name, "tool."+o.name+".")
		if !ok {
			continue
		}
		value, found := valueOf(o.value, key)
		if !found {
			missing = fmt.Errorf("the command needs the %s %s; pass it in --call, or as one of --arguments", o.one, key)
			if o.one != "argument" {
				missing = fmt.Errorf("the command needs the %s %s; pass it in --call", o.one, key)
			}
		}
		return value, missing, true
	}
	return "", nil, false
}

// valueOf is the value of a member of an object, by its whole name.
func valueOf(object json.RawMessage, key string) (text string, ok bool) {
	v := strictjson.Raw(object).Get(key)
	if v.Type == strictjson.String {
		return v.Str, true
	}
	return v.Raw, v.Exists()
}

// compact is an object on one line, {} for none.
func compact(object json.RawMessage) string {
	if len(object) == 0 {
		return "{}"
	}
	var b bytes.Buffer
	_ = json.Compact(&b, object) // it was checked
	return b.String()
}
