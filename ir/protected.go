package ir

import (
	"slices"
	"sync"
)

// ProtectedVersion is the version of the list of protected paths. It changes with every
// change of the list.
const ProtectedVersion = 7

// ProtectedPath is a place of a workspace whose files decide which programs later run outside
// of the sandbox, or are the policy. A grant on a directory around it does not permit creating,
// changing or removing it; a rule on the place itself or below it does.
type ProtectedPath struct {
	// Root is the root of an external rule, or zero for the workspace.
	Root Root
	// Path is relative to the root.
	Path string
	// Open is true for a directory in a protected directory that is not protected: there the rule around both counts.
	Open bool
	// Pattern is true where Path is a pattern: its components are matched as by MatchName, and "**" stands for any
	// number of directories. It protects only on Linux.
	Pattern bool
	// Why is the reason shown to users.
	Why string
	// Origin is the source of the path: the list, or a layer that was read from it.
	Origin Origin
}

// At is the place of the path.
func (p *ProtectedPath) At() Location {
	if p.Root.Kind == External {
		return Location{p.Root, p.Path}
	}
	return In(p.Path)
}

// ProtectedPaths returns the list.
func ProtectedPaths() []ProtectedPath { return slices.Clone(listedProtected()) }

// listedProtected is the list with its origin, for all views.
// See decision D330.
var listedProtected = sync.OnceValue(func() []ProtectedPath {
	out := slices.Clone(protected[:])
	for i := range out {
		out[i].Origin = Origin{Layer: LayerProtected, Label: "protected"}
	}
	return out
})

// protect plants the rules that take writing away from protected paths. A path that has no rule
// of its own gets a rule that grants whatever the rule around it does, except creating,
// updating and deleting. Where that rule grants none of these, nothing is planted.
// See decision D51.
func (v *View) protect(more []ProtectedPath, links []Location) {
	if !v.Tool.Protects {
		return
	}
	v.zone(Root{Kind: Workspace})
	if v.protected = listedProtected(); len(v.Tool.Protected)+len(more) > 0 {
		v.protected = slices.Concat(v.protected, v.Tool.Protected, more)
	}
	for _, at := range links {
		if tree := v.tree(at.Root); tree != nil {
			tree.make(at.Path, &v.arena).link = true
		}
	}
	v.protectNames()
	around := map[int]ruleRef{} // the rules around protected paths, by the references that those have
	for i := range v.protected {
		if p := &v.protected[i]; !p.Pattern && v.tree(p.At().Root) != nil {
			v.protectPath(p, around)
		}
	}
}

func (v *View) protectPath(p *ProtectedPath, around map[int]ruleRef) {
	at := p.At()
	ref, exact := v.tree(at.Root).ruleFor(at.Path)
	if exact || ref < 0 && !v.grantsNames(at.Root, Write) {
		return
	}
	var outer ruleRef
	if ref >= 0 {
		outer = v.refs[ref]
	}
	before, guarded := around[ref]
	switch {
	case p.Open && guarded:
		before.pin, before.kind = false, opens
		v.plant(at, before)
	case !p.Open && (outer.caps&Write != 0 || v.grantsNames(at.Root, Write)):
		rule := &FSRule{Written: at.Short(), At: at, Caps: outer.caps &^ Write, Origin: p.Origin}
		rule.Origin.Layer = LayerProtected
		v.add(protectedID, rule)
		around[len(v.refs)] = outer
		v.plant(at, ruleRef{entry: len(v.rules) - 1, caps: rule.Caps, kind: guards})
	}
}

// Amends reports whether a place is the lock of a configuration of git's that only its protection keeps from being
// written. The supervisor on Linux judges the new text and puts a change of branches into effect; Decide denies all
// changes.
// See decision D411.
func (v *View) Amends(lock Location) bool {
	if lock.Base() != "config.lock" {
		return false
	}
	dir, _ := lock.Parent()
	return v.guards(lock) && v.guards(dir.Child("config"))
}

// guards reports whether a place is a protected path, and the rule around it grants reading and writing.
func (v *View) guards(at Location) bool {
	tree := v.tree(at.Root)
	if tree == nil {
		return false
	}
	ref, exact := tree.ruleFor(at.Path)
	if !exact || !v.rules[v.refs[ref].entry].Rule.Guards() || !v.refs[ref].caps.Has(Read) {
		return false
	}
	dir, _ := at.Parent()
	return v.caps(dir).Contains(Write)
}

// Protected returns the protected paths of the view's tool, the paths that only its workspace has included; nil where
// the tool's policy protects none.
func (v *View) Protected() []ProtectedPath { return v.protected }

// Guards reports whether r takes writing away from a protected path.
func (r *FSRule) Guards() bool { return r.Origin.Layer == LayerProtected }

// protectedID identifies the rules of all protected paths together.
const protectedID = "protected"

// Reasons of protected paths.
const (
	WhyPolicy   = "says what tools may do"
	whyBelow    = "says what tools may do that are started there"
	WhyGit      = "git runs programs that it names"
	whyVCS      = "a version control system runs programs that it names"
	WhyMain     = "it is the main work tree's own"
	WhyLock     = "git or a build makes a protected file of it by renaming"
	bare        = "with it git takes the directory for a repository, and its files for git's own"
	startsMCP   = "agents start the servers that it names"
	agentRuns   = "an agent runs commands that it names, or asks less"
	editorRuns  = "an editor runs commands that it names"
	shellRuns   = "shells run it on entering the directory"
	shimsRun    = "programs that stand for several versions start those that it names"
	serverRuns  = "build servers run it"
	managersRun = "package managers and runtimes run programs that it names"
)

// protected is sorted by path. NAME.lock is the file that git writes before it renames it to NAME
// (lockfile.h): a tool that could open or link it would hold the file that NAME becomes. Build servers are
// listed by the names that they read without a setting (their documentation of November 2026). Names with a pattern,
// such as *.code-workspace, are no paths, and no system enforces them exactly.
// See decision D456.
var protected = [...]ProtectedPath{
	{Path: "*/**/.accessc", Pattern: true, Why: whyBelow},
	{Path: "*/**/.jp", Pattern: true, Why: whyBelow},
	{Path: "*/**/accessc.toml", Pattern: true, Why: whyBelow},
	{Path: ".accessc", Why: WhyPolicy},
	{Path: ".aider.conf.yml", Why: agentRuns},
	{Path: ".amp", Why: agentRuns},
	{Path: ".appveyor.yml", Why: serverRuns},
	{Path: ".build.yml", Why: serverRuns},
	{Path: ".buildkite", Why: serverRuns},
	{Path: ".builds", Why: serverRuns},
	{Path: ".bzr/branch/branch.conf", Why: whyVCS},
	{Path: ".cargo/config", Why: managersRun},
	{Path: ".cargo/config.toml", Why: managersRun},
	{Path: ".circleci", Why: serverRuns},
	{Path: ".cirrus.star", Why: serverRuns},
	{Path: ".cirrus.yml", Why: serverRuns},
	{Path: ".claude", Why: agentRuns},
	{Path: ".clinerules", Why: agentRuns},
	{Path: ".codex", Why: agentRuns},
	{Path: ".config/lefthook-local.json", Why: WhyGit},
	{Path: ".config/lefthook-local.jsonc", Why: WhyGit},
	{Path: ".config/lefthook-local.toml", Why: WhyGit},
	{Path: ".config/lefthook-local.yaml", Why: WhyGit},
	{Path: ".config/lefthook-local.yml", Why: WhyGit},
	{Path: ".config/lefthook.json", Why: WhyGit},
	{Path: ".config/lefthook.jsonc", Why: WhyGit},
	{Path: ".config/lefthook.toml", Why: WhyGit},
	{Path: ".config/lefthook.yaml", Why: WhyGit},
	{Path: ".config/lefthook.yml", Why: WhyGit},
	{Path: ".config/mise", Why: shellRuns},
	{Path: ".config/mise.toml", Why: shellRuns},
	{Path: ".continue", Why: agentRuns},
	{Path: ".copilot", Why: agentRuns},
	{Path: ".crush.json", Why: agentRuns},
	{Path: ".cursor", Why: agentRuns},
	{Path: ".devcontainer", Why: editorRuns},
	{Path: ".devcontainer.json", Why: editorRuns},
	{Path: ".drone.yml", Why: serverRuns},
	{Path: ".envrc", Why: shellRuns},
	{Path: ".exrc", Why: editorRuns},
	{Path: ".factory", Why: agentRuns},
	{Path: ".fleet", Why: editorRuns},
	{Path: ".forgejo/workflows", Why: serverRuns},
	{Path: ".gemini", Why: agentRuns},
	{Path: ".git-hooks", Why: WhyGit},
	// An old form of remotes (gitrepository-layout(5)); git runs hooks of their repositories.
	{Path: ".git/branches", Why: WhyGit},
	{Path: ".git/commondir", Why: WhyGit},
	{Path: ".git/config", Why: WhyGit},
	{Path: ".git/config.lock", Why: WhyLock},
	{Path: ".git/config.worktree", Why: WhyGit},
	{Path: ".git/config.worktree.lock", Why: WhyLock},
	{Path: ".git/hooks", Why: WhyGit},
	{Path: ".git/info/attributes", Why: WhyGit},
	{Path: ".git/info/attributes.lock", Why: WhyLock},
	{Path: ".git/modules", Why: WhyGit},
	{Path: ".git/remotes", Why: WhyGit},
	{Path: ".git/sl/config", Why: whyVCS},
	{Path: ".git/worktrees", Why: WhyGit},
	{Path: ".gitea/workflows", Why: serverRuns},
	{Path: ".githooks", Why: WhyGit},
	{Path: ".github/actions", Why: serverRuns},
	{Path: ".github/copilot", Why: agentRuns},
	{Path: ".github/hooks", Why: agentRuns},
	{Path: ".github/workflows", Why: serverRuns},
	{Path: ".gitlab-ci.yml", Why: serverRuns},
	{Path: ".gitmodules", Why: WhyGit},
	{Path: ".gitmodules.lock", Why: WhyLock},
	{Path: ".grok", Why: agentRuns},
	{Path: ".helix", Why: editorRuns},
	{Path: ".hg/hgrc", Why: whyVCS},
	{Path: ".hg/hgrc-not-shared", Why: whyVCS},
	{Path: ".hg/sharedpath", Why: whyVCS},
	{Path: ".husky", Why: WhyGit},
	{Path: ".idea", Why: editorRuns},
	{Path: ".jj/repo/config.toml", Why: whyVCS},
	{Path: ".jj/workspace-config.toml", Why: whyVCS},
	{Path: ".jp/config", Why: WhyPolicy},
	{Path: ".jp/config.json", Why: WhyPolicy},
	{Path: ".jp/config.json5", Why: WhyPolicy},
	{Path: ".jp/config.toml", Why: WhyPolicy},
	{Path: ".jp/config.yaml", Why: WhyPolicy},
	{Path: ".jp/config.yml", Why: WhyPolicy},
	{Path: ".junie", Why: agentRuns},
	{Path: ".kiro", Why: agentRuns},
	{Path: ".lefthook", Why: WhyGit},
	{Path: ".lefthook-local", Why: WhyGit},
	{Path: ".lefthook-local.json", Why: WhyGit},
	{Path: ".lefthook-local.jsonc", Why: WhyGit},
	{Path: ".lefthook-local.toml", Why: WhyGit},
	{Path: ".lefthook-local.yaml", Why: WhyGit},
	{Path: ".lefthook-local.yml", Why: WhyGit},
	{Path: ".lefthook.json", Why: WhyGit},
	{Path: ".lefthook.jsonc", Why: WhyGit},
	{Path: ".lefthook.toml", Why: WhyGit},
	{Path: ".lefthook.yaml", Why: WhyGit},
	{Path: ".lefthook.yml", Why: WhyGit},
	{Path: ".mcp.json", Why: startsMCP},
	{Path: ".mise", Why: shellRuns},
	{Path: ".mise.local.toml", Why: shellRuns},
	{Path: ".mise.toml", Why: shellRuns},
	{Path: ".nvim.lua", Why: editorRuns},
	{Path: ".nvimrc", Why: editorRuns},
	{Path: ".opencode", Why: agentRuns},
	{Path: ".overcommit.yml", Why: WhyGit},
	{Path: ".pijul/config", Why: whyVCS},
	{Path: ".pnp.cjs", Why: managersRun},
	{Path: ".pnp.loader.mjs", Why: managersRun},
	{Path: ".pre-commit-config.yaml", Why: WhyGit},
	{Path: ".qwen", Why: agentRuns},
	{Path: ".roo", Why: agentRuns},
	{Path: ".run", Why: editorRuns},
	{Path: ".screwdriver.yaml", Why: serverRuns},
	{Path: ".semaphore", Why: serverRuns},
	{Path: ".sl/config", Why: whyVCS},
	{Path: ".tekton", Why: serverRuns},
	{Path: ".tool-versions", Why: shimsRun},
	{Path: ".travis.yml", Why: serverRuns},
	{Path: ".vimrc", Why: editorRuns},
	{Path: ".vscode", Why: editorRuns},
	{Path: ".windsurf", Why: agentRuns},
	{Path: ".woodpecker", Why: serverRuns},
	{Path: ".woodpecker.yaml", Why: serverRuns},
	{Path: ".woodpecker.yml", Why: serverRuns},
	{Path: ".yarnrc", Why: managersRun},
	{Path: ".yarnrc.yml", Why: managersRun},
	{Path: ".zed", Why: editorRuns},
	{Path: "HEAD", Why: bare},
	{Path: "Jenkinsfile", Why: serverRuns},
	{Path: "_darcs/prefs/defaults", Why: whyVCS},
	{Path: "access/.accessc", Why: WhyLock},
	{Path: "access/manifest.json", Why: WhyPolicy},
	{Path: "accessc.toml", Why: WhyPolicy},
	{Path: "appveyor.yml", Why: serverRuns},
	{Path: "azure-pipelines.yml", Why: serverRuns},
	{Path: "bitbucket-pipelines.yml", Why: serverRuns},
	{Path: "bitrise.yml", Why: serverRuns},
	{Path: "buildkite.json", Why: serverRuns},
	{Path: "buildkite.yaml", Why: serverRuns},
	{Path: "buildkite.yml", Why: serverRuns},
	{Path: "buildkite/pipeline.json", Why: serverRuns},
	{Path: "buildkite/pipeline.yaml", Why: serverRuns},
	{Path: "buildkite/pipeline.yml", Why: serverRuns},
	{Path: "buildspec.yaml", Why: serverRuns},
	{Path: "buildspec.yml", Why: serverRuns},
	{Path: "cloudbuild.json", Why: serverRuns},
	{Path: "cloudbuild.yaml", Why: serverRuns},
	{Path: "cloudbuild.yml", Why: serverRuns},
	{Path: "codemagic.yaml", Why: serverRuns},
	{Path: "crush.json", Why: agentRuns},
	{Path: "lefthook-local.json", Why: WhyGit},
	{Path: "lefthook-local.jsonc", Why: WhyGit},
	{Path: "lefthook-local.toml", Why: WhyGit},
	{Path: "lefthook-local.yaml", Why: WhyGit},
	{Path: "lefthook-local.yml", Why: WhyGit},
	{Path: "lefthook.json", Why: WhyGit},
	{Path: "lefthook.jsonc", Why: WhyGit},
	{Path: "lefthook.toml", Why: WhyGit},
	{Path: "lefthook.yaml", Why: WhyGit},
	{Path: "lefthook.yml", Why: WhyGit},
	{Path: "mise.local.toml", Why: shellRuns},
	{Path: "mise.toml", Why: shellRuns},
	{Path: "mise/config.local.toml", Why: shellRuns},
	{Path: "mise/config.toml", Why: shellRuns},
	{Path: "opencode.json", Why: agentRuns},
	{Path: "opencode.jsonc", Why: agentRuns},
	{Path: "screwdriver.yaml", Why: serverRuns},
}
