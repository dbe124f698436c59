package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Format is an output format of findings.
type Format string

// The formats.
const (
	FormatText   Format = "text"
	FormatJSON   Format = "json"
	FormatSARIF  Format = "sarif"
	FormatGitHub Format = "github"
)

// FormatVersion is the version of the JSON form.
const FormatVersion = 1

type jsonReport struct {
	Version     int        `json:"format_version"`
	Diagnostics []jsonDiag `json:"diagnostics"`
	Errors      int        `json:"errors"`
	Warnings    int        `json:"warnings"`
}

type jsonDiag struct {
	Code     Code          `json:"code"`
	Severity string        `json:"severity"`
	Message  string        `json:"message"`
	Path     string        `json:"path,omitempty"`
	File     string        `json:"file,omitempty"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Span     int           `json:"span,omitempty"`
	Source   string        `json:"source,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
	Hint     string        `json:"hint,omitempty"`
}

type jsonRelated struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Note   string `json:"note"`
}

// maxSource bounds the source lines in JSON, in bytes: a longer line is left out.
const maxSource = 4096

// WriteJSON renders findings as one JSON object.
func WriteJSON(w io.Writer, l List, lines Lines) error {
	rep := jsonReport{FormatVersion, []jsonDiag{}, l.Count(Error), l.Count(Warning)}
	q := &quote{lines: lines}
	for _, d := range l {
		j := jsonDiag{
			Code: d.Code, Severity: d.Severity.String(), Message: d.Message, Path: d.Path,
			File: d.At.File, Line: d.At.Line, Column: d.At.Col, Span: d.Span, Detail: d.Label, Hint: d.Hint,
		}
		if text, ok := q.find(d.At); ok {
			start, end := q.marked(d.At.Col, d.Span)
			j.Span = utf8.RuneCountInString(text[start:end])
			if len(text) <= maxSource {
				j.Source = text
			}
		}
		for _, r := range d.Related {
			j.Related = append(j.Related, jsonRelated{r.At.File, r.At.Line, r.At.Col, r.Note})
		}
		rep.Diagnostics = append(rep.Diagnostics, j)
	}
	return encode(w, rep)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Places says where a file of findings lies for the machines that read them: its path below
// the top of the repository, or false if it is not a file there. Such a place is said in
// the message.
type Places func(file string) (string, bool)

// of is Places for a finding that may be about no file.
func (p Places) of(file string) (string, bool) {
	if file == "" {
		return "", false
	}
	return p(file)
}

// WriteGitHub renders findings as workflow commands
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
func WriteGitHub(w io.Writer, l List, places Places) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	prop := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, d := range l {
		var at strings.Builder
		if file, ok := places.of(d.At.File); ok {
			fmt.Fprintf(&at, "file=%s,", prop.Replace(file))
			if d.At.Line > 0 {
				fmt.Fprintf(&at, "line=%d,col=%d,", d.At.Line, max(d.At.Col, 1))
			}
		}
		level := d.Severity.String()
		if d.Severity == Note {
			level = "notice"
		}
		_, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", level, at.String(), prop.Replace(string(d.Code)),
			data.Replace(d.sentence(places)))
		if err != nil {
			return err
		}
	}
	return nil
}

// sentence puts a finding into one paragraph, for formats that have only one text.
func (d Diagnostic) sentence(places Places) string {
	s := d.Message
	if d.Label != "" {
		s += ": " + d.Label
	}
	if _, ok := places.of(d.At.File); !ok && d.At.File != "" {
		s += " (" + d.At.String() + ")"
	}
	for _, r := range d.Related {
		if at := r.At.String(); at != "" {
			s += " (" + at + ": " + r.Note + ")"
		} else {
			s += " (" + r.Note + ")"
		}
	}
	if d.Hint != "" {
		s += "\nhint: " + d.Hint
	}
	return s
}

// The SARIF types are the part of the 2.1.0 schema that a list of findings needs
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Columns string        `json:"columnKind"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      Code      `json:"id"`
	Short   sarifText `json:"shortDescription"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    Code            `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifText    `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	Line   int `json:"startLine"`
	Column int `json:"startColumn,omitempty"`
}

// Rule is a kind of result in a SARIF log.
type Rule struct {
	ID       Code     // the code of its findings
	Title    string   // in a few words
	Severity Severity // as printed
}

// WriteSARIF renders findings as a SARIF 2.1.0 log.
func WriteSARIF(w io.Writer, l List, places Places) error {
	var rules []Rule
	for _, c := range Codes() {
		rules = append(rules, Rule{c, c.Title(), c.Severity()})
	}
	return WriteResults(w, rules, l, places)
}

// WriteResults renders results of other rules than the findings' as a SARIF 2.1.0 log, with the rules that occur in it.
func WriteResults(w io.Writer, rules []Rule, l List, places Places) error {
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "accessc", InformationURI: "https://github.com/accessc/accessc"}
	for _, known := range rules {
		if !slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Code == known.ID }) {
			continue
		}
		r := sarifRule{ID: known.ID, Short: sarifText{known.Title}}
		r.Default.Level = known.Severity.String()
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, r)
	}
	for _, d := range l {
		res := sarifResult{RuleID: d.Code, Level: d.Severity.String(), Message: sarifText{d.sentence(places)}}
		if file, ok := places.of(d.At.File); ok {
			res.Locations = []sarifLocation{sarifAt(file, d.At.Line, d.At.Col)}
		}
		for _, r := range d.Related {
			file, ok := places.of(r.At.File)
			if !ok {
				continue // the message names it
			}
			loc := sarifAt(file, r.At.Line, r.At.Col)
			loc.Message = &sarifText{r.Note}
			res.Related = append(res.Related, loc)
		}
		run.Results = append(run.Results, res)
	}
	return encode(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifAt(file string, line, col int) sarifLocation {
	var l sarifLocation
	uri := url.URL{Path: file}
	l.Physical.Artifact.URI, l.Physical.Artifact.Base = uri.String(), "%SRCROOT%"
	if line > 0 {
		l.Physical.Region = &sarifRegion{line, col}
	}
	return l
}
