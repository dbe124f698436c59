package explain

import "strings"

// Who is a tool's answer to a question that is put to all of them.
type Who struct {
	Tool   string
	Answer *Answer
}

// WhoText lists every tool's answer with its reason, the permitted tools first.
func WhoText(all []Who, s Style) string {
	var rows [][]string
	for _, allowed := range []bool{true, false} {
		for _, w := range all {
			if w.Answer.Verdict.Allowed() == allowed {
				rows = append(rows, []string{plainWord(w.Answer.Verdict), w.Tool, w.Answer.because()})
			}
		}
	}
	var b strings.Builder
	wrapped, _ := s.fit(rows, 0)
	for _, row := range table(wrapped) {
		switch {
		case strings.HasPrefix(row, "yes"):
			row = s.paint(green, "yes") + row[3:]
		case strings.HasPrefix(row, "no"):
			row = s.paint(red, "no") + row[2:]
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// WhoDocument is the JSON form of answers to a question.
type WhoDocument struct {
	Version int          `json:"format_version"`
	Answers []*AnswerDoc `json:"answers"`
}

// WhoJSON returns the machine-readable form.
func WhoJSON(all []Who, s Style) WhoDocument {
	doc := WhoDocument{Version: FormatVersion, Answers: []*AnswerDoc{}}
	for _, w := range all {
		doc.Answers = append(doc.Answers, w.Answer.JSON(s))
	}
	return doc
}
