package action_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// snippet is the first block of YAML in a section of docs/review.md.
func snippet(t *testing.T, section string) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root(t), "docs/review.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "\n### "+section+"\n")
	m := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no YAML in the section ", section)
	}
	return m[1]
}

// TestWorkflow: what people copy has the rights that it needs, takes a history with the base, leaves no token in the
// checkout, fixes what runs, and knows the inputs. No expression stands in a script, where its value would be a part of it.
func TestWorkflow(t *testing.T) {
	var workflow struct {
		Name, On    string
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn      string `yaml:"runs-on"`
			Permissions map[string]string
			Steps       []struct {
				Uses string
				With map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(snippet(t, "GitHub")))
	d.KnownFields(true)
	if err := d.Decode(&workflow); err != nil {
		t.Fatal(err)
	}
	var action metadata
	decode(t, filepath.Join(root(t), "action.yml"), &action)
	job := workflow.Jobs["permissions"]
	if workflow.On != "pull_request" || len(workflow.Permissions) != 0 || len(job.Permissions) != 2 ||
		job.Permissions["contents"] != "read" || job.Permissions["pull-requests"] != "write" || len(job.Steps) != 2 {
		t.Fatalf("%+v", workflow)
	}
	checkout, ours := job.Steps[0], job.Steps[1]
	pinned := regexp.MustCompile(`^actions/checkout@[0-9a-f]{40}$`)
	if !pinned.MatchString(checkout.Uses) || checkout.With["fetch-depth"] != "0" || checkout.With["persist-credentials"] != "false" {
		t.Errorf("%+v", checkout)
	}
	for name, in := range action.Inputs {
		if _, given := ours.With[name]; in.Required && !given {
			t.Errorf("the input %s is missing", name)
		}
	}
	for name := range ours.With {
		if _, known := action.Inputs[name]; !known {
			t.Errorf("there is no input %s", name)
		}
	}
	for _, step := range action.Runs.Steps {
		if strings.Contains(step.Run, "${{") || step.Shell != "sh" {
			t.Errorf("%+v", step)
		}
	}
}

// linters has the tests run that need other programs, and minutes: .ci/nightly action.
const linters = "ACCESSC_ACTION"

// TestLinters: the linters of workflows and scripts find nothing.
func TestLinters(t *testing.T) {
	if os.Getenv(linters) == "" {
		t.Skip("set ", linters)
	}
	dir, actionlint := t.TempDir(), filepath.Join(t.TempDir(), "actionlint")
	do(t, root(t), "go", "build", "-modfile=tools/go.mod", "-o", actionlint, "github.com/rhysd/actionlint/cmd/actionlint")
	workflows := filepath.Join(dir, ".github/workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	// By its directory, actionlint reads action.yml itself, and compares the inputs.
	text := strings.Replace(snippet(t, "GitHub"), "accessc/accessc@COMMIT", "./", 1)
	if err := os.WriteFile(filepath.Join(workflows, "permissions.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root(t), "action.yml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "action.yml"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	do(t, dir, "git", "init", "-q", ".")
	do(t, dir, actionlint)
	scripts, _ := filepath.Glob(filepath.Join(root(t), ".github/action/*.sh"))
	do(t, root(t), "shellcheck", append([]string{"--shell=sh"}, scripts...)...)
	if _, err := exec.LookPath("zizmor"); err != nil {
		t.Log("no zizmor here")
		return
	}
	do(t, dir, "zizmor", "--offline", ".")
}

// TestPreCommit: pre-commit installs the hooks from a clone of this repository, as docs/review.md has them, and they
// refuse a mistake and artifacts that are out of date.
func TestPreCommit(t *testing.T) {
	if os.Getenv(linters) == "" {
		t.Skip("set ", linters)
	}
	dir := t.TempDir()
	commit := strings.TrimSpace(do(t, root(t), "git", "rev-parse", "HEAD"))
	config := strings.NewReplacer("https://github.com/accessc/accessc", root(t), "vVERSION", commit).Replace(snippet(t, "Before each commit"))
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".pre-commit-config.yaml", config)
	write("accessc.toml", narrow)
	t.Setenv("PRE_COMMIT_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	do(t, dir, "git", "init", "-q", "-b", "main", ".")
	do(t, dir, "git", "add", ".")
	run := func() (string, bool) {
		cmd := exec.Command("pre-commit", "run", "--all-files")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	for _, c := range []struct {
		change func()
		want   string
		ok     bool
	}{
		{func() {}, "nothing is built in access", false},
		{func() { do(t, dir, "go", "run", "-C", root(t), "./cmd/accessc", "build", "-C", dir) }, "Passed", true},
		{func() { write("accessc.toml", wide) }, "differ from the configuration", false},
		{func() { write("accessc.toml", "[tools.") }, "ACC001", false},
	} {
		c.change()
		do(t, dir, "git", "add", ".")
		if out, ok := run(); ok != c.ok || !strings.Contains(out, c.want) {
			t.Errorf("pre-commit ends with %v, expected %q: %s", ok, c.want, out)
		}
	}
}

func do(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", program, err, out, said.String())
	}
	return string(out)
}
