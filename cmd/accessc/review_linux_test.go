package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestReviewSnippets runs the snippets of docs/review.md for GitLab and hooks, in a real repository with an origin, on a
// branch that permits more and on one that does not. Left out is the installation. Package test/action runs the action.
func TestReviewSnippets(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	t.Parallel()
	doc, err := os.ReadFile("../../docs/review.md")
	if err != nil {
		t.Fatal(err)
	}
	gitlab, hook := snippet(t, doc, "GitLab", "yaml"), snippet(t, doc, "Before each commit", "sh")
	for _, branch := range []struct {
		name, policy string
		wider        bool
	}{
		{"wider", strings.Replace(reviewed, `path = "src"`, `path = "."`, 1), true},
		{"tidier", strings.Replace(reviewed, `path = "src"`, `path = "src/"`, 1), false},
	} {
		t.Run(branch.name, func(t *testing.T) {
			r := newRepository(t)
			r.must("git checkout -q -b " + branch.name)
			r.write("accessc.toml", branch.policy)
			r.must("accessc build && git add . && git commit -q -m change")
			// A runner of GitLab has the commits of the request and no branch of the origin.
			r.must("git update-ref -d refs/remotes/origin/main && git branch -q -D main")
			r.run(gitLabSteps(t, gitlab), branch.wider)
		})
	}
	t.Run("hook", func(t *testing.T) {
		r := newRepository(t)
		r.must(hook)
		r.write("accessc.toml", reviewed+"\n# a remark\n")
		r.must("git add . && git commit -q -m remark")
		r.write("accessc.toml", strings.Replace(reviewed, `path = "src"`, `path = "."`, 1))
		if out, status := r.sh("git add . && git commit -q -m stale"); status == 0 {
			t.Errorf("artifacts that are out of date were committed: %s", out)
		}
		r.must("accessc build && git add . && git commit -q -m fresh")
	})
}

const reviewed = `[tools.edit]
source = "local"
command = "tee"
access.fs = [{ path = "src", read = true, write = true }]
`

// snippet is the first block of a language in a section of a document.
func snippet(t *testing.T, doc []byte, section, language string) string {
	t.Helper()
	_, text, ok := strings.Cut(string(doc), "\n### "+section+"\n")
	m := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindStringSubmatch(text)
	if !ok || m == nil {
		t.Fatalf("no %s in the section %s", language, section)
	}
	return m[1]
}

func gitLabSteps(t *testing.T, text string) []string {
	t.Helper()
	var file map[string]struct {
		Image     string
		Variables map[string]string
		Rules     []map[string]string
		Script    []string
		Artifacts struct {
			Paths    []string
			ExposeAs string `yaml:"expose_as"`
			When     string
		}
	}
	strict(t, text, &file)
	job := file["permissions"]
	if job.Variables["GIT_DEPTH"] != "0" || len(job.Rules) != 1 {
		t.Errorf("not a job for merge requests with their history: %+v", job)
	}
	if !strings.Contains(strings.Join(job.Script, "\n"), "> "+strings.Join(job.Artifacts.Paths, "")) {
		t.Errorf("nothing writes %v", job.Artifacts.Paths)
	}
	return job.Script
}

// strict refuses keys that the services do not know by these names.
func strict(t *testing.T, text string, into any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// repository is a clone whose origin has a reviewed policy on main.
type repository struct {
	t *testing.T
	// base is the commit that branches start from.
	dir, bin, base string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	base := t.TempDir()
	r := &repository{t: t, dir: filepath.Join(base, "clone"), bin: filepath.Join(base, "bin")}
	for _, d := range []string{r.dir, r.bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is accessc under that name, as with the scripts.
	if err := os.Symlink(self, filepath.Join(r.bin, "accessc")); err != nil {
		t.Fatal(err)
	}
	r.write("accessc.toml", reviewed)
	r.write(".gitignore", "*.html\n")
	r.must(`git init -q -b main . && git config user.email nobody@example.com && git config user.name nobody &&
		accessc build && git add . && git commit -q -m policy &&
		git clone -q --bare . ../origin && git remote add origin ../origin && git fetch -q origin`)
	out, _ := r.sh("git rev-parse HEAD")
	r.base = strings.TrimSpace(out)
	return r
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// sh runs a command as the services do: by a shell that stops at the first error.
func (r *repository) sh(line string) (string, int) {
	cmd := exec.Command("sh", "-e", "-c", line)
	cmd.Dir = r.dir
	home := filepath.Dir(r.dir)
	cmd.Env = []string{
		"PATH=" + r.bin + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"),
		"GIT_CONFIG_NOSYSTEM=1", "NO_COLOR=1", "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + r.base, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
	}
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); ok {
		return string(out), exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	return string(out), 0
}

func (r *repository) must(line string) {
	r.t.Helper()
	if out, status := r.sh(line); status != 0 {
		r.t.Fatalf("%s: status %d: %s", line, status, out)
	}
}

// run runs the commands of a job. Those with --fail-on end with 4 if the branch permits
// more, all else with 0.
func (r *repository) run(steps []string, wider bool) {
	r.t.Helper()
	gates := 0
	for _, line := range steps {
		if strings.HasPrefix(line, "git clone ") {
			// The command is there already; the package is this one.
			if !strings.Contains(line, "go build -C ") || !strings.Contains(line, " ./cmd/accessc") {
				r.t.Errorf("it builds nothing: %s", line)
			}
			continue
		}
		want := 0
		if strings.Contains(line, "--fail-on widened") {
			gates++
			if wider {
				want = exitWidened
			}
		}
		if out, status := r.sh(line); status != want {
			r.t.Errorf("%s: status %d, not %d: %s", line, status, want, out)
		}
	}
	if gates == 0 {
		r.t.Error("nothing stops a request that permits more")
	}
}
