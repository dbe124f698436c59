package claudecode

import (
	"fmt"
	"testing"

	"github.com/accessc/accessc/internal/agents/importer"
	"github.com/accessc/accessc/internal/agents/suite"
)

// Keys of the version and keys of none are no reason to stop; one that may be part of the permissions is.
func TestClaudeKeys(t *testing.T) {
	w := suite.NewWorld(t, Agent.Formats...)
	for key, good := range map[string]bool{
		"tui": true, "autoMode": true, "skipWorkflowUsageWarning": true, "allow": false, "permisions": false, "network": false,
	} {
		text := fmt.Sprintf(`{"permissions": {"allow": ["Bash(ls:*)"]}, %q: []}`, key)
		if _, err := w.Refusing("claude-code", text, importer.RefuseDenies); (err == nil) != good {
			t.Errorf("%s: got %v", key, err)
		}
	}
	if n := len(otherSettings); n != 182 {
		t.Errorf("%d keys, and the types of the version have 182 beside permissions and sandbox", n)
	}
}
