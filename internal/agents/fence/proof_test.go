package fence

import (
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// A draft that lets processes start a program is found, where the settings do not.
func TestProofFindsStarts(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	const table = "\n[tools.agent.access.commands]\n"
	for wider, model := range map[string]*Model{
		"":                       {Denied: []string{"python3"}},
		table + "python3 = {}\n": {Denied: []string{"python3"}},
		table + "unshare = {}\n": {Defaults: true},
		table + "git = {}\n":     {Denied: []string{"git push"}, Argv: true},
	} {
		model.Host = w.Host(importer.Refuse)
		for _, narrow := range []bool{false, true} {
			text := "[tools.agent]\nsource = \"local\"\n\n[[tools.agent.access.fs]]\npath = \".\"\nread = true\n"
			if narrow {
				text += table + "ls = {}\n"
			} else {
				text += wider
			}
			if _, err := importer.Prove(text, "agent", model, w.Host(importer.Refuse)); (err == nil) != narrow || !narrow && !strings.Contains(err.Error(), "permit to start") {
				t.Errorf("%s\ngot %v", text, err)
			}
		}
	}
}
