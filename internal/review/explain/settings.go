package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// settingsClass is the class of results about settings. They are neither wider nor narrower.
const settingsClass = "tool.settings.changed"

// settingsHeadline counts the tools that both sides have, with other settings.
func settingsHeadline(cs []Change) string {
	n := 0
	for _, c := range cs {
		if c.otherSettings() {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 tool has other settings"
	default:
		return "; " + plural.Count(n, "tool") + " have other settings"
	}
}

func (c Change) otherSettings() bool { return c.Status == "" && len(c.Settings) > 0 }

// settingsText is the rows below the differences of a tool.
func settingsText(c Change, s Style) string {
	if len(c.Settings) == 0 {
		return ""
	}
	var rows [][]string
	for _, v := range c.Settings {
		rows = append(rows, []string{"~", subject(v), became(v), writtenAt(v)})
	}
	out := ""
	if c.Status == "" {
		out = "  also changed\n"
	}
	wrapped, _ := s.fit(rows, 2)
	for _, row := range table(wrapped) {
		out += "  " + row + "\n"
	}
	return out
}

// settingsMarkdown is a table of the settings of all tools. It is not folded: what runs is the first question of a
// reviewer.
func settingsMarkdown(cs []Change) string {
	var rows []string
	for _, c := range cs {
		for _, v := range c.Settings {
			cells := []string{code(c.title()), escape(subject(v)), code(became(v)), escape(writtenAt(v))}
			rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return "\n**Also changed**, not what is permitted\n\n| tool | setting | change | because |\n|---|---|---|---|\n" +
		strings.Join(rows, "\n") + "\n"
}

// annotation is a setting as a result, at its line of the new side.
func (c Change) annotation(v compare.Setting, severity diag.Severity) diag.Diagnostic {
	at := v.At.Pos
	if at.File == "" && c.New != nil {
		at = c.New.Source.Origin.Pos
	}
	if c.Status != "" {
		severity = diag.Note // the new tool is a result of its own
	}
	text := clean(c.title() + " " + subject(v) + " " + became(v))
	return diag.Diagnostic{Code: settingsClass, Severity: severity, Message: text, At: at}
}

// lists are the settings of which values come and go by themselves; the others have one value.
var lists = []string{"sensitive_paths", "tests"}

// subject is a setting as the word that its value follows.
func subject(v compare.Setting) string {
	if v.Name == "command" {
		return "runs"
	}
	return v.Name
}

// became says what a setting is now and was.
func became(v compare.Setting) string {
	was, is := brief(v.Old), brief(v.New)
	switch list := slices.Contains(lists, v.Name); {
	case is == "":
		return "no longer " + was
	case was == "" && list:
		return "with " + is
	case was == "":
		return "now " + is
	case list:
		return "with " + is + ", no longer " + was
	default:
		return "now " + is + ", was " + was
	}
}

// brief lists the first values and counts the rest. JSON has them all.
func brief(values []string) string {
	out := strings.Join(values[:min(len(values), maxExcept)], ", ")
	if n := len(values) - maxExcept; n > 0 {
		out += " and " + strconv.Itoa(n) + " more"
	}
	return out
}

// writtenAt names the lines of both sides.
func writtenAt(v compare.Setting) string {
	return because(compare.Difference{Old: compare.Side{At: v.Was}, New: compare.Side{At: v.At}})
}

// SettingDoc is a setting in JSON.
type SettingDoc struct {
	Setting string   `json:"setting"`
	Old     []string `json:"old,omitempty"`
	New     []string `json:"new,omitempty"`
	// WasAt and At are the places of the first of them.
	WasAt string `json:"was_at,omitempty"`
	At    string `json:"at,omitempty"`
}

func settingDocs(vs []compare.Setting) []SettingDoc {
	var out []SettingDoc
	for _, v := range vs {
		d := SettingDoc{Setting: v.Name, Old: v.Old, New: v.New}
		if v.Was != (ir.Origin{}) {
			d.WasAt = v.Was.String()
		}
		if v.At != (ir.Origin{}) {
			d.At = v.At.String()
		}
		out = append(out, d)
	}
	return out
}
