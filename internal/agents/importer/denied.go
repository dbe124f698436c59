package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
)

// longer are words that begin as a denied text does: after the words of a key, an option or a program whose name goes
// on. A text that denies covers them, and a rule about whole words does not.
var longer = map[string][]string{
	"":          strings.Fields("mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.ntfs pip3 python3 rmdir npx"),
	"git push":  strings.Fields("--force --force-with-lease --force-if-includes --delete --mirror"),
	"rm":        strings.Fields("-rf -rfv -fr -frv --recursive --force"),
	"git clean": strings.Fields("-fd -fdx -fx -ffd -ffdx --force"),
	"git reset": strings.Fields("--hard"),
}

// within are beginnings in whole words of commands that a pattern certainly matches, none where it has no such part.
// A text before two stars is the beginning of an expression that matches less.
func (p Pattern) within() [][]string {
	text, ends := strings.CutSuffix(p.Glob, "*")
	text = strings.TrimPrefix(text, "*")
	own := Words(text)
	if !ends || own == nil || strings.HasPrefix(own[0], "-") {
		return nil
	}
	out := [][]string{own}
	before, last := own[:len(own)-1], own[len(own)-1]
	for _, w := range longer[strings.Join(before, " ")] {
		if w != last && strings.HasPrefix(w, last) {
			out = append(out, append(slices.Clone(before), w))
		}
	}
	return out
}

// denyPart writes rules for the part of a denied text that rules can say. See decision D196.
func (t *Translation) denyPart(s LineRule) {
	part := s.within()
	if len(part) == 0 {
		if t.Lost = append(t.Lost, s.Entry); t.req.Denies == AskDenies {
			s.Entry.Become(LeftOut, "no rule denies it: rulesets.%s asks about %s", t.Draft.Ruleset, t.askAround(s))
		}
		return
	}
	var said []string
	for _, w := range part {
		t.Draft.Rules = append(t.Draft.Rules, Rule{prefix: w, From: s.Entry.From()})
		said = append(said, strings.Join(w, " "))
	}
	s.Entry.Become(DeniedInPart, "rulesets.%s denies %s, and asks about %s",
		t.Draft.Ruleset, strings.Join(said, ", "), t.askAround(s))
}

// lostDenies is the error about denied commands of which no rule says any part.
func lostDenies(entries []*Entry) error {
	var b strings.Builder
	entries = Without(entries)
	fmt.Fprintf(&b, "%s of denied commands or calls that no rule can say:", plural.Count(len(entries), "pattern"))
	for _, e := range entries {
		fmt.Fprintf(&b, "\n  %s: %s %s", e.Place(), e.Key, e.Text)
	}
	b.WriteString("\n--denies ask leaves these to a person instead; or write each as words that begin the command")
	return errors.New(b.String())
}
