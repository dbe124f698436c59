package hostfacts

import (
	"path"

	"github.com/accessc/accessc/ir"
)

// Later is a file of a workspace, or a directory of such, that its user runs outside of the sandbox later on: by a
// build, by the name of a program, by a test. Writing these is the work of tools, so they are not protected.
type Later struct {
	// Path is relative to the workspace.
	Path string
	// Why is the reason shown to users.
	Why string
}

// Reasons of files that are run later.
const (
	buildRuns   = "a build runs commands that it names"
	installRuns = "an installation of the project runs it"
	testRuns    = "a test runner runs it"
	programs    = "its files are programs that users and builds start by their names"
	startRuns   = "containers or services start as it says"
)

// later is sorted by reason, and by name within a reason. Of the patterns that builds read (*.mk, *.cmake) none
// is listed: the file that a build begins with names them.
var later = [...]Later{
	{"Makefile", buildRuns}, {"makefile", buildRuns}, {"GNUmakefile", buildRuns}, {"CMakeLists.txt", buildRuns},
	{"CMakePresets.json", buildRuns}, {"configure", buildRuns}, {"configure.ac", buildRuns}, {"meson.build", buildRuns},
	{"build.ninja", buildRuns}, {"justfile", buildRuns}, {"Justfile", buildRuns}, {"Taskfile.yml", buildRuns},
	{"Taskfile.yaml", buildRuns}, {"package.json", buildRuns}, {"Cargo.toml", buildRuns}, {"build.rs", buildRuns},
	{"build.gradle", buildRuns}, {"build.gradle.kts", buildRuns}, {"settings.gradle", buildRuns},
	{"settings.gradle.kts", buildRuns}, {"gradlew", buildRuns}, {"pom.xml", buildRuns}, {"mvnw", buildRuns},
	{"build.xml", buildRuns}, {"build.sbt", buildRuns}, {"Rakefile", buildRuns}, {"Gemfile", buildRuns},
	{"mix.exs", buildRuns}, {"rebar.config", buildRuns}, {"dune-project", buildRuns}, {"stack.yaml", buildRuns},
	{"Package.swift", buildRuns}, {"SConstruct", buildRuns}, {"wscript", buildRuns}, {"BUILD", buildRuns},
	{"BUILD.bazel", buildRuns}, {"WORKSPACE", buildRuns}, {"MODULE.bazel", buildRuns}, {"build.zig", buildRuns},
	{"flake.nix", buildRuns}, {"shell.nix", buildRuns}, {"default.nix", buildRuns}, {"magefile.go", buildRuns},
	{"composer.json", buildRuns}, {"deno.json", buildRuns}, {"gulpfile.js", buildRuns}, {"Gruntfile.js", buildRuns},
	{"webpack.config.js", buildRuns}, {"vite.config.js", buildRuns}, {"vite.config.ts", buildRuns},
	{"rollup.config.js", buildRuns}, {"next.config.js", buildRuns},
	{"setup.py", installRuns}, {"setup.cfg", installRuns}, {"pyproject.toml", installRuns},
	{"conftest.py", testRuns}, {"tox.ini", testRuns}, {"noxfile.py", testRuns}, {"manage.py", testRuns},
	{"pytest.ini", testRuns}, {"jest.config.js", testRuns}, {"vitest.config.ts", testRuns},
	{"playwright.config.ts", testRuns},
	{".bin", programs}, {".venv/bin", programs}, {".venv/Scripts", programs}, {"bin", programs}, {"env/bin", programs},
	{"node_modules/.bin", programs}, {"scripts", programs}, {"vendor/bin", programs},
	{"venv/bin", programs}, {"venv/Scripts", programs},
	{"Containerfile", startRuns}, {"Dockerfile", startRuns}, {"Procfile", startRuns}, {"Vagrantfile", startRuns},
	{"compose.yaml", startRuns}, {"compose.yml", startRuns}, {"docker-compose.yml", startRuns},
	{"docker-compose.yaml", startRuns},
}

// RunLater are the listed files that are in the workspace and that the tool of a view may change: what its user runs
// next does as they say. The files are where they lead.
// See decision D456.
func (r *Result) RunLater(t *ir.Tool, view *ir.View) []Later {
	bindings := r.Facts(t).Bindings
	var out []Later
	for _, l := range later {
		found, err := r.Resolver.Disk.Follow(path.Join(r.Resolver.Root, l.Path))
		if err != nil || found.Kind == ir.Absent {
			continue
		}
		at := bindings.Locate(found.Abs)
		if found.Kind == ir.Dir {
			at = at.Child("program")
		}
		may := func(c ir.Capability) bool {
			return view.Decide(ir.Access{Cap: c, On: ir.Direct(at), Name: ir.NameFile}).Allowed()
		}
		if may(ir.Update) || may(ir.Create) {
			out = append(out, l)
		}
	}
	return out
}
