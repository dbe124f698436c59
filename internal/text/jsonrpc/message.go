package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// The reasons why a line is not passed on.
var (
	ErrText   = errors.New("the line is not UTF-8")
	ErrReturn = errors.New("the line has a carriage return in it, which some programs take for its end")
	ErrJSON   = errors.New("the line is not JSON")
	ErrDeep   = errors.New("the line has more lists and objects in each other than any message")
	ErrShape  = errors.New("the line is not a message of JSON-RPC, or a list of them")
	ErrMethod = errors.New("the method has characters that some programs skip")
)

// Message is one message of JSON-RPC 2.0. Its values know where in the line they stand.
type Message struct {
	// ID is the id as it was written, empty for none.
	ID string
	// Method is empty in an answer.
	Method string
	// Params and Result are the members of these names.
	Params, Result strictjson.Value
	// Value is the whole message.
	Value strictjson.Value
}

// Request reports whether the message asks for an answer.
func (m *Message) Request() bool { return m.Method != "" && m.ID != "" }

// OtherCase returns an error if the method differs from a known one in case alone: some programs take it
// for that one.
func (m *Message) OtherCase(known ...string) error {
	for _, k := range known {
		if m.Method != k && strings.EqualFold(m.Method, k) {
			return fmt.Errorf("found the method %q, which some programs take for %q", m.Method, k)
		}
	}
	return nil
}

// Parse reads a line. A list of messages is a batch; an empty line has none.
func Parse(line []byte) (messages []Message, batch bool, err error) {
	text := bytes.TrimRight(line, "\r\n")
	switch {
	case len(bytes.TrimLeft(text, " \t")) == 0:
		return nil, false, nil
	case bytes.IndexByte(text, '\r') >= 0:
		return nil, false, ErrReturn
	case !utf8.Valid(text):
		return nil, false, ErrText
	}
	root, err := strictjson.Parse(string(text))
	switch {
	case errors.Is(err, strictjson.ErrDeep):
		return nil, false, ErrDeep
	case err != nil:
		return nil, false, ErrJSON
	case !root.IsArray():
		m, err := message(root)
		return []Message{m}, false, err
	}
	for _, item := range root.Array() {
		m, err := message(item)
		if err != nil {
			return nil, true, err
		}
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return nil, true, ErrShape
	}
	return messages, true, nil
}

func message(v strictjson.Value) (Message, error) {
	m := Message{Value: v}
	members, err := Members(v, "jsonrpc", "id", "method", "params", "result", "error")
	if err != nil {
		return m, err
	}
	if id, ok := members["id"]; ok {
		if id.IsObject() || id.IsArray() || len(id.Raw) > maxID {
			return m, ErrShape
		}
		m.ID = id.Raw
	}
	method, called := members["method"]
	if called && (method.Type != strictjson.String || method.Str == "") {
		return m, ErrShape
	}
	if strings.ContainsFunc(method.Str, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return m, ErrMethod
	}
	m.Method, m.Params, m.Result = method.Str, members["params"], members["result"]
	return m, nil
}

// Members are the members of an object by name. It is an error for a value to be no object, for
// a name to stand twice, and for one to differ from a known name in case alone.
func Members(v strictjson.Value, known ...string) (map[string]strictjson.Value, error) {
	if !v.IsObject() {
		return nil, ErrShape
	}
	out := map[string]strictjson.Value{}
	var err error
	v.ForEach(func(member, value strictjson.Value) bool {
		key := member.Str
		if _, twice := out[key]; twice {
			err = fmt.Errorf("found %q twice in one object", key)
		}
		for _, k := range known {
			if key != k && strings.EqualFold(key, k) {
				err = fmt.Errorf("found %q, which some programs take for %q", key, k)
			}
		}
		out[key] = value
		return err == nil
	})
	return out, err
}

// Strings calls visit for every string in a value, with the name of the member that it stands
// in, and for the names of members themselves. It is an error for a name to stand twice in one
// object.
func Strings(v strictjson.Value, name string, visit func(name, text string)) error {
	switch {
	case v.Type == strictjson.String:
		visit(name, v.Str)
	case v.IsArray():
		for _, item := range v.Array() {
			if err := Strings(item, name, visit); err != nil {
				return err
			}
		}
	case v.IsObject():
		_, err := Members(v)
		v.ForEach(func(member, value strictjson.Value) bool {
			if err == nil {
				visit("", member.Str)
				err = Strings(value, member.Str, visit)
			}
			return err == nil
		})
		return err
	}
	return nil
}

// Replace returns a line in which other text stands for a value of it.
func Replace(line []byte, v strictjson.Value, with []byte) []byte {
	out := make([]byte, 0, len(line)-len(v.Raw)+len(with))
	out = append(out, line[:v.Index]...)
	out = append(out, with...)
	return append(out, line[v.Index+len(v.Raw):]...)
}

// Filter returns a line in which an array of it has those elements alone that keep accepts. It
// returns the line itself where keep accepts all.
func Filter(line []byte, array strictjson.Value, keep func(strictjson.Value) bool) []byte {
	all := array.Array()
	var kept []string
	for _, item := range all {
		if keep(item) {
			kept = append(kept, item.Raw)
		}
	}
	if len(kept) == len(all) {
		return line
	}
	return Replace(line, array, []byte("["+strings.Join(kept, ",")+"]"))
}

// The codes of errors that a proxy answers with (JSON-RPC 2.0, section 5.1).
const (
	CodeParse   = -32700
	CodeInvalid = -32600
	CodeRefused = -32001 // of the range for implementations
)

// Answer is the line that answers a request with a result.
func Answer(id string, result any) []byte {
	return Line(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", written(id), result})
}

// Fail is the line that answers a request with an error. An empty id is that of a message whose
// id is not known.
func Fail(id string, code int, text string) []byte {
	type failure struct {
		Code int    `json:"code"`
		Text string `json:"message"`
	}
	return Line(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", written(id), failure{code, text}})
}

func written(id string) json.RawMessage {
	if id == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(id)
}

// Line writes a value that always has a JSON form as one line.
func Line(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return b.Bytes()
}
