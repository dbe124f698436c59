package action

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ruleset"
	"github.com/accessc/accessc/ruleset/shell"
)

// foreign are the flags by which accessc gets another policy or less of one, or writes one.
var foreign = []string{
	"--config", "--set", "--accept", "--artifact", "--untrusted", "--command", "--dir", "--shared", "--session", "--preset", "--from", "--apply", "--until-green",
}

// asking are the commands of accessc that neither write consent down nor start programs by
// another policy than the one of the directory.
var asking = []string{
	"build", "can", "check", "completion", "decide", "denials", "diff", "doctor", "exec", "explain", "help", "man", "preset", "schema", "test", "verify", "version",
}

const unknownStart = "the command starts accessc with variables or words that are not known"

// Own is the reason to refuse a command that starts accessc otherwise than the policy has it; empty for any
// other command.
func (j *Judge) Own(c Command) string {
	line := c.Text()
	return j.own(c, line, shell.Analyze(line, j.dialect(c), j.dir(c.Dir)))
}

// own is Own for a command that is taken apart. Programs are looked for among the words of others, too: a
// wrapper need not be known to be one.
// See decision D146.
func (j *Judge) own(c Command, line string, tree *shell.Part) string {
	out, seen := "", true
	tree.Each(func(p *shell.Part) {
		always := slices.ContainsFunc(p.Doubts, func(d shell.Doubt) bool { return d.Word == shell.Always })
		seen = seen && !always && p.Kind != shell.Opaque
		for i, w := range p.Words {
			switch {
			case out != "":
			case w.Form == shell.Literal && strings.ContainsAny(w.Text, " \t\n;&|"):
				out = inText(w.Text)
			case !isOwn(w.Text):
			case i == 0:
				out = j.start(c, p, always)
			case slices.ContainsFunc(p.Words[:i], func(w shell.Word) bool { return strings.Contains(w.Text, "=") && !w.MayBeOption() }):
				out = unknownStart
			default:
				out = flags(p.Words[i+1:])
			}
		}
	})
	if out == "" && !seen {
		out = inText(line)
	}
	return out
}

// isOwn reports whether a name is that of this program.
func isOwn(name string) bool {
	return ruleset.Alike(filepath.ToSlash(name), "accessc")
}

// start judges a start of accessc that is seen as one.
func (j *Judge) start(c Command, p *shell.Part, doubtful bool) string {
	words := p.Words[1:]
	if at := slices.IndexFunc(words, func(w shell.Word) bool { return !w.MayBeOption() }); at >= 0 && !slices.Contains(asking, words[at].Text) {
		return "the command has accessc do more than ask and start tools: " + visible.Text(words[at].Text)
	}
	if doubtful || len(c.Env) > 0 {
		return unknownStart
	}
	if len(p.Dirs) != 1 || p.Dirs[0] != j.Files.Dir {
		return "the command starts accessc in another directory, whose configuration may be another"
	}
	return flags(words)
}

// flags looks for a foreign flag among the words behind accessc, up to "--".
func flags(words []shell.Word) string {
	for _, w := range words {
		switch {
		case w.Is("--"):
			return ""
		case w.MayBeOption() && w.Form != shell.Literal:
			return unknownStart
		case isForeign(w.Text):
			return "the command starts accessc with a configuration or gaps of its own: " + visible.Text(w.Text)
		}
	}
	return ""
}

// isForeign reports whether a word is a foreign flag; -C may be among other letters.
func isForeign(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains(foreign, flag) || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "C")
}

// inText looks for accessc and a foreign flag behind it in a text that is not taken apart, once with
// quotes as ends of words and once without them.
func inText(text string) string {
	for _, quotes := range []string{" ", ""} {
		read := strings.NewReplacer("'", quotes, `"`, quotes, `\`, quotes, ",", " ").Replace(text)
		own := false
		for _, w := range strings.FieldsFunc(read, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()`$<>{}[]=", r) }) {
			if own && isForeign(w) {
				return "the command starts accessc with a configuration or gaps of its own: " + visible.Text(w)
			}
			own = own || isOwn(w)
		}
	}
	return ""
}
