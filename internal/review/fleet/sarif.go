package fleet

import (
	"io"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/review/explain"
	"github.com/accessc/accessc/internal/text/visible"
	"github.com/accessc/accessc/ir"
)

// The rules of results that are no problems of a build.
const (
	ruleGranted diag.Code = "fleet.granted"
	ruleGap     diag.Code = "host.gap"
	ruleAdded   diag.Code = "manifest.added"
	ruleRemoved diag.Code = "manifest.removed"
)

// severities are the severities of changes, on which no gate depends.
var severities = explain.Severities{Wider: diag.Warning, Settings: diag.Warning}

// titles are the titles of the rules.
var titles = []diag.Rule{
	{ID: diag.Code(Unreadable), Title: "a manifest cannot be read", Severity: diag.Error},
	{ID: diag.Code(Changing), Title: "a manifest changes while it is read", Severity: diag.Error},
	{ID: diag.Code(NoDirectory), Title: "a directory cannot be listed", Severity: diag.Error},
	{ID: diag.Code(build.ManifestHash), Title: "the hash over all tools is another one", Severity: diag.Error},
	{ID: diag.Code(build.RulesetPolicy), Title: "a ruleset cannot be read", Severity: diag.Error},
	{ID: diag.Code(build.RulesetHash), Title: "the hash of a ruleset is another one", Severity: diag.Error},
	{ID: diag.Code(build.RulesetLedger), Title: "a ruleset is said to be held otherwise", Severity: diag.Error},
	{ID: diag.Code(build.ToolName), Title: "a tool's name is no directory's, or twice", Severity: diag.Error},
	{ID: diag.Code(build.ToolPolicy), Title: "a policy cannot be read", Severity: diag.Error},
	{ID: diag.Code(build.ToolHash), Title: "the hash of a policy is another one", Severity: diag.Error},
	{ID: diag.Code(build.ToolSummary), Title: "a summary is not that of the policy", Severity: diag.Error},
	{ID: diag.Code(build.ToolLedger), Title: "a ledger is not that of the policy", Severity: diag.Error},
	{ID: diag.Code(build.ArtifactMissing), Title: "an artifact is not there", Severity: diag.Error},
	{ID: diag.Code(build.ArtifactHash), Title: "an artifact has another hash", Severity: diag.Error},
	{ID: diag.Code(build.ArtifactUnlisted), Title: "an artifact is not listed", Severity: diag.Error},
	{ID: diag.Code(build.ArtifactUnknown), Title: "an artifact is of no backend", Severity: diag.Error},
	{ID: diag.Code(build.ArtifactDiffers), Title: "an artifact differs from its policy", Severity: diag.Error},
	{ID: ruleGranted, Title: "a policy grants what was asked about", Severity: diag.Warning},
	{ID: ruleGap, Title: "a host does not hold a rule", Severity: diag.Warning},
	{ID: ruleAdded, Title: "a manifest is new", Severity: diag.Warning},
	{ID: ruleRemoved, Title: "a manifest is gone", Severity: diag.Note},
}

// SARIF writes problems, answers, gaps of hosts and changes as a SARIF 2.1.0 log. Every result is at its manifest,
// since where a repository begins is not known.
func (f *Fleet) SARIF(w io.Writer, q *Question, places diag.Places) error {
	var out diag.List
	add := func(code diag.Code, severity diag.Severity, manifest, text string) {
		out.Add(diag.Diagnostic{Code: code, Severity: severity, Message: visible.Text(text),
			At: ir.Pos{File: manifest}})
	}
	for i := range f.Manifests {
		for _, p := range f.Manifests[i].Problems {
			add(diag.Code(p.Class), diag.Error, f.Manifests[i].Path, of(p.Tool)+p.Detail)
		}
	}
	for _, a := range f.Answers {
		add(ruleGranted, diag.Warning, a.Manifest, of(a.Tool)+string(a.Verdict)+", "+a.Operation+": "+a.by())
	}
	for _, h := range f.Hosts {
		for _, l := range h.Lacks {
			for _, t := range l.tools {
				add(ruleGap, diag.Warning, f.Manifests[t.manifest].Path,
					of(f.tool(t).Name)+h.Name+" does not hold "+l.Gap+": "+l.Means)
			}
		}
	}
	rules := titles
	if f.Since != nil {
		for _, m := range f.Since.Added {
			add(ruleAdded, diag.Warning, m, "a new manifest")
		}
		for _, m := range f.Since.Removed {
			add(ruleRemoved, diag.Note, m, "there was a manifest")
		}
		for _, c := range f.Since.Changes {
			for _, r := range explain.Results([]explain.Change{c.Change}, severities) {
				if place := r.At.String(); place != "" {
					r.Message += " (" + visible.Text(place) + ")"
				}
				r.At, r.Related = ir.Pos{File: c.Manifest}, nil
				out.Add(r)
			}
		}
		rules = append(rules[:len(rules):len(rules)], explain.ResultRules(severities)...)
	}
	return diag.WriteResults(w, rules, out, places)
}

func of(tool string) string {
	if tool == "" {
		return ""
	}
	return tool + ": "
}
