package landlockconfig

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// A draft that lets files move, or lets a tool listen, where the settings do not, is found as well.
func TestProofFindsWiderInDetail(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	all := slices.DeleteFunc(slices.Clone(allRights), func(r string) bool { return r == "refer" })
	model := &Model{
		Host: w.Host(importer.Refuse), IsDir: importer.IsDir, ABI: 6, HandledFS: []string{"abi.all"}, HandledNet: []string{"abi.all"},
		Paths: []PathsRule{
			{Access: []string{"abi.all"}, Parents: []string{"src", "a"}}, {Access: all, Parents: []string{"x y"}},
			{Access: slices.DeleteFunc(slices.Clone(all), func(r string) bool { return strings.HasPrefix(r, "make_") }), Parents: []string{"Docs"}},
		},
		Ports: []PortsRule{{Access: []string{"bind_tcp"}, Ports: []uint16{8080}}, {Access: []string{"abi.all"}, Ports: []uint16{9090}}},
	}
	const fs, net = "\n[[tools.agent.access.fs]]\n", "\n[[tools.agent.access.net]]\n"
	narrow := fs + "path = \"src\"\nread = true\nwrite = true" + net + "listen = true\nhost = \"*\"\nport = 9090\nallow = true"
	for wider, what := range map[string]string{
		"": "",
		fs + `path = "a"` + "\nread = true\nwrite = true":                      "",
		fs + `path = "Docs"` + "\nread = true\nupdate = true":                  "link a file from",
		fs + `path = "Docs"` + "\nupdate = true":                               "",
		fs + `path = "Docs"` + "\ndelete = true":                               "delete",
		fs + `path = "a/.env/x"` + "\nread = true\nwrite = true":               "",
		net + "listen = true\nhost = \"localhost\"\nport = 8081\nallow = true": "listen",
		net + "listen = true\nhost = \"localhost\"\nport = 8080\nallow = true": "where the tool itself listens",
		net + "listen = true\nallow = true":                                    "listen",
		net + "host = \"10.0.0.1\"\nscheme = \"tcp\"\nport = 22\nallow = true": "connect",
	} {
		_, err := importer.Prove("[tools.agent]\nsource = \"local\"\naccess.base = \"none\"\n"+narrow+wider, "agent", model, w.Host(importer.Refuse))
		if got := fmt.Sprint(err); (err != nil) != (what != "") || what != "" && !strings.Contains(got, what) {
			t.Errorf("%s\ngot %v, expected %q", wider, err, what)
		}
	}
}
