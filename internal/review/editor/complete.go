package editor

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/ir"
)

// typing is what somebody types at the end of a text that need not be TOML.
type typing struct {
	// keys lead to the place, from the root on; the last part is not among them where that is typed.
	keys []string
	// from is where the word begins that is typed.
	from int
	// header is set within a header, value behind "=" or within a list, quoted within a string.
	header, value, quoted bool
}

// frame is an open bracket.
type frame struct {
	bracket byte
	keys    int // before it
}

// typingAt reads a text up to an offset: from the header above on, line by line, as far as brackets are closed.
func typingAt(data []byte, at int) typing {
	start, base := 0, []string(nil)
	for _, item := range source.Outline(data) {
		if item.Header && item.End <= at {
			start, base = item.End, texts(item.Keys)
		}
	}
	t := typing{keys: slices.Clone(base), from: at}
	var frames []frame
	var quote byte
	blank := true // nothing but blanks on this line so far
	word := func(end int) {
		if w := strings.Trim(string(data[t.from:end]), " \t\"'"); w != "" {
			t.keys = append(t.keys, w)
		}
	}
	reset := func(i int) { // a new key or element
		n := len(base)
		t.value = false
		if len(frames) > 0 {
			n = frames[len(frames)-1].keys
			t.value = frames[len(frames)-1].bracket == '['
		}
		t.keys, t.from, t.header = t.keys[:n], i, false
	}
	reset(start)
	for i := start; i < at; i++ {
		c := data[i]
		if quote != 0 {
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote || c == '\n' {
				quote = 0
			}
			continue
		}
		switch c {
		case '"', '\'':
			quote, t.from = c, i
		case '#':
			for i < at && data[i] != '\n' {
				i++
			}
			if i < at {
				i--
			} else {
				return typing{from: -1}
			}
			continue
		case '\n':
			if blank = true; len(frames) == 0 {
				reset(i + 1)
			} else {
				t.from = i + 1
			}
			continue
		case '[':
			if blank && len(frames) == 0 {
				t.header, t.keys = true, nil
			} else if !t.header {
				frames = append(frames, frame{c, len(t.keys)})
				t.value = true
			}
			t.from = i + 1
		case '{':
			frames = append(frames, frame{c, len(t.keys)})
			t.value, t.from = false, i+1
		case ']', '}':
			if len(frames) > 0 {
				frames = frames[:len(frames)-1]
			}
			t.from = i + 1
		case ',':
			reset(i + 1)
		case '.':
			if !t.value {
				word(i)
				t.from = i + 1
			}
		case '=':
			if !t.value {
				word(i)
				t.value, t.from = true, i+1
			}
		case ' ', '\t', '\r':
			if strings.TrimSpace(string(data[t.from:i])) == "" {
				t.from = i + 1
			}
			continue
		}
		blank = false
	}
	t.quoted = quote != 0
	return t
}

// complete proposes what may stand at an offset.
func (s *server) complete(d *doc, at int) []completion {
	t := typingAt(d.text.data, at)
	out := []completion{}
	if t.from < 0 || t.from > at {
		return out
	}
	end := at
	for end < len(d.text.data) && wordByte(d.text.data[end]) {
		end++
	}
	if t.quoted && end < len(d.text.data) && d.text.data[end] == d.text.data[t.from] {
		end++
	}
	typed := strings.ToLower(strings.Trim(string(d.text.data[t.from:at]), "\"' \t"))
	add := func(c completion, text string) {
		if strings.HasPrefix(strings.ToLower(strings.Trim(text, `"`)), typed) {
			c.Label, c.Edit = strings.Trim(text, `"`), &textEdit{d.text.span(t.from, end), text}
			out = append(out, c)
		}
	}
	if t.value {
		s.values(d, t, add)
		return out
	}
	at1 := s.schema.at(t.keys...)
	for _, k := range at1.keys() {
		of := at1.element().Properties[k]
		add(completion{Kind: kindKey, Doc: of.Doc}, k)
	}
	if len(t.keys) == 1 && (t.keys[0] == "tools" || t.keys[0] == ir.ServersTable) ||
		slices.Equal(t.keys, []string{"conversation", "tools"}) {
		for _, name := range s.toolNames(d) {
			add(completion{Kind: kindName, Detail: "tool"}, tomltext.Key(name))
		}
	}
	return out
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// values proposes values: those that the schema lists, presets, tools and verbs of questions.
func (s *server) values(d *doc, t typing, add func(completion, string)) {
	of := s.schema.at(t.keys...)
	for _, v := range of.values() {
		add(completion{Kind: kindValue, Doc: of.Doc}, v)
	}
	if len(t.keys) == 0 {
		return
	}
	switch last := t.keys[len(t.keys)-1]; {
	case last == "extends":
		for _, name := range presets.Names() {
			p, _ := presets.Find(name)
			if p != nil {
				add(completion{Kind: kindName, Doc: p.Purpose}, tomltext.String(source.Preset+name))
			}
		}
	case last == "only_after":
		for _, name := range s.toolNames(d) {
			add(completion{Kind: kindName, Detail: "tool"}, tomltext.String(name))
		}
	case slices.Contains(t.keys, "tests") && (last == "allow" || last == "deny"):
		for _, v := range resolve.Verbs() {
			verb, _, _ := strings.Cut(v, " ")
			add(completion{Kind: kindValue, Detail: v}, tomltext.String(verb+" "))
		}
	case last == "source":
		add(completion{Kind: kindValue, Doc: of.doc()}, `"local"`)
		add(completion{Kind: kindValue, Doc: of.doc()}, `"builtin"`)
		add(completion{Kind: kindValue, Doc: of.doc()}, `"mcp"`)
	}
}

// toolNames are the tools that any layer named when they last compiled: while somebody types they rarely do.
func (s *server) toolNames(d *doc) (out []string) {
	for _, r := range s.readings(d) {
		out = append(out, r.named...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
