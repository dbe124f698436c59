package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/accessc/accessc/internal/jsonrpc"
)

// MaxEvent is the longest event that is read, in bytes. An edit has the whole text of a file.
const MaxEvent = 16 << 20

// Read reads an event: one JSON object that no parser could read otherwise, in all of its depth.
func Read(r io.Reader) (gjson.Result, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxEvent+1))
	switch {
	case err != nil:
		return gjson.Result{}, fmt.Errorf("the event cannot be read: %w", err)
	case len(text) > MaxEvent:
		return gjson.Result{}, fmt.Errorf("the event is longer than %d bytes", MaxEvent)
	case !utf8.Valid(text):
		return gjson.Result{}, errors.New("the event is not UTF-8")
	case !json.Valid(text):
		return gjson.Result{}, errors.New("the event is not JSON")
	case jsonrpc.Deep(text):
		return gjson.Result{}, errors.New("the event has more lists and objects in each other than any event")
	}
	root := gjson.ParseBytes(bytes.TrimSpace(text))
	if !root.IsObject() {
		return gjson.Result{}, errors.New("the event is no JSON object")
	}
	if err := jsonrpc.Strings(root, "", func(string, string) {}); err != nil {
		return gjson.Result{}, fmt.Errorf("the event means more than one thing: %w", err)
	}
	return root, nil
}
