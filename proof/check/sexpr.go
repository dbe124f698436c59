package check

import (
	"fmt"
	"strings"
)

// A form is an expression of a profile: a word, a string, or a list of expressions.
type form struct {
	word string
	text bool
	list []form
}

// head is the word that a list begins with.
func (f form) head() string {
	if len(f.list) > 0 && !f.list[0].text {
		return f.list[0].word
	}
	return ""
}

// without leaves out the lists that begin with a word.
func (f form) without(word string) form {
	var out []form
	for _, x := range f.list {
		if x.head() != word {
			out = append(out, x.without(word))
		}
	}
	f.list = out
	return f
}

// told reports whether all modifiers are messages of denials.
func (f form) told() bool {
	for _, x := range f.list {
		if !x.told() || x.head() == "with" && (f.head() != "deny" || len(x.list) != 3 || x.list[1].word != "message" ||
			!x.list[2].text) {
			return false
		}
	}
	return true
}

func (f form) String() string {
	switch {
	case f.text:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(f.word) + `"`
	case f.word != "":
		return f.word
	}
	var parts []string
	for _, x := range f.list {
		parts = append(parts, x.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

// readForms reads the expressions of a profile and its comments. Strings know a quoted backslash and a quoted quote,
// and after a number sign no quoting at all; any other quoting means something else to the system than to others.
func readForms(text string) (forms []form, comments []string, err error) {
	stack := []form{{}}
	put := func(f form) {
		top := &stack[len(stack)-1]
		top.list = append(top.list, f)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\n':
		case c == ';':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			comments = append(comments, text[i+1:i+end])
			i += end
		case c == '(':
			stack = append(stack, form{})
		case c == ')':
			if len(stack) < 2 {
				return nil, nil, fmt.Errorf("a parenthesis closes nothing")
			}
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if len(done.list) == 0 {
				return nil, nil, fmt.Errorf("a list is empty")
			}
			put(done)
		case c == '"' || c == '#' && strings.HasPrefix(text[i:], `#"`):
			raw, s := c == '#', ""
			if raw {
				i++
			}
			for i++; ; i++ {
				if i >= len(text) || text[i] < 0x20 || text[i] == 0x7f {
					return nil, nil, fmt.Errorf("a string does not end, or has a control character")
				}
				if text[i] == '"' {
					break
				}
				if text[i] == '\\' && !raw {
					if i++; i >= len(text) || text[i] != '\\' && text[i] != '"' {
						return nil, nil, fmt.Errorf("a string has a quoted character that the system reads otherwise")
					}
				}
				s += text[i : i+1]
			}
			put(form{word: s, text: true})
		case c == '\'':
			end := i + 1 + strings.IndexAny(text[i+1:]+")", " \n()")
			put(form{list: []form{{word: "quote"}, {word: text[i+1 : end]}}})
			i = end - 1
		case c > 0x20 && c < 0x7f:
			end := i + strings.IndexAny(text[i:]+")", " \n();\"")
			put(form{word: text[i:end]})
			i = end - 1
		default:
			return nil, nil, fmt.Errorf("a character outside of ASCII or a control character outside of strings")
		}
	}
	if len(stack) != 1 {
		return nil, nil, fmt.Errorf("a parenthesis is not closed")
	}
	for _, f := range stack[0].list {
		if len(f.list) == 0 {
			return nil, nil, fmt.Errorf("%s stands by itself", clip(f.String()))
		}
	}
	return stack[0].list, comments, nil
}

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}
