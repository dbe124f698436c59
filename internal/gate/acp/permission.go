package acp

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// call is an agent's description of one of its tool calls.
type call struct {
	kind, title string
	// input is the raw input of the tool, paths are the places that the call is about.
	input strictjson.Value
	paths []string
}

// readCall reads a tool call or an update of one.
func readCall(v strictjson.Value) (id string, c call, err error) {
	members, err := jsonrpc.Members(v, "toolCallId", "kind", "title", "rawInput", "locations", "content")
	if err != nil {
		return "", c, err
	}
	c.kind, c.title, c.input = members["kind"].Str, members["title"].Str, members["rawInput"]
	for _, list := range []string{"locations", "content"} {
		for _, item := range members[list].Array() {
			if at := item.Get("path"); at.Type == strictjson.String {
				c.paths = append(c.paths, at.Str)
			}
			for _, change := range item.Get("changes").Array() { // version 2
				for _, at := range []string{change.Get("path").Str, change.Get("oldPath").Str} {
					if at != "" {
						c.paths = append(c.paths, at)
					}
				}
			}
		}
	}
	return members["toolCallId"].Str, c, nil
}

// over is the call with a later update. A place that was named once stays a place that
// the call is about: the request for permission need not be the most candid description.
func (c call) over(older call) call {
	c.kind, c.title = cmp.Or(c.kind, older.kind), cmp.Or(c.title, older.title)
	if c.input.Type == strictjson.Null {
		c.input = older.input
	}
	if all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(older.paths, c.paths)))); len(all) <= maxPaths || c.paths == nil {
		c.paths = all
	}
	return c
}

// pathKeys are the members of a tool's input that are paths, by the names that agents use.
var pathKeys = []string{"path", "file_path", "filePath", "absolute_path", "abs_path"}

// judged decides about a tool call. The description that an agent shows to people is enough to refuse by and not
// to permit by: a title is no command.
// See decision D140.
func judged(j *action.Judge, c call) action.Verdict {
	command, hasCommand := commandOf(c.input)
	kind, known := ruleset.ParseKind(c.kind)
	switch {
	case hasCommand:
		v := j.Command(command)
		if more := further(c.input); more != "" && v.Outcome == action.Allow {
			v = action.Left("the request has " + more + " beside its command")
		}
		return v
	case !known:
		return action.Left("the policy is not about this kind of call")
	case kind == ruleset.Execute:
		v := j.Command(action.Command{Line: c.title})
		if v.Outcome == action.Allow {
			v = action.Left("the request has no command but a title")
		}
		return v
	case kind == ruleset.Fetch:
		return fetched(j, c)
	}
	paths := c.paths
	for _, key := range pathKeys {
		if at := c.input.Get(key); at.Type == strictjson.String {
			paths = append(paths, at.Str)
		}
	}
	out := j.Operation(kind, paths, "")
	if c.input.Type != strictjson.Null && !c.input.IsObject() {
		out = out.And(action.Left("the input of the tool is no object"))
	}
	if kind == ruleset.Search {
		out = out.And(searched(j, paths))
	}
	return out.And(texts(j, c.input))
}

// texts judges the texts of an input. The kind of a call does not rule out that its tool runs a command,
// so an input with a member that may be one is left to a person. All other texts may be paths under unknown names.
func texts(j *action.Judge, input strictjson.Value) action.Verdict {
	out := action.Permitted()
	err := jsonrpc.Strings(input, "", func(name, text string) {
		out = out.And(action.Of(j.Files.Argument(name, text)))
		if action.IsCommand(action.PlainKey(name)) {
			out = out.And(action.Left("the request has " + name + ", which may be a command"))
		}
	})
	if err != nil {
		return action.Refused(err.Error(), "")
	}
	return out
}

// searched leaves to a person a search above files that the policy closes: the agent's own is not confined. One that
// names no place may be of all files.
func searched(j *action.Judge, paths []string) action.Verdict {
	if len(paths) == 0 {
		paths = []string{j.Files.Dir}
	}
	for _, p := range paths {
		if closed := j.Files.Closed(p); closed != nil {
			return action.Left(fmt.Sprintf("the search may read files that the policy closes, such as %s: %s", closed.Subject(), closed.Source().Pos))
		}
	}
	return action.Verdict{}
}

// further is a member of a tool's input that may be another command, more words, or the variables of
// the command; empty for none. Its effect in agents is not known.
func further(input strictjson.Value) string {
	known := []string{
		"command", "cwd", "description", "timeout", "run_in_background", "is_background",
		"call_id", "turn_id", "approval_id", "reason", "parsed_cmd", "available_decisions", "proposed_execpolicy_amendment",
	}
	var found string
	input.ForEach(func(name, value strictjson.Value) bool {
		if !slices.Contains(known, name.Str) && (value.IsObject() || value.IsArray() || value.Type == strictjson.String) {
			found = name.Str
		}
		return found == ""
	})
	return found
}

// commandOf reads the command of a tool's input: a line, or a list of words.
func commandOf(input strictjson.Value) (action.Command, bool) {
	members, err := jsonrpc.Members(input, "command", "cwd")
	command := members["command"]
	c := action.Command{Dir: members["cwd"].Str}
	switch {
	case err != nil && input.IsObject():
		return c, true // a command that is read in two ways is none that is known
	case command.Type == strictjson.String:
		c.Line = command.Str
		return c, true
	case command.IsArray():
		for _, word := range command.Array() {
			if word.Type != strictjson.String {
				return action.Command{Dir: c.Dir}, true
			}
			c.Words = append(c.Words, word.Str)
		}
		return c, true
	default:
		return c, false
	}
}

// The kinds of options that answer for once.
const (
	allowOnce  = "allow_once"
	rejectOnce = "reject_once"
)

// choose returns the option of a kind, empty if there is none that means this kind alone.
func choose(options strictjson.Value, kind string) string {
	id := ""
	for _, o := range options.Array() {
		if o.Get("kind").Str == kind && id == "" {
			id = o.Get("optionId").Str
		}
	}
	for _, o := range options.Array() {
		if o.Get("optionId").Str == id && o.Get("kind").Str != kind {
			return ""
		}
	}
	return id
}

// outcome is the answer to a request for permission.
type outcome struct {
	Outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	} `json:"outcome"`
}

// chosen is the answer that selects an option, or cancels where there is none.
func chosen(option string) outcome {
	var o outcome
	o.Outcome.Outcome, o.Outcome.Option = "selected", option
	if option == "" {
		o.Outcome.Outcome = "cancelled"
	}
	return o
}
