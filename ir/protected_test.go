package ir_test

import (
	"slices"
	"testing"

	"github.com/accessc/accessc/ir"
)

// TestProtectedNames: names that become protected files by renaming, and those that make a
// repository of the root, are no tool's to create. Cause: a tool that opened or linked
// .git/config.lock, or a staged file of a build, wrote the file that it became; a tool that made HEAD, config, objects
// and refs in the root had git run programs of that config.
func TestProtectedNames(t *testing.T) {
	v := ir.NewView(ir.NewTool("t"), ir.Linux, ir.Facts{})
	can := func(at string) bool {
		place := ir.Direct(ir.In(at))
		return v.Decide(ir.Access{Cap: ir.Create, On: place, Name: ir.NameFile}).Allowed() ||
			v.Decide(ir.Access{Cap: ir.Update, On: place}).Allowed()
	}
	for _, at := range []string{
		".git/config.lock", ".git/config.worktree.lock", ".git/info/attributes.lock", ".gitmodules.lock",
		"HEAD", ".githooks/pre-commit",
		"access/.accessc/x/new0", ".git/worktrees/w/config.worktree.lock", ".git/modules/m/config.lock",
		// A build server runs these with its secrets after the next push. Only the files of GitHub, GitLab and their
		// relatives were on the list.
		"Jenkinsfile", ".travis.yml", "azure-pipelines.yml", ".woodpecker.yml", ".woodpecker/build.yml",
		".buildkite/pipeline.yml", "buildkite.yml", "buildkite/pipeline.json",
		".drone.yml", "appveyor.yml", ".appveyor.yml", "bitbucket-pipelines.yml", ".gitlab-ci.yml",
		".circleci/config.yml", ".github/workflows/x.yml",
		// Programs read each of these names without a setting, and run what it says. The list had some names of a
		// program and lacked others.
		"lefthook.toml", "lefthook.json", "lefthook-local.yml", ".lefthook.yaml", ".lefthook-local.jsonc",
		".lefthook/pre-push/x.sh",
		".config/lefthook.yml", ".config/lefthook-local.toml", ".git-hooks/x", ".overcommit.yml", ".hg/hgrc",
		".hg/hgrc-not-shared",
		".hg/sharedpath", ".jj/repo/config.toml", ".jj/workspace-config.toml", ".bzr/branch/branch.conf",
		"_darcs/prefs/defaults",
		".pijul/config", ".sl/config", ".git/sl/config", ".qwen/settings.json", ".crush.json", "crush.json",
		".amp/settings.json",
		".junie/mcp/mcp.json", ".factory/mcp.json", ".copilot/x", ".grok/settings.json",
		".helix/languages.toml", ".fleet/run.json",
		".run/x.run.xml", ".cirrus.yml", ".cirrus.star", "cloudbuild.yaml", "cloudbuild.json", "buildspec.yml",
		".tekton/x.yaml",
		".semaphore/semaphore.yml", ".build.yml", ".builds/x.yml", "codemagic.yaml", "bitrise.yml",
		"screwdriver.yaml", ".envrc",
		"mise.toml", ".mise.local.toml", ".mise/tasks/x", ".config/mise/config.toml", "mise/config.toml",
		".tool-versions", ".cargo/config.toml", ".cargo/config", ".yarnrc.yml", ".yarnrc", ".pnp.cjs", ".pnp.loader.mjs",
	} {
		if can(at) {
			t.Errorf("%s can be written", at)
		}
	}
	for _, at := range []string{".git/index.lock", ".git/HEAD.lock", ".git/HEAD", ".git/refs/heads/x", "src/HEAD", "access/t/x", "config", "objects", "src/Jenkinsfile", "buildkite/x.yml",
		"Makefile", "package.json", ".venv/bin/x", ".cargo/x", ".yarn/cache/x", ".config/x", "mise/x",
		".hg/store/x",
		".jj/repo/store/x", "lefthook.md"} {
		if !can(at) {
			t.Errorf("%s cannot be written", at)
		}
	}
	sorted := slices.IsSortedFunc(ir.ProtectedPaths(), func(a, b ir.ProtectedPath) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	if !sorted {
		t.Error("the list is not sorted")
	}
}

// TestProtectedListIsShared: views share the list of protected paths, and changes by a caller to its own copy reach
// none of them.
func TestProtectedListIsShared(t *testing.T) {
	mine := ir.ProtectedPaths()
	first := mine[0]
	mine[0].Path = "other"
	_ = append(mine[:1], ir.ProtectedPath{Path: "further"})
	v := ir.NewView(ir.NewTool("t"), ir.Linux, ir.Facts{Protected: []ir.ProtectedPath{{Path: "local"}}})
	w := ir.NewView(ir.NewTool("t"), ir.Linux, ir.Facts{})
	if got := w.Protected(); got[0] != first || !slices.Equal(got, ir.ProtectedPaths()) || len(v.Protected()) != len(got)+1 {
		t.Errorf("%+v, and with one more %d of %d", got[0], len(v.Protected()), len(got))
	}
}
