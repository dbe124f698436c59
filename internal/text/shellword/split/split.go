// Package split splits command lines into words by the quoting rules of the POSIX shell. It
// expands nothing.
package split

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// placeholder is {{ … }} in a command, which may contain blanks and quotes of its own and stays
// one piece.
var placeholder = expression.Once{Text: `\{\{.*?\}\}`}

// Words splits a command line into words by the quoting rules of the shell. Constructs that
// need a shell, such as pipes and expansions, are an error: without a shell they would have no
// effect.
func Words(line string) ([]string, error) {
	var held []string
	masked := placeholder.Get().ReplaceAllStringFunc(line, func(p string) string {
		held = append(held, p)
		return fmt.Sprintf("\uE000%d\uE001", len(held)-1)
	})
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(masked), "")
	if err != nil {
		return nil, fmt.Errorf("found broken shell quoting: %s", plainSyntax(err))
	}
	if len(file.Stmts) == 0 {
		return nil, fmt.Errorf("found no command")
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	s := file.Stmts[0]
	if !ok || len(file.Stmts) > 1 || len(s.Redirs) > 0 || s.Negated || s.Background || len(call.Assigns) > 0 {
		return nil, fmt.Errorf("found shell syntax, expected words")
	}
	words := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		text, err := literal(w.Parts)
		if err != nil {
			return nil, err
		}
		for i, p := range held {
			text = strings.ReplaceAll(text, fmt.Sprintf("\uE000%d\uE001", i), p)
		}
		words = append(words, text)
	}
	return words, nil
}

// literal joins the parts of a word that stand for themselves.
func literal(parts []syntax.WordPart) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", fmt.Errorf("found a shell expansion, which nothing expands")
				}
				b.WriteString(unescapeQuoted(lit.Value))
			}
		default:
			return "", fmt.Errorf("found a shell expansion, which nothing expands")
		}
	}
	return b.String(), nil
}

// unescape drops the backslash in front of every character outside of quotes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeQuoted drops the backslash where it has a meaning in double quotes
// (POSIX shell, 2.2.3).
func unescapeQuoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func plainSyntax(err error) string {
	if pe, ok := err.(syntax.ParseError); ok {
		return pe.Text
	}
	return err.Error()
}
