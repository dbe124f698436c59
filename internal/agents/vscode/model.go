package vscode

import (
	"regexp"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/process/once/expression"
)

// Model are the entries of chat.tools.terminal.autoApprove (the setting's description and code.visualstudio.com/docs):
// a command that an entry with false matches is asked about, one that an entry with true matches is not, and every
// other one is.
type Model struct {
	Approve, Ask []string
	// Own has the entries count that the program has by itself, as of those that it has about a program or its
	// arguments.
	Own bool
	// Replaced are names whose own entry the settings replace.
	Replaced []string
	// Off is true where every command is asked about.
	Off bool
}

// asking are the programs about which the program has entries of its own that ask: about all uses of some, and about
// some uses of others, which count as all here. It looks for sed that writes files in any case.
var asking = []string{
	"chmod", "chown", "curl", "dd", "del", "erase", "eval", "iex", "irm", "iwr", "jq", "kill", "ps", "rd", "ri", "rm",
	"rmdir",
	"sp", "spps", "taskkill", "top", "wget", "xargs",
}

var someTimes = expression.Once{Text: `^(column|date|find|rg|sed|sort|tree)\b|^git(\s+(-C\s+\S+|--no-pager))*\s+(log|show|branch)\b`}

var assigning = expression.Once{Text: `(?i)^[A-Z_][A-Z0-9_]*=`}

var quoted = expression.Once{Text: `(?s)^/(.+)/([dgimsuvy]*)$`}

// matches reports whether an entry matches a command: a regular expression between slashes, or the text that begins it,
// up to the end of a word. One that cannot be evaluated does if doubt is true.
func (Model) matches(entry, line string, doubt bool) bool {
	expression := "^" + regexp.QuoteMeta(entry) + `\b`
	switch m := quoted.Get().FindStringSubmatch(entry); {
	case m != nil && strings.Trim(m[2], "gisu") != "":
		return doubt
	case m != nil:
		expression = m[1]
		if strings.Contains(m[2], "i") {
			expression = "(?i)" + expression
		}
	case entry == "":
		return false
	case strings.ContainsAny(entry, `/\`):
		expression = `^(?:\.[/\\])?` + strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(entry, `\`, "/")), "/",
			`[/\\]`) + `\b`
	}
	re, err := regexp.Compile(expression)
	return err != nil && doubt || err == nil && re.MatchString(line)
}

// Runs implements Policy.
func (v Model) Runs(line string) bool {
	line = strings.TrimSpace(line)
	some := func(entries []string, doubt bool) bool {
		return slices.ContainsFunc(entries, func(e string) bool { return v.matches(e, line, doubt) })
	}
	own := slices.DeleteFunc(slices.Clone(asking), func(name string) bool { return slices.Contains(v.Replaced, name) })
	switch {
	case v.Off, assigning.Get().MatchString(line), some(v.Ask, true), v.matches("sed", line, true):
		return false
	case v.Own && (some(own, true) || someTimes.Get().MatchString(line)):
		return false
	}
	return some(v.Approve, false)
}

// Stops implements Stopper. That VS Code has a word end at a dash or a dot is nothing that an entry asks for.
func (v Model) Stops(line string) bool {
	line = strings.TrimSpace(line)
	return slices.ContainsFunc(v.Ask, func(e string) bool {
		if !strings.HasPrefix(e, "/") && !strings.HasPrefix(line+" ", e+" ") {
			return false
		}
		return v.matches(e, line, false)
	})
}

// Reads implements Policy: the entries are about commands alone.
func (Model) Reads(string) bool { return true }

// Writes implements Policy.
func (Model) Writes(string) bool { return true }

// Connects implements Policy.
func (Model) Connects(string, uint16) bool { return true }

// Fetches implements Policy.
func (Model) Fetches(string) bool { return false }

// Passes implements Policy.
func (Model) Passes(string) bool { return true }

// Marks implements Policy.
func (v Model) Marks() foreign.Marks {
	var out foreign.Marks
	for _, e := range append(slices.Clone(v.Approve), v.Ask...) {
		m := quoted.Get().FindStringSubmatch(e)
		if m == nil {
			e = strings.TrimSpace(e)
			out.Commands = append(out.Commands, e, e+" *", e+"*", "./"+e)
			continue
		}
		line := ""
		for _, run := range foreign.PlainRun.Get().FindAllString(m[1], -1) {
			line += run
			out.Commands = append(out.Commands, strings.TrimSpace(line), strings.TrimSpace(line)+" *")
		}
	}
	for _, name := range asking {
		out.Commands = append(out.Commands, name+" x")
	}
	out.Commands = append(out.Commands, "git log --output=x", "git -C x log --output x", "git --no-pager branch -D x",
		"find -delete", "sed -i x y", "sort -o x y")
	return out
}
