package gemini

import (
	"bytes"
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
	"github.com/accessc/accessc/test/await"
)

// engine asks the policy engine of Gemini CLI about command lines, under a file of policies or under lists of tools.
const engine = `
import fs from "node:fs";
const dir = process.argv[2];
const file = fs.readdirSync(dir).find(f => f.startsWith("chunk-") && / createPolicyEngineConfig,/.test(fs.readFileSync(dir + "/" + f, "utf8")));
const { PolicyEngine, createPolicyEngineConfig } = await import(dir + "/" + file);
const out = [];
for (const c of JSON.parse(fs.readFileSync(process.argv[3], "utf8"))) {
	const settings = { policyPaths: c.policies ? [c.policies] : [], tools: c.tools ?? undefined };
	const engine = new PolicyEngine(await createPolicyEngineConfig(settings, "default"));
	const allowed = [];
	for (const command of c.lines) allowed.push((await engine.check({ name: "run_shell_command", args: { command, description: "x" } })).decision === "allow");
	out.push(allowed);
}
process.stdout.write("\nanswers " + JSON.stringify(out) + "\n");
process.exit(0);
`

// asking is one configuration with lines.
type asking struct {
	Policies string          `json:"policies,omitempty"`
	Tools    json.RawMessage `json:"tools,omitempty"`
	Lines    []string        `json:"lines"`
}

// Gemini CLI itself allows every command that the evaluation of its policies, or of its settings, allows.
func TestGeminiItself(t *testing.T) {
	bundle := filepath.Dir(suite.Published(t, "../../..", "@google/gemini-cli/bundle/gemini.js"))
	suite.Needs(t, "node")
	dir, w := t.TempDir(), suite.NewWorld(t, Agent.Formats...)
	var questions []asking
	var models []func(line string) bool
	for seed := range suite.OracleRounds(60, 600) {
		if q, runs := drawQuestion(w, t, seed, dir); runs != nil {
			questions, models = append(questions, q), append(models, runs)
		}
	}
	compared, same := 0, 0
	for i, allowed := range askGemini(t, bundle, dir, questions) {
		for j, program := range allowed {
			line := questions[i].Lines[j]
			compared++
			switch ours := models[i](line); {
			case ours == program:
				same++
			case ours:
				text, _ := os.ReadFile(questions[i].Policies)
				t.Fatalf("%s%s\nthe evaluation allows %q, the program does not", text, questions[i].Tools, line)
			}
		}
	}
	if same*10 < compared*7 {
		t.Errorf("%d of %d verdicts are the same", same, compared)
	}
	fmt.Printf("gemini: %d verdicts compared, %d the same, in the others the program permits more\n", compared, same)
}

// drawQuestion draws settings and lines, with the evaluation of the settings; none if they are a mistake.
func drawQuestion(w *suite.World, t *testing.T, seed int, dir string) (q asking, runs func(line string) bool) {
	r := rand.New(rand.NewPCG(2, uint64(seed)))
	from, name, text := policiesFormat.Name, "rules.toml", ""
	if seed%3 == 0 {
		from, name, text = settingsFormat.Name, "settings.json", drawSettings(r)
		var doc struct{ Tools json.RawMessage }
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		q.Tools = doc.Tools
	} else {
		text, q.Policies = drawPolicies(r), filepath.Join(dir, fmt.Sprintf("p%d.toml", seed))
		if err := os.WriteFile(q.Policies, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	res, err := w.RunAs(from, name, text, importer.Refuse)
	if err != nil {
		return q, nil
	}
	for range 30 {
		line := suite.Pick(r, "git", "npm", "ls", "make", "zz", "gits")
		for range r.IntN(4) {
			line += " " + suite.Pick(r, "push", "log", "--force", "run", "-x", "zz", "git", "a")
		}
		q.Lines = append(q.Lines, line)
	}
	return q, res.Policy.Runs
}

// askGemini runs the program once about all questions.
func askGemini(t *testing.T, bundle, dir string, questions []asking) [][]bool {
	text, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	script, asked := filepath.Join(dir, "judge.mjs"), filepath.Join(dir, "questions.json")
	for file, text := range map[string][]byte{script: []byte(engine), asked: text} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := await.Context(t)
	cmd := exec.CommandContext(ctx, "node", script, bundle, asked)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	said, err := cmd.Output()
	_, after, found := strings.Cut(string(said), "\nanswers ")
	if err != nil || !found {
		t.Fatalf("%v: %s%s", err, said, wrong.Bytes())
	}
	var out [][]bool
	if err := json.Unmarshal([]byte(after), &out); err != nil || len(out) != len(questions) {
		t.Fatalf("%v: %s", err, after)
	}
	return out
}
