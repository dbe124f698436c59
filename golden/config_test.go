package golden_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accessc/accessc/golden"
)

// TestConfigurations: the policies that these documents show have no mistakes. Their tools are in a layer below, and a
// list of layers stands in the user's own file.
func TestConfigurations(t *testing.T) {
	for _, doc := range []string{"config", "live", "presets", "agents"} {
		data, err := os.ReadFile("../docs/" + doc + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range fence.FindAllStringSubmatch(string(data), -1) {
			if b[1] != "toml" || strings.HasPrefix(b[2], "[[layers]]") {
				continue
			}
			t.Run(fmt.Sprintf("%s-%d", doc, i), func(t *testing.T) {
				below := ""
				for _, name := range tools(b[2]) {
					below += fmt.Sprintf("[tools.%s]\nsource = \"local\"\ncommand = \"true\"\n", name)
				}
				out := golden.Lay(t, &txtar.Archive{Files: []txtar.File{
					{Name: "accessc.toml", Data: []byte(b[2])}, {Name: ".jp/config.toml", Data: []byte(below)},
				}}).Run(t)
				if out.Failed {
					t.Errorf("%s\n%s", b[2], out.Findings)
				}
			})
		}
	}
}

// tools are the tools with rules in a configuration that does not say what they start.
func tools(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\[+tools\.(\w+)\.access`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) && !strings.Contains(text, "[tools."+m[1]+"]\n") {
			out = append(out, m[1])
		}
	}
	return out
}
