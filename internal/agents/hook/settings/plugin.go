package settings

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strconv"

	"github.com/accessc/accessc/internal/agents/hook"
)

// before is the text in front of the command of the plugin.
const before = "\nconst command = "

// starting is the plugin that starts words.
func (a *Agent) starting(words []string) []byte {
	limit := strconv.FormatInt(hook.Limit.Milliseconds(), 10)
	text := bytes.Replace(a.Plugin, []byte("LIMIT"), []byte(limit), 1)
	// The words come last: they may have any text.
	return bytes.Replace(text, []byte("COMMAND"), encode(words), 1)
}

// findPlugin reads the entry of a plugin: an agent reads no other file of this name.
func (a *Agent) findPlugin(doc []byte) ([]found, bool, error) {
	head, _, _ := bytes.Cut(a.Plugin, []byte("\n"))
	_, rest, ok := bytes.Cut(doc, []byte(before))
	if !ok || !bytes.HasPrefix(doc, head) {
		return nil, false, nil
	}
	var words []string
	text, _, _ := bytes.Cut(rest, []byte("\n"))
	if json.Unmarshal(text, &words) != nil {
		return nil, false, nil
	}
	e, ours := a.read(words)
	if !ours {
		return nil, false, nil
	}
	return []found{{Entry: e}}, bytes.Equal(doc, a.starting(words)), nil
}
