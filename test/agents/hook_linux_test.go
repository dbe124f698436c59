package agents_test

import "strings"

// coder is a workspace whose policy is for agents. The program report, which a rule allows, does more
// than the policy.
var coder = map[string]string{
	"docs/a": "text of docs/a\n", "docs/secret": "text of docs/secret\n",
	"report": "#!/bin/sh\nexec 2>&1\ncat docs/a docs/secret\ntrue >new\necho the end\n",
	"accessc.toml": `[tools.coder]
source = "local"
command = "true"
access.fs = [
  { path = ".", read = true, execute = true },
  { path = "docs", read = true, write = true },
  { path = "docs/secret" },
]

[[rulesets.default.rules]]
outcome = "allow"
prefix = ["./report", "cat"]

[[rulesets.default.rules]]
outcome = "deny"
command = "rm"
reason = "nothing is removed here"
`,
}

// install puts the hook into an agent's settings, which have this text. The function that it returns
// takes the hook out and fails unless they have it again.
func (p *place) install(agent, settings, text string) (uninstall func()) {
	p.Helper()
	p.write(settings, text)
	p.accessc("hook", "install", agent, "--tool", "coder")
	if p.read(settings) == text {
		p.Fatalf("the hook is not in %s", settings)
	}
	return func() {
		p.Helper()
		p.accessc("hook", "uninstall", agent)
		if got := p.read(settings); got != text {
			p.Errorf("after the hook %s has %q, not %q", settings, got, text)
		}
	}
}

// held fails if something happened that the policy of coder refuses.
func (p *place) held(results []string) {
	p.Helper()
	if all := strings.Join(results, "\n"); strings.Contains(all, "text of docs/secret") {
		p.Errorf("the secret has reached the model: %s", all)
	}
	for name, want := range map[string]string{"docs/a": coder["docs/a"], "docs/secret": coder["docs/secret"], "new": "", "other": "", "more": ""} {
		if got := p.read(name); got != want {
			p.Errorf("%s has %q, not %q", name, got, want)
		}
	}
}
