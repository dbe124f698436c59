package acp

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/gate/judge/action"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ruleset"
)

// Members of a request of the network that change nothing about which host is asked and which file is written: numbers
// and switches, and texts without a name of either.
var (
	fetchSettings = []string{"timeout", "max_length", "start_index", "raw"}
	fetchTexts    = []string{"prompt", "description", "format"}
)

var (
	// addressed is an address in a text.
	addressed = expression.Once{Text: `[A-Za-z][A-Za-z0-9+.-]*:/+[^\s"'<>` + "`" + `]+`}
	// naming is a text that may have the name of a host or of a file.
	naming = expression.Once{Text: `[/\\:@~。．｡]|\S\.\S`}
)

// fetched judges a request of the network. One with other members than the address and harmless ones is left to a
// person, since the agent may ask another host or write a file by them; every address in the request must be permitted.
// See decision D140.
func fetched(j *action.Judge, c call) action.Verdict {
	members, err := jsonrpc.Members(c.input, slices.Concat([]string{"url"}, fetchSettings, fetchTexts)...)
	if err != nil && c.input.IsObject() {
		return action.Refused(err.Error(), "")
	}
	out := j.Operation(ruleset.Fetch, c.paths, members["url"].Str).And(addresses(j, c.title))
	if len(c.paths) > 0 {
		out = out.And(action.Left("the request names a file beside its address"))
	}
	for name, value := range members {
		if name == "url" {
			continue
		}
		if !harmless(name, value) {
			out = out.And(action.Left("the request has " + name + " beside its address"))
		}
		err := jsonrpc.Strings(value, name, func(name, text string) {
			out = out.And(addresses(j, text))
			if !slices.Contains(fetchTexts, name) {
				out = out.And(action.Of(j.Files.Argument(name, text)))
			}
		})
		if err != nil {
			return action.Refused(err.Error(), "")
		}
	}
	return out
}

// harmless reports whether a member names neither a host nor a file.
func harmless(name string, v strictjson.Value) bool {
	switch v.Type {
	case strictjson.Null:
		return true
	case strictjson.Number, strictjson.True, strictjson.False:
		return slices.Contains(fetchSettings, name)
	case strictjson.String:
		return slices.Contains(fetchTexts, name) && !naming.Get().MatchString(v.Str)
	case strictjson.JSON:
	}
	return false
}

// addresses judges the addresses in a text.
func addresses(j *action.Judge, text string) action.Verdict {
	out := action.Permitted()
	for _, address := range addressed.Get().FindAllString(text, -1) {
		out = out.And(j.Operation(ruleset.Fetch, nil, strings.TrimRight(address, ".,;!?)]}")))
	}
	return out
}
