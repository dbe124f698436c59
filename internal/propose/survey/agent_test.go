package survey

import (
	"strings"
	"testing"
)

// TestPlace: an agent's tool reads where the program is installed below the home: by the preset that has the place,
// by none further where its own has it, and else by a rule on no more than the packages or the directory. Cause:
// codex of nvm and of a prefix of the user's did not start.
func TestPlace(t *testing.T) {
	for at, want := range map[string]string{
		".nvm/versions/node/v20/bin/codex .nvm/versions/node/v20/lib/node_modules/@openai/codex/bin/codex.js": `"preset:node"`,
		".volta/bin/codex .volta/bin/volta-shim":                                       `"preset:node"`,
		".local/bin/claude .local/share/claude/versions/1":                             "",
		".local/bin/codex .local/lib/node_modules/@openai/codex/bin/codex.js":          `"~/.local/lib/node_modules", external = true, read = true, execute = true`,
		".npm-global/bin/codex .npm-global/lib/node_modules/x/node_modules/y/codex.js": `"~/.npm-global/lib/node_modules", external`,
		"bin/codex src/codex/target/release/codex":                                     `"~/src/codex/target/release", external`,
		"codex codex": "",
	} {
		for _, name := range []string{"claude-code", "codex"} {
			if strings.Contains(at, "claude") != (name == "claude-code") {
				continue
			}
			tool, err := Agent(t.TempDir(), name)
			if err != nil {
				t.Fatal(err)
			}
			before := tool.Block(name)
			link, file, _ := strings.Cut(at, " ")
			tool.Place(link, file)
			switch after := tool.Block(name); {
			case want == "" && after != before:
				t.Errorf("%s: needs nothing, and has\n%s", at, after)
			case !strings.Contains(after, want):
				t.Errorf("%s: lacks %s\n%s", at, want, after)
			}
		}
	}
}
