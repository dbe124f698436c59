package gitconfig_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/internal/gitconfig"
	"github.com/accessc/accessc/test/irtest"
)

const before = "[core]\n\tbare = false\n\tpager = less # mine\n[remote \"origin\"]\n\turl = ../o\n[branch \"main\"]\n\tremote = origin\n" +
	"\tmergeoptions = --no-ff\n[alias]\n\tx = \"!f() { a; }; f\"\n"

// plain is a configuration without the comment behind a value, which makes a text unusual.
var plain = strings.Replace(before, " # mine", "", 1)

// TestAmends: a change that git makes for a branch is one, and no other is.
func TestAmends(t *testing.T) {
	branch := func(lines string) string { return plain + "[branch \"x\"]\n" + lines }
	for _, good := range []string{
		plain, branch(""), branch("\tremote = origin\n\tmerge = refs/heads/main\n"), branch("\tremote = .\n\tmerge = refs/heads/main\n"),
		branch("\trebase = true\n"), branch("\tdescription = a \\\"b\\\"\\nc\n"), branch("\tvscode-merge-base = origin/main\n"),
		strings.Replace(plain, "[branch \"main\"]\n\tremote = origin\n\tmergeoptions = --no-ff\n", "", 1),
		strings.Replace(plain, "\tmergeoptions = --no-ff\n", "\tmerge = refs/heads/main\n", 1),
		plain + "[branch \"a \\\"b\\\" \\\\c\"]\n\tremote = origin\n",
	} {
		if err := gitconfig.Amends([]byte(plain), []byte(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", before, plain + "[core]\n\tfsmonitor = x\n", plain + "\ty = z\n", "[core]\n" + plain, plain[:len(plain)-1],
		branch("\tremote = https://x/y\n"), branch("\tremote = ext::sh\n"), branch("\tremote = other\n"), branch("\tremote\n"),
		branch("\tmerge = main\n"), branch("\tmerge = refs/heads/--x y\n"), branch("\tmergeoptions = --no-ff\n"), branch("\tpushremote = origin\n"),
		branch("\trebase = x\n"), branch("\tremote = origin \\\n\tx\n"), branch("\tdescription = a\\\n"), branch("\tdescription = \"a\n"),
		branch("\tdescription = a\n[core]\n\tfsmonitor = x\n"), branch("\tdescription = a\r[core]\n"), branch("\tdescription = a ; b\n"),
		plain + "[branch \"x\"] remote = origin\n", plain + "[branch \"x\"] [core]\n", plain + "[branch.x]\n\tremote = origin\n", plain + "[branch]\n\tx = y\n",
		plain + "[branch \"x\" \"y\"]\n\tremote = origin\n", plain + "[Branch \"x\"]\n\tsshcommand = x\n", plain + "[branchx \"x\"]\n\tremote = origin\n",
		strings.Replace(plain, "\tbare = false\n", "[branch \"x\"]\n\tbare = false\n", 1), strings.Replace(plain, "[alias]\n", "[branch \"x\"]\n", 1),
		strings.Replace(plain, "[alias]\n", "", 1), plain + "[branch \"x\"]\n\tremote = origin\x00\n", "\ufeff" + plain,
	} {
		if gitconfig.Amends([]byte(plain), []byte(bad)) == nil {
			t.Errorf("%q was permitted", bad)
		}
	}
	if gitconfig.Amends([]byte(before), []byte(before)) == nil {
		t.Error("an unusual configuration was judged")
	}
}

// TestAmendsNothingElse: whatever bytes are put anywhere, all lines of other sections stay as git reads them.
func TestAmendsNothingElse(t *testing.T) {
	parts := []string{"[branch \"x\"]\n", "[core]\n", "[", "]", "\"", "\\", "\n", "\t", " ", "=", "#", ";", "remote", "fsmonitor", "x", ".", "branch", "\r", "origin"}
	irtest.Check(t, 50_000, 1, func(rt *rapid.T) {
		at := rapid.IntRange(0, len(plain)).Draw(rt, "at")
		drop := rapid.IntRange(0, min(20, len(plain)-at)).Draw(rt, "drop")
		put := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(rt, "put"), "")
		after := plain[:at] + put + plain[at+drop:]
		if gitconfig.Amends([]byte(plain), []byte(after)) != nil {
			return
		}
		if got, want := others(after), others(plain); got != want {
			rt.Fatalf("%q:\n%s\nwant\n%s", after, got, want)
		}
	})
}

// others are the variables of all sections but those of branches, as git reads them (config.c): character by character.
func others(text string) string {
	var out strings.Builder
	section := ""
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '#' || c == ';':
			i += strings.IndexByte(text[i:]+"\n", '\n')
		case c == '[':
			start, quoted := i, false
			for i++; i < len(text) && (quoted || text[i] != ']'); i++ {
				switch {
				case text[i] == '\\' && quoted:
					i++
				case text[i] == '"':
					quoted = !quoted
				}
			}
			i++
			section = strings.ToLower(text[start:min(i, len(text))])
		default:
			start, quoted := i, false
			for ; i < len(text) && text[i] != '\n'; i++ {
				switch {
				case text[i] == '\\':
					i++
				case text[i] == '"':
					quoted = !quoted
				}
			}
			if !strings.HasPrefix(section, "[branch \"") && !strings.HasPrefix(section, "[branch.") {
				out.WriteString(section + text[start:min(i, len(text))] + "\n")
			}
		}
	}
	return out.String()
}
