package srt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/foreign"
	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// A draft that is wider than the settings is found, for any mistake that widened it: the proof does not
// rest on the translation.
func TestProofFindsWider(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	model := &Model{
		Host: w.Host(importer.Refuse), AllowWrite: []foreign.Spelled{{Path: "."}}, DenyWrite: []foreign.Spelled{{Path: "src"}},
		DenyRead:       []foreign.Spelled{{Path: "secrets"}, {Path: "a/*/k"}, {Path: "~/x"}},
		AllowedDomains: []string{"a.test:443", "*.b.test"}, DeniedDomains: []string{"c.b.test"}, Hidden: []string{"TERM"},
	}
	const fs, net = "\n[[tools.agent.access.fs]]\n", "\n[[tools.agent.access.net]]\n"
	narrow := fs + "path = \"src/x\"\nread = true" + net + "host = \"a.test\"\nport = 443\nallow = true" + "\n[[tools.agent.access.env]]\nname = \"TERM\"\n"
	for wider, what := range map[string]string{
		"":                                  "",
		fs + `path = "."` + "\nread = true": "read",
		fs + `path = "."` + "\nnames = [\"k*\"]\nread = true":                                     "read",
		fs + `path = "src"` + "\nnames = [\"[a-c]?\"]\ndelete = true":                             "delete",
		fs + `path = "secrets"` + "\nread = true":                                                 "read",
		fs + `path = "a/b"` + "\nread = true":                                                     "read",
		fs + `path = "src"` + "\nupdate = true":                                                   "update",
		fs + `path = ".bashrc"` + "\ncreate = true":                                               "create",
		fs + `path = ".git/hooks/post-merge"` + "\nwrite = true":                                  "create",
		fs + `path = "~/x/y"` + "\nexternal = true\nexecute = true\nread = true":                  "read",
		net + `host = "a.test"` + "\nallow = true":                                                "connect",
		net + `host = "*.b.test"` + "\nallow = true":                                              "connect",
		net + `host = "b.test"` + "\nallow = true":                                                "connect",
		net + `host = "a.test"` + "\nscheme = \"tcp\"\nport = 22\nallow = true":                   "connect",
		"\n[[tools.agent.access.env]]\nname = \"TERM\"\nread = true":                              "forward",
		"\n[[rulesets.agent.rules]]\noutcome = \"allow\"\noperation = \"fetch\"\nhosts = [\"*\"]": "fetch",
	} {
		_, err := importer.Prove("[tools.agent]\nsource = \"local\"\n"+narrow+wider, "agent", model, w.Host(importer.Refuse))
		if got := fmt.Sprint(err); (err != nil) != (what != "") || what != "" && !strings.Contains(got, "permit to "+what) && !strings.Contains(got, "allow to "+what) && !strings.Contains(got, "would "+what) {
			t.Errorf("%s\ngot %v, expected %q", wider, err, what)
		}
	}
}
