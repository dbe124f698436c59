package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/shellword"
	"github.com/accessc/accessc/internal/text/shellword/split"
)

// Entry is how an agent starts its hook.
type Entry struct {
	// Program is the absolute path of accessc.
	Program string
	// Args are the flags behind the name of the agent.
	Args []string
}

// judgeOnly is the flag that leaves commands as they are.
const judgeOnly = "--judge-only"

// command is the command of accessc that answers hooks.
const command = "hook"

// words are the words of an entry.
func (a *Agent) words(e Entry) []string {
	return append([]string{e.Program, command, a.Name}, e.Args...)
}

// read takes the words of a hook for an entry of accessc if they are ones that install writes: a program
// of another name, by another path or with other flags is a hook of the user's.
func (a *Agent) read(words []string) (Entry, bool) {
	if len(words) < 3 || words[1] != command || words[2] != a.Name || !filepath.IsAbs(words[0]) {
		return Entry{}, false
	}
	return Entry{words[0], words[3:]}, (named(words[0]) || words[0] == self()) && known(words[3:])
}

// named reports whether a program has the name of this one.
func named(program string) bool {
	base := filepath.Base(filepath.FromSlash(program))
	if runtime.GOOS == "windows" {
		base = strings.TrimSuffix(strings.ToLower(base), ".exe")
	}
	return base == "accessc"
}

// self is the path by which install names this program where it has another name.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Clean(path)
}

// known reports whether flags are those that install writes, each once.
func known(args []string) bool {
	seen := map[string]bool{}
	for i := 0; i < len(args); i++ {
		if seen[args[i]] {
			return false
		}
		seen[args[i]] = true
		switch args[i] {
		case judgeOnly:
		case "--tool", "--ruleset", "--undecided", "--log":
			if i++; i == len(args) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// foreign reports whether words start accessc as a hook, and not as install does.
func (a *Agent) foreign(words []string) bool {
	_, ours := a.read(words)
	return !ours && len(words) > 0 && named(words[0]) && slices.Contains(words, command)
}

// words are the words that a hook starts, none if they are not plain words.
func (h Handler) words() []string {
	text := h.Command
	for _, other := range []string{h.Bash, h.PowerShell} {
		if text == "" {
			text = other
		}
	}
	if h.Args != nil {
		return append([]string{text}, h.Args...)
	}
	if runtime.GOOS == "windows" {
		return quoted(strings.TrimPrefix(text, "& "))
	}
	words, err := split.Words(text)
	if err != nil {
		return nil
	}
	return words
}

// The shells by which agents start hooks on Windows.
type shell uint8

// The shells.
const (
	CommandShell shell = iota
	PowerShell
)

// CommandLine writes words as a command line for the shell of this system.
func CommandLine(words []string, on shell) string {
	if runtime.GOOS != "windows" {
		on := make([]string, len(words))
		for i, w := range words {
			on[i] = shellword.Quote(w)
		}
		return strings.Join(on, " ")
	}
	return windowsLine(words, on)
}

// windowsLine writes words for a shell of Windows. They have no quotes: see checked.
func windowsLine(words []string, on shell) string {
	out := slices.Clone(words)
	for i, w := range words {
		switch {
		case !strings.ContainsFunc(w, special):
		case on == PowerShell:
			out[i] = "'" + w + "'"
		default:
			out[i] = `"` + w + `"`
		}
	}
	if on == PowerShell {
		return "& " + strings.Join(out, " ")
	}
	return strings.Join(out, " ")
}

// special reports whether a character may mean something to a shell of Windows.
func special(r rune) bool {
	return r >= 0x80 || !strings.ContainsRune(`ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./\:`, r)
}

// quoted splits a line of Windows as windowsLine writes it.
func quoted(text string) []string {
	var out []string
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		end, skip := " ", 0
		if text[0] == '"' || text[0] == '\'' {
			end, skip = text[:1], 1
		}
		word, rest, _ := strings.Cut(text[skip:], end)
		out, text = append(out, word), rest
	}
	return out
}

// Check reports a word that no settings can have.
func (e Entry) Check() error {
	for _, w := range append([]string{e.Program}, e.Args...) {
		if strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%q has control characters, which agents read differently", w)
		}
		if runtime.GOOS == "windows" && strings.ContainsAny(w, "\"'%`$") {
			return fmt.Errorf("%q has characters that the shells of Windows expand", w)
		}
	}
	if !filepath.IsAbs(e.Program) {
		return fmt.Errorf("%s is no absolute path", e.Program)
	}
	return nil
}
