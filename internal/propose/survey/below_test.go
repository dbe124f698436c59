package survey_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/propose/survey"
	"github.com/accessc/accessc/ir"
)

// tree makes files, with the directories above them.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, text)
	}
	return dir
}

const (
	built   = `{"dependencies":{"x":"1"},"scripts":{"build":"b","test":"t"}}`
	members = `{"workspaces":["packages/*","!packages/no","apps/**"]}`
)

// TestMembers: each member of a workspace may be installed, built and tested into its own directories, by one tool.
func TestMembers(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		tool  string
		// command and writes are those of the tool; others are tools for directories that are no members.
		command string
		writes  []string
		others  []string
	}{
		"npm": {
			map[string]string{
				"package.json": members, "packages/a/package.json": built, "packages/no/package.json": built, "apps/x/y/package.json": built,
				"packages/a/node_modules/dep/package.json": built, "packages/a/testdata/package.json": built,
			}, "npm-install", "npm install",
			[]string{"node_modules", "packages/a/node_modules", "apps/x/y/node_modules", "package-lock.json"},
			[]string{"packages-no-npm-install", "packages-no-npm-build", "packages-no-npm-test"},
		},
		"npm build": {
			map[string]string{"package.json": `{"workspaces":{"packages":["./packages/*/"]}}`, "packages/a/package.json": built, "packages/a/.gitignore": "/out/\n"},
			"npm-build", "npm run build --workspaces --if-present",
			[]string{"node_modules/.cache", "dist", "packages/a/node_modules/.cache", "packages/a/out"}, nil,
		},
		"pnpm": {
			map[string]string{"package.json": "{}", "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "packages:\n  - 'p/*'\n", "p/a/package.json": built},
			"pnpm-test", "pnpm --recursive run test", []string{"node_modules/.cache", "p/a/node_modules/.cache"}, nil,
		},
		"yarn": {
			map[string]string{"package.json": members, "yarn.lock": "", "packages/a/package.json": built},
			"yarn-build", "yarn workspaces run build", []string{"node_modules/.cache", "dist", "packages/a/node_modules/.cache", "packages/a/dist"}, nil,
		},
		"yarn 4": {
			map[string]string{"package.json": members, "yarn.lock": "__metadata:\n", "packages/a/package.json": built, "packages/b/package.json": "{}"},
			"yarn-test", "yarn workspaces foreach --all run test", []string{"node_modules/.cache", "packages/a/node_modules/.cache"}, nil,
		},
		"bun": {
			map[string]string{"package.json": members, "bun.lock": "", "turbo.json": "", "packages/a/package.json": built},
			"bun-test", "bun run --filter '*' test", []string{"node_modules/.cache", ".turbo", "packages/a/node_modules/.cache"}, nil,
		},
		"go.work": {
			map[string]string{"go.work": "go 1.25\nuse ./one\nuse (\n\t./two/x // words\n\t\"./three\"\n\t../outside\n)\n", "one/go.mod": "", "two/x/go.mod": "", "three/go.mod": "", "four/go.mod": ""},
			"go-test", "go test ./one/... ./three/... ./two/x/...", nil, []string{"four-go-build", "four-go-test"},
		},
		"cargo": {
			map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"crates/no\"]\n", "target/x": "", "crates/a/Cargo.toml": "", "crates/no/Cargo.toml": ""},
			"cargo-build", "cargo build", []string{"target", "Cargo.lock"}, []string{"crates-no-cargo-build", "crates-no-cargo-test"},
		},
		"uv": {
			map[string]string{"pyproject.toml": "[tool.uv.workspace]\nmembers = [\"libs/*\"]\n", "uv.lock": "", "libs/a/pyproject.toml": ""},
			"uv-sync", "uv sync", []string{".venv", "uv.lock"}, nil,
		},
		"maven": {
			map[string]string{"pom.xml": "<project><modules><module>core</module></modules></project>", "core/pom.xml": "", "other/pom.xml": ""},
			"maven-verify", "mvn verify", []string{"target", "core/target"}, []string{"other-maven-verify"},
		},
		"gradle": {
			map[string]string{"settings.gradle": "", "app/build.gradle": "", "lib/build.gradle.kts": ""},
			"gradle-build", "gradle build", []string{"build", ".gradle", "lib/build", "app/build"}, nil,
		},
		"nothing at the top": {
			map[string]string{"backend/go.mod": "", "web/front/package.json": built, "svc/pyproject.toml": "pytest"},
			"web-front-npm-install", "npm --prefix web/front install", []string{"web/front/node_modules", "web/front/package-lock.json"},
			[]string{"backend-go-build", "backend-go-test", "web-front-npm-build", "web-front-npm-test", "svc-python-test"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, text := proposed(t, tree(t, tt.files))
			var tool *survey.Tool
			var others []string
			for _, f := range found {
				for i := range f.Tools {
					if f.Tools[i].Name == tt.tool {
						tool = &f.Tools[i]
					} else if strings.Contains(f.File, "/") {
						others = append(others, f.Tools[i].Name)
					}
				}
			}
			if tool == nil || tool.Command != tt.command {
				t.Fatalf("%+v\n%s", tool, text)
			}
			var writes []string
			for _, r := range tool.Rules {
				if slices.Contains(r.Keys, "write") {
					writes = append(writes, r.Path)
				}
			}
			if !slices.Equal(writes, tt.writes) {
				t.Errorf("writes %q, want %q", writes, tt.writes)
			}
			slices.Sort(others)
			slices.Sort(tt.others)
			if !slices.Equal(others, tt.others) {
				t.Errorf("other tools %q, want %q", others, tt.others)
			}
		})
	}
}

// TestMembersHostile: names and patterns of a repository neither reach the policy nor cost time.
func TestMembersHostile(t *testing.T) {
	files := map[string]string{
		"package.json": `{"workspaces":["` + strings.Repeat("**/", 60) + `x","../*","/etc","[","*"]}`,
		"go.work":      "use ./$(reboot)\nuse ./-x\nuse ./ok\n", "ok/go.mod": "",
	}
	for _, dir := range []string{"$(reboot)", "-x", "a b", "\u202ex", "a;b", "é", "x\ny", strings.Repeat("x", 70)} {
		files[dir+"/package.json"], files[dir+"/go.mod"] = built, ""
	}
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"} {
		files["deep/"+n+"/Cargo.toml"] = ""
	}
	found, text := proposed(t, tree(t, files))
	if all := text + survey.Summary(found); !words.MatchString(all) || strings.Contains(all, "$") || strings.Contains(all, "a;b") || strings.Contains(text, "-C -x") {
		t.Errorf("the repository wrote into %s", all)
	}
	if n := strings.Count(text, "-cargo-build]"); n != 12 {
		t.Errorf("%d projects", n)
	}
	if last := found[len(found)-1]; last.File != "deep/m/Cargo.toml and 2 more" || last.Why == "" {
		t.Errorf("the rest is %+v", last)
	}
	if !strings.Contains(text, `"go test ./ok/..."`) {
		t.Error(text)
	}
}

// TestMissingPrograms: a tool whose program is not there is named instead of proposed.
func TestMissingPrograms(t *testing.T) {
	dir := tree(t, map[string]string{
		"pyproject.toml": "", "uv.lock": "", "go.mod": "", "pom.xml": "", "mvnw": "", "justfile": "",
	})
	found, err := survey.Look(dir, func(p string) bool { return p == "go" })
	if err != nil {
		t.Fatal(err)
	}
	text := survey.Text(found, ir.Linux)
	for want, has := range map[string]bool{
		"tools.uv-sync]": false, "tools.go-build]": true, `"./mvnw verify"`: true, `"preset:secrets",`: true,
	} {
		if strings.Contains(text, want) != has {
			t.Errorf("%s: %t\n%s", want, has, text)
		}
	}
	for _, want := range []string{"no tool for uv: not in PATH", "justfile"} {
		if s := survey.Summary(found); !strings.Contains(s, want) {
			t.Errorf("%s is not in %s", want, s)
		}
	}
}
