package opencode

import (
	"strings"
)

// otherKeys are keys of opencode.json that are about something else than permissions.
var otherKeys = strings.Fields(`$schema attachment autoshare autoupdate command compaction disabled_providers enabled_providers
	enterprise experimental formatter instructions layout logLevel lsp model plugin provider reference references server
	share shell skills small_model snapshot subagent_depth tool_output username watcher`)

// agentKeys are such keys of an agent.
var agentKeys = strings.Fields(`
	color description disable hidden maxSteps mode model options prompt steps temperature top_p variant`)
