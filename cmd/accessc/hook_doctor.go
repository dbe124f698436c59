package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/accessc/accessc/internal/agents/hook"
	"github.com/accessc/accessc/internal/agents/hook/settings"
	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/visible"
)

// hookDoctorCmd is "accessc hook doctor".
type hookDoctorCmd struct {
	Agent  string `arg:"" help:"The agent: claude-code, codex, copilot, cursor, gemini, opencode or windsurf."`
	Format string `enum:"text,json" default:"text" help:"Output format: text or json."`
}

// Help implements kong's detailed help.
func (hookDoctorCmd) Help() string {
	return `Reads the settings that the agent reads here, and asks the installed hook about an event that every policy
refuses and about one that none does. Changes nothing.

What is listed as not held is never asked about, whatever the settings say.

Exit status: 0 the agent obeys the hook, 1 there are findings.`
}

// hookDoctorDoc is the JSON form.
type hookDoctorDoc struct {
	Version int `json:"format_version"`
	settings.Report
}

// versionLimit is how long an agent may take to say its version.
const versionLimit = 10 * time.Second

// Run implements the command.
func (c *hookDoctorCmd) Run(g *globals) error {
	a, err := findAgent(c.Agent)
	if err != nil {
		return err
	}
	places, err := ownPlaces()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	places.Workspace = quietRoot(g)
	r := a.Examine(places, self)
	r.Version = agentVersion(a, places)
	if old := a.TooOld(r.Version); old != "" {
		r.Findings = append(r.Findings, settings.Finding{Text: old})
	}
	tryHook(a, &r, places)
	if c.Format == "json" {
		err = g.writeJSON(hookDoctorDoc{Version: doctorVersion, Report: r})
	} else {
		c.print(g, a, r)
	}
	if err == nil && len(r.Findings) > 0 {
		err = exit(exitFindings)
	}
	return err
}

// quietRoot is the workspace, empty where there is none.
func quietRoot(g *globals) string {
	root, err := g.findRoot()
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return ""
	}
	return root
}

var versionText = expression.Once{Text: `\d+\.\d+\.\d+`}

// agentVersion asks the agent for its version, in a directory whose settings are the user's. A program
// that the workspace brings is not asked.
func agentVersion(a *settings.Agent, p settings.Places) string {
	path, err := exec.LookPath(a.Program)
	if err != nil || p.Workspace != "" && (workspace.Within(path, p.Workspace) || workspace.Within(canonical(path), canonical(p.Workspace))) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir, cmd.WaitDelay = p.Home, time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionText.Get().FindString(string(out))
}

// tryHook asks the installed hook about samples, as the agent would. Only this program is started:
// another one that settings name may do anything.
func tryHook(a *settings.Agent, r *settings.Report, p settings.Places) {
	dir := p.Workspace
	if dir == "" {
		dir = p.Home
	}
	for _, e := range r.Entries {
		if !e.Trusted {
			continue
		}
		for _, s := range a.Samples(dir) {
			try := settings.Try{Event: s.Name, Want: verdictWord(s.Refused), Got: "no answer"}
			status, out, said := askHook(a, e, dir, s.Event)
			if refused, ok := a.Refused(status, out); ok {
				try.Got = verdictWord(refused)
			}
			r.Tries = append(r.Tries, try)
			if try.Got != try.Want {
				r.Findings = append(r.Findings, settings.Finding{Path: e.Path, Text: fmt.Sprintf("asked whether to %s, the hook gave %s, not %s: %s", s.Name, try.Got, try.Want, said)})
			}
		}
	}
}

func verdictWord(refused bool) string {
	if refused {
		return "refused"
	}
	return "not refused"
}

// askHook has the hook answer one event, and returns its status, its answer, and the first line of its output.
func askHook(a *settings.Agent, e settings.Installed, dir string, event []byte) (int, []byte, string) {
	ctx, cancel := context.WithTimeout(context.Background(), hook.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Program, append([]string{"hook", a.Name}, e.Args...)...)
	var out, said bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, bytes.NewReader(event), &out, &said, time.Second
	err := cmd.Run()
	text := strings.TrimSpace(out.String() + " " + said.String())
	text, _, _ = strings.Cut(text, "\n")
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0, out.Bytes(), text
	case errors.As(err, &ended):
		return ended.ExitCode(), out.Bytes(), text
	default:
		return -1, nil, err.Error()
	}
}

// print says everything in words.
func (c *hookDoctorCmd) print(g *globals, a *settings.Agent, r settings.Report) {
	style := g.style(g.stdout)
	title := a.Title
	if r.Version != "" {
		title += " " + r.Version
	}
	fmt.Fprintln(g.stdout, title)
	say := func(color, mark, text string) {
		fmt.Fprint(g.stdout, style.Hang("  "+paint(style.Color, color, mark)+"  "+visible.Text(text)+"\n", 8))
	}
	for _, e := range r.Entries {
		if e.Trusted {
			say("32", "yes ", fmt.Sprintf("installed in %s", e.Path))
		}
	}
	for _, t := range r.Tries {
		if t.Got == t.Want {
			say("32", "yes ", fmt.Sprintf("asked whether to %s: %s", t.Event, t.Got))
		}
	}
	for _, f := range r.Findings {
		text := f.Text
		if f.Path != "" {
			text = f.Path + ": " + text
		}
		say("31", "no  ", text)
	}
	fmt.Fprintln(g.stdout, "The hook is not asked about:")
	for _, text := range r.NotHeld {
		fmt.Fprint(g.stdout, style.Hang("  - "+text+"\n", 4))
	}
}
