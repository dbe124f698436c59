package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/internal/host/config"
	"github.com/accessc/accessc/internal/host/hostfacts"
	"github.com/accessc/accessc/internal/host/prompt"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/propose/allow"
	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// streams are what a command reads and writes.
type streams struct {
	Color string `enum:"auto,always,never" default:"auto" help:"Colour the output: auto, always or never."`

	stdin          io.Reader
	stdout, stderr io.Writer
}

// refused prints why a directory is no workspace, or a configuration does not compile.
func (s *streams) refused(err error) error {
	var no *workspace.Refused
	var wrong *config.Mistakes
	switch {
	case errors.As(err, &wrong):
		err = s.sayText(wrong.Findings, wrong.Files, wrong.Last)
		fmt.Fprint(s.stderr, wrong.Then)
		return err
	case !errors.As(err, &no):
		return err
	}
	if err := s.sayText(diag.List{hostfacts.NotWorkspace(no)}, nil, ""); err == nil {
		return err
	}
	return exit(exitUsage)
}

// dropped are the warnings without which nobody could tell why a rule has no effect.
var dropped = []diag.Code{diag.NotApproved, diag.BrokenLink, diag.Retargeted, diag.BadApprovals}

// sayErrors prints the errors of some tools, and a line for each of their rules that was
// dropped. Other warnings are for who writes the policy: here a model may read them, and
// take them for the tool's own output.
func (s *streams) sayErrors(res *hostfacts.Result, tools ...string) error {
	l := res.Concerning(tools...)
	for _, d := range l {
		if slices.Contains(dropped, d.Code) {
			text := visible.Line(d.Message + ": " + d.Label + "; " + d.Hint)
			line := fmt.Sprintf("accessc: %s: warning[%s]: %s", visible.Name(d.At.String()), d.Code, text)
			fmt.Fprintln(s.stderr, fitted(s.stderr, line))
		}
	}
	return s.sayText(
		slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Severity != diag.Error }),
		res.Files,
		"",
	)
}

// fitted is a text without colours with lines of accessc's own where the terminal would begin further ones: a name with
// enough characters would put the rest of it at the left edge.
func fitted(w io.Writer, text string) string {
	if columns := width(w); columns > 0 {
		return visible.Question(text, columns)
	}
	return text
}

// sayText prints findings as text. last ends the summary of a failed run.
func (s *streams) sayText(l diag.List, lines diag.Lines, last string) error {
	if len(l) == 0 {
		return nil
	}
	text := diag.Text{Lines: lines, Color: s.colors(s.stderr), Width: width(s.stderr)}
	if err := text.Write(s.stderr, l); err != nil {
		return err
	}
	summary := diag.Summary(l)
	if l.Failed() && last != "" {
		summary += "; " + last
	}
	fmt.Fprintf(s.stderr, "\n%s\n", summary)
	if l.Failed() {
		return exit(exitFindings)
	}
	return nil
}

// colors reports whether output to w is to be coloured (https://no-color.org).
func (s *streams) colors(w io.Writer) bool {
	switch {
	case s.Color == "always":
		return true
	case s.Color == "never" || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb":
		return false
	}
	f, ok := file(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// file returns the file behind a stream, if there is one.
func file(w io.Writer) (*os.File, bool) {
	if shown, ok := w.(*visible.Writer); ok {
		w = shown.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}

// writeJSON prints a document for programs.
func (s *streams) writeJSON(doc any) error {
	enc := json.NewEncoder(s.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// style returns the style of text to w. Where there is no Landlock to ask for, columns about
// Linux show the newest version.
func (s *streams) style(w any) explain.Style {
	abi := start.ABI()
	if hostfacts.Platform() != ir.Linux {
		abi = landlock.MaxABI
	}
	out := explain.Style{ABI: min(abi, landlock.MaxABI)}
	if to, ok := w.(interface{ Write([]byte) (int, error) }); ok {
		out.Color = s.colors(to)
		out.Width = width(to)
	}
	return out
}

// width returns the number of columns of the terminal behind w, 0 if it is none.
func width(w io.Writer) int {
	f, ok := file(w)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// notAllowed prints the findings of a configuration that does not compile, before or after an addition.
func (s *streams) notAllowed(err error) error {
	var wrong *allow.ConfigError
	var mistake usageError
	var said exit
	switch {
	case err == nil, errors.As(err, &mistake), errors.As(err, &said):
		return err
	case !errors.As(err, &wrong):
		return fmt.Errorf("%w; nothing was changed", err)
	}
	if wrong.After {
		fmt.Fprintln(s.stderr, "the configuration would not compile afterwards:")
	}
	return s.sayText(wrong.Findings, wrong.Files, "nothing was changed")
}

// agreed asks on the terminal. The error says that nothing was agreed to.
func (s *streams) agreed(text, question string) error {
	t, err := prompt.Open()
	if errors.Is(err, prompt.ErrNone) {
		fmt.Fprint(s.stderr, visible.Lines(text))
		return usagef("%v; --yes agrees, and nothing was changed", err)
	}
	if err != nil {
		return err
	}
	defer t.Close()
	yes, err := t.Confirm(text, question)
	if err == nil && !yes {
		fmt.Fprintln(s.stderr, "nothing was changed")
		return exit(exitFindings)
	}
	return err
}

// mistaken prints the errors of a configuration, and why they end the command.
func (s *streams) mistaken(res *hostfacts.Result, why string) error {
	l := slices.DeleteFunc(slices.Clone(res.Findings), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	l.Sort()
	if err := s.sayText(l, res.Files, why); err != nil {
		return err
	}
	return usagef("%s", why)
}

// writeNew writes a file that is not there yet, and leaves none after an error. hint is for a user who has one.
func writeNew(path, text, hint string) error { return survey.WriteNew(path, text, hint) }
