package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/denial/recorded"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/review/sides"
)

// diff compares two sides.
func (c *explainCmd) diff(g *globals) error {
	if len(c.Tools) > 1 {
		return usagef("--diff takes one new side, found %d", len(c.Tools))
	}
	root, err := g.root()
	if err != nil {
		return err
	}
	if len(c.Tools) == 0 && sides.Bare(root) {
		return usagef("%s is a bare repository, which has no work tree to compare with: name both sides", root)
	}
	old, err := reader(g).Read(c.Diff)
	if err != nil {
		return g.refused(err)
	}
	new, err := reader(g).Read(c.newSide())
	if err != nil {
		return g.refused(err)
	}
	found, err := sides.Changes(old, new)
	if err != nil {
		return err
	}
	var replayed []explain.Replayed
	if c.Runs != "" {
		runs, err := recorded.Load(c.Runs)
		if err != nil {
			return usageError{Err: err}
		}
		replayed = explain.Replay(runs, old.Views(), new.Views())
	}
	if err := c.writeChanges(g, found, replayed); err != nil {
		return err
	}
	switch {
	case c.fails("widened") && explain.Widened(found),
		c.fails("may") && explain.WidenedLive(found),
		c.fails("any") && len(explain.Differing(found)) > 0,
		c.fails("settings") && explain.OtherSettings(found),
		c.fails("refused") && explain.NewlyRefused(replayed):
		return exit(exitWidened)
	default:
		return nil
	}
}

// fails reports whether --fail-on names a change.
func (c *explainCmd) fails(on string) bool { return slices.Contains(c.FailOn, on) }

// gates reports whether it names any.
func (c *explainCmd) gates() bool {
	return slices.ContainsFunc(c.FailOn, func(on string) bool { return on != "none" })
}

// severities are those of annotations: what a gate fails on is an error. Of settings that is so only if the gate names
// them.
func (c *explainCmd) severities() explain.Severities {
	out := explain.Severities{Wider: diag.Warning, Settings: diag.Warning}
	if c.gates() {
		out.Wider = diag.Error
	}
	if c.fails("settings") || c.fails("any") {
		out.Settings = diag.Error
	}
	return out
}

// writeChanges prints a comparison in the format that was asked for.
func (c *explainCmd) writeChanges(g *globals, found []explain.Change, replayed []explain.Replayed) error {
	text, replay := "", ""
	switch {
	case c.HTML:
		return explain.ChangesHTML(g.stdout, found)
	case c.Format == "sarif":
		return explain.ChangesSARIF(g.stdout, found, c.severities(), g.config().Places(c.newSide()))
	case c.Format == "github":
		return explain.ChangesGitHub(g.stdout, found, c.severities(), g.config().Places(c.newSide()))
	case c.Format == "json":
		doc := explain.ChangesJSON(found)
		if c.Runs != "" {
			doc.Replay = explain.ReplayJSON(replayed)
		}
		return g.writeJSON(doc)
	case c.Format == "markdown":
		text, replay = explain.ChangesMarkdown(found), explain.ReplayMarkdown(replayed)
	default:
		style := g.style(g.stdout)
		style.Regions = c.Why
		text, replay = explain.ChangesText(found, style), explain.ReplayText(replayed, style)
	}
	if c.Runs != "" {
		text += replay
	}
	_, err := fmt.Fprint(g.stdout, text)
	return err
}

// newSide is the new side of a comparison; empty for the work tree.
func (c *explainCmd) newSide() string { return strings.Join(c.Tools, "") }

// reader reads sides of a comparison.
func reader(g *globals) sides.Reader {
	return sides.Reader{Config: g.asking().config(), Notes: g.stderr}
}
