package importer

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer/foreign"
	"github.com/accessc/accessc/test/await"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

const packages = "../../.cache/npm/node_modules/"

// published is the program of a package, or the test is skipped by its name.
func published(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(packages + pattern)
	if err != nil || len(found) == 0 {
		t.Skipf("needs %s in .cache/npm: task npm", pattern)
	}
	abs, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s", p)
		}
	}
}

// socat takes the place of the program by which srt passes connections on: here none are.
const socat = `#!/usr/bin/env node
const listen = process.argv.slice(2).find(a => a.startsWith("UNIX-LISTEN:"));
if (listen) require("net").createServer(() => {}).listen(listen.slice(12).split(",")[0]);
setInterval(() => {}, 1000);
`

// tries reads and writes each path of its arguments, and prints the accesses that worked. It removes the files
// that it makes.
const tries = `for f do
	if [ -d "$f" ]; then ls "$f" >/dev/null 2>&1 && echo "r $f"
	else cat "$f" >/dev/null 2>&1 && echo "r $f"; fi
	if [ -d "$f" ]; then (: > "$f/zz-made") 2>/dev/null && rm -f "$f/zz-made" && echo "w $f"
	elif [ -e "$f" ]; then (: >> "$f") 2>/dev/null && echo "w $f"
	else (: > "$f") 2>/dev/null && rm -f "$f" && echo "w $f"; fi
done
echo done
`

// srt itself permits every access that the evaluation of its settings permits: asked of the program, about
// real files.
func TestSRTItself(t *testing.T) {
	cli := published(t, "@anthropic-ai/sandbox-runtime/dist/cli.js")
	needs(t, "node", "bwrap", "rg")
	w := newWorld(t)
	bin := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(bin, name)
		if err := testbuild.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("socat", socat, 0o755)
	script := write("tries", tries, 0o644)
	compared, same := 0, 0
	for seed := range oracleRounds(6, 60) {
		settings := srtFor(rand.New(rand.NewPCG(1, uint64(seed))))
		model := w.srt(settings, Existing)
		said, ok := runSRT(t, w, cli, bin, write(fmt.Sprint("s", seed), settings, 0o644), script)
		if !ok {
			t.Skipf("srt does not start here: %s", said)
		}
		c, s := w.compare(t, settings, model, said)
		compared, same = compared+c, same+s
	}
	fmt.Printf("srt: %d verdicts compared, %d the same, in the others srt permits more\n", compared, same)
}

// srtFor draws settings about the world.
func srtFor(r *rand.Rand) string {
	where := func() string {
		return pick(r, "a", "a/b", "src", "src/a", "~/x", "~/x/y", "./a/b/k.pem", "link", "link/b", "x y")
	}
	denies := func() string {
		return pick(r, where(), where(), where(), "**/.env", "a/*", "src/**/k.pem", "**/*.pem")
	}
	list := func(n int, one func() string) string {
		out := some(r, n, one)
		for i, s := range out {
			out[i] = `"` + s + `"`
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	writes := list(2, where)
	if r.IntN(2) == 0 {
		writes = `["."]`
	}
	return fmt.Sprintf(`{"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": %s, "allowRead": %s, "allowWrite": %s, "denyWrite": %s}}`,
		list(3, denies), list(2, where), writes, list(2, where))
}

// asked are the paths that srt is asked about.
func (w *world) asked() []string {
	var out []string
	for _, rel := range []string{
		"ws/.env", "ws/a", "ws/a/.env", "ws/a/b/k.pem", "ws/a/.vscode/x", "ws/src", "ws/src/a/k.pem", "ws/src/.git/hooks/x", "ws/new", "ws/a/new", "ws/src/new",
		"ws/.bashrc", "ws/.mcp.json", "x", "x/y/k.pem", "x/.env", "x/new", "x/y/new",
	} {
		out = append(out, w.home+"/"+rel)
	}
	return out
}

func exists(abs string) bool {
	_, err := os.Lstat(abs)
	return err == nil
}

// runSRT starts srt, and returns the lines of the script; false where srt does not start at all.
func runSRT(t *testing.T, w *world, cli, bin, settings, script string) ([]string, bool) {
	t.Helper()
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, "node", append([]string{cli, "--settings", settings, "sh", script}, w.asked()...)...)
	cmd.Dir = w.dir
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TMPDIR=" + bin}
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || lines[len(lines)-1] != "done" {
		return lines, false
	}
	return lines, true
}

// Codex itself permits every access that the evaluation of a permission profile permits.
func TestCodexItself(t *testing.T) {
	program := published(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	w := newWorld(t)
	script := filepath.Join(w.in, "tries")
	if err := os.WriteFile(script, []byte(tries), 0o600); err != nil {
		t.Fatal(err)
	}
	// Codex makes no programs of its own below a temporary directory.
	cache, err := filepath.Abs("../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	codexHome, err := os.MkdirTemp(cache, "codex-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(codexHome) })
	compared, same, last := 0, 0, ""
	for seed := range oracleRounds(12, 120) {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		text := codexProfile(r)
		if err := os.WriteFile(filepath.Join(codexHome, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		tr := &translation{req: &Request{Patterns: Existing}, host: w.host(Existing)}
		d := &document{name: "config.toml", text: []byte(text), version: "codex"}
		model := readCodexConfig(tr, []*document{d})
		if err := d.err(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		cmd := exec.Command(program, append([]string{"sandbox", "-P", "p", "sh", script}, w.asked()...)...)
		cmd.Dir, cmd.Env = w.dir, []string{"HOME=" + w.home, "CODEX_HOME=" + codexHome, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(string(out), "done\n") {
			last = string(out)
			continue // Codex starts nothing under some profiles, such as those that deny a path over a symlink
		}
		c, s := w.compare(t, text, model, strings.Split(string(out), "\n"))
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
	for _, p := range without(some(r, 5, func() string {
		return pick(r, ".", "a", "a/b", "src", "src/a", "link", "x y", "**/.env", "src/**/k.pem", "a/*")
	})) {
		mode := pick(r, "read", "write", "write", "deny")
		if strings.Contains(p, "*") {
			mode = "deny"
		}
		inside = append(inside, fmt.Sprintf("%q = %q", p, mode))
	}
	fmt.Fprintf(&b, "\":workspace_roots\" = { %s }\n", strings.Join(inside, ", "))
	for _, p := range without(some(r, 2, func() string { return pick(r, "~/x", "~/x/y") })) {
		fmt.Fprintf(&b, "%q = %q\n", p, pick(r, "read", "write", "deny"))
	}
	return b.String()
}

// oracleRounds is how many settings a program is asked about.
func oracleRounds(everyday, full int) int {
	if irtest.Full() {
		return full
	}
	return everyday
}

// compare finds verdicts of an evaluation that a program does not share, and counts those that it does.
func (w *world) compare(t *testing.T, settings string, model foreign.Policy, said []string) (compared, same int) {
	for _, abs := range w.asked() {
		for _, op := range []string{"r", "w"} {
			permits := model.Reads(abs)
			if op == "w" {
				permits = model.Writes(abs) && exists(filepath.Dir(abs))
			} else if !exists(abs) {
				continue
			}
			compared++
			real := slices.Contains(said, op+" "+abs)
			if permits == real {
				same++
			}
			if permits && !real {
				t.Errorf("%s\nthe evaluation permits %s %s, and the program does not", settings, op, abs)
			}
		}
	}
	return compared, same
}

// The evaluation of Codex' rules gives the verdicts of Codex.
func TestCodexRulesItself(t *testing.T) {
	program := published(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	dir := t.TempDir()
	file := filepath.Join(dir, "default.rules")
	compared := 0
	for seed := range oracleRounds(4, 40) {
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		text, rules := codexFor(r)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			line := pick(r, "git", "npm", "ls") + " " + strings.Join(some(r, 3, func() string { return codexWord(r) }), " ")
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

func codexWord(r *rand.Rand) string { return pick(r, "push", "log", "status", "run", "test", "x") }

// codexFor draws rules, as text and as they are.
func codexFor(r *rand.Rand) (string, foreign.CodexRules) {
	var text strings.Builder
	var rules foreign.CodexRules
	for range 1 + r.IntN(6) {
		rule := foreign.CodexRule{Pattern: [][]string{{pick(r, "git", "npm", "ls")}}, Decision: pick(r, "allow", "allow", "prompt", "forbidden")}
		for range r.IntN(3) {
			rule.Pattern = append(rule.Pattern, without([]string{codexWord(r), codexWord(r)}[:1+r.IntN(2)]))
		}
		var parts []string
		for _, some := range rule.Pattern {
			parts = append(parts, texts(some))
		}
		fmt.Fprintf(&text, "prefix_rule(pattern=[%s], decision=%q)\n", strings.Join(parts, ", "), rule.Decision)
		rules = append(rules, rule)
	}
	return text.String(), rules
}
