package vscode

import (
	"strings"
)

// otherKeys are keys below chat.tools that are not about which commands are approved.
var otherKeys = strings.Fields(`
	edits.autoApprove global.autoApprove memory.enabled terminal.autoApproveWorkspaceNpmScripts
	terminal.autoReplyToPrompts terminal.backgroundNotifications terminal.blockDetectedFileWrites
	terminal.detachBackgroundProcesses terminal.enforceTimeoutFromModel terminal.idlePollInterval
	terminal.idleSilenceTimeoutMs terminal.outputCompaction terminal.outputDeltas terminal.outputLocation
	terminal.preventShellHistory terminal.shellIntegrationTimeout terminal.terminalProfile.linux
	terminal.terminalProfile.osx terminal.terminalProfile.windows urls.autoApprove`)

// oldKeys are those that VS Code reads in place of the new one, or beside it.
var oldKeys = strings.Fields(`chat.agent.terminal.allowList chat.agent.terminal.autoApprove chat.agent.terminal.denyList
	github.copilot.chat.agent.terminal.allowList github.copilot.chat.agent.terminal.denyList`)
