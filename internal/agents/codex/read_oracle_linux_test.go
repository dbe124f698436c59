package codex

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// Codex itself permits every access that the evaluation of a permission profile permits.
func TestCodexItself(t *testing.T) {
	program := suite.Published(t, "../../..", "@openai/codex-linux-*/vendor/*/bin/codex")
	w := suite.NewWorld(t, Agent.Formats...)
	script := filepath.Join(w.In, "tries")
	if err := os.WriteFile(script, []byte(suite.AccessTries), 0o600); err != nil {
		t.Fatal(err)
	}
	// Codex makes no programs of its own below a temporary directory.
	cache, err := filepath.Abs("../../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	codexHome, err := os.MkdirTemp(cache, "codex-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(codexHome) })
	compared, same, last := 0, 0, ""
	for seed := range suite.OracleRounds(12, 120) {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		text := codexProfile(r)
		if err := os.WriteFile(filepath.Join(codexHome, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		res, err := w.Run("config.toml", text, importer.Existing)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		cmd := exec.Command(program, append([]string{"sandbox", "-P", "p", "sh", script}, w.Asked()...)...)
		cmd.Dir, cmd.Env = w.Dir, []string{"HOME=" + w.Home, "CODEX_HOME=" + codexHome, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(string(out), "done\n") {
			last = string(out)
			continue // Codex starts nothing under some profiles, such as those that deny a path over a symlink
		}
		c, s := w.Compare(t, text, res.Policy, strings.Split(string(out), "\n"))
		compared, same = compared+c, same+s
	}
	if compared == 0 {
		t.Skipf("codex sandbox does not start here: %s", last)
	}
	fmt.Printf("codex sandbox: %d verdicts compared, %d the same, in the others Codex permits more\n", compared, same)
}

// codexProfile draws a profile about the world.
func codexProfile(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("default_permissions = \"p\"\n[permissions.p]\nextends = \":read-only\"\n[permissions.p.filesystem]\n")
	var inside []string
	for _, p := range importer.Without(suite.Some(r, 5, func() string {
		return suite.Pick(r, ".", "a", "a/b", "src", "src/a", "link", "x y", "**/.env", "src/**/k.pem", "a/*")
	})) {
		mode := suite.Pick(r, "read", "write", "write", "deny")
		if strings.Contains(p, "*") {
			mode = "deny"
		}
		inside = append(inside, fmt.Sprintf("%q = %q", p, mode))
	}
	fmt.Fprintf(&b, "\":workspace_roots\" = { %s }\n", strings.Join(inside, ", "))
	for _, p := range importer.Without(suite.Some(r, 2, func() string { return suite.Pick(r, "~/x", "~/x/y") })) {
		fmt.Fprintf(&b, "%q = %q\n", p, suite.Pick(r, "read", "write", "deny"))
	}
	return b.String()
}

// The evaluation of Codex' rules gives the verdicts of Codex.
func TestCodexRulesItself(t *testing.T) {
	program := suite.Published(t, "../../..", "@openai/codex-linux-*/vendor/*/bin/codex")
	dir := t.TempDir()
	file := filepath.Join(dir, "default.rules")
	compared := 0
	for seed := range suite.OracleRounds(4, 40) {
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		text, rules := codexFor(r)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			line := suite.Pick(r, "git", "npm", "ls") + " " + strings.Join(suite.Some(r, 3, func() string { return codexWord(r) }), " ")
			words := strings.Fields(line)
			cmd := exec.Command(program, append([]string{"execpolicy", "check", "--rules", file}, words...)...)
			cmd.Env = []string{"HOME=" + dir, "CODEX_HOME=" + dir, "PATH=" + os.Getenv("PATH")}
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("codex does not start here: %v", err)
			}
			compared++
			var answer struct{ Decision string }
			if err := json.Unmarshal(out, &answer); err != nil {
				t.Fatal(err)
			}
			if real := answer.Decision == "allow"; real != rules.Runs(line) {
				t.Errorf("%s\n%q: Codex says %s, the evaluation %t", text, line, out, rules.Runs(line))
			}
		}
	}
	fmt.Printf("codex: %d verdicts compared\n", compared)
}

func codexWord(r *rand.Rand) string {
	return suite.Pick(r, "push", "log", "status", "run", "test", "x")
}

// codexFor draws rules, as text and as they are.
func codexFor(r *rand.Rand) (string, RulesModel) {
	var text strings.Builder
	var rules RulesModel
	for range 1 + r.IntN(6) {
		rule := Rule{Pattern: [][]string{{suite.Pick(r, "git", "npm", "ls")}}, Decision: suite.Pick(r, "allow", "allow", "prompt", "forbidden")}
		for range r.IntN(3) {
			rule.Pattern = append(rule.Pattern, importer.Without([]string{codexWord(r), codexWord(r)}[:1+r.IntN(2)]))
		}
		var parts []string
		for _, some := range rule.Pattern {
			parts = append(parts, importer.Texts(some))
		}
		fmt.Fprintf(&text, "prefix_rule(pattern=[%s], decision=%q)\n", strings.Join(parts, ", "), rule.Decision)
		rules = append(rules, rule)
	}
	return text.String(), rules
}
