package gemini

import (
	"strings"
)

// geminiKeys are keys of settings.json that are about something else than which commands run, geminiToolKeys those of
// tools.
var (
	geminiKeys = strings.Fields(`
		$schema admin adminPolicyPaths advanced agents billing context contextManagement experimental
		extensions general hooks hooksConfig ide mcp model modelConfigs output policyPaths privacy security
		skills telemetry ui useWriteTodos`)
	geminiToolKeys = strings.Fields(`
	callCommand disableLLMCorrection discoveryCommand sandbox sandboxAllowedPaths sandboxNetworkAccess shell
	truncateToolOutputThreshold useRipgrep`)
)
