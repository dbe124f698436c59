package claudecode

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/suggest"
)

// otherSettings are the keys that are about something else than permissions: interface Settings of the npm package
// @anthropic-ai/claude-agent-sdk 0.3.330, whose types are those of Claude Code 2.1.330.
var otherSettings = strings.Fields(`
	$schema additionalMarketplaces advisorModel agent agentPushNotifEnabled allowAllClaudeAiMcps
	allowClaudeInChromeWithManagedMcp allowManagedHooksOnly allowManagedMcpServersOnly
	allowManagedPermissionRulesOnly allowNestedModelAccessUnderForceLogin allowedChannelPlugins
	allowedHttpHookUrls allowedMarketplaces allowedMcpServers allowedProviders alwaysThinkingEnabled
	apiKeyHelper appendPlugins askUserQuestionTimeout attribution attributionProject attributionProjectPolicy
	autoCompactEnabled autoCompactWindow autoContinueAtUsageLimit autoDreamEnabled autoMemoryDirectory
	autoMemoryEnabled autoMode autoScrollEnabled autoUpdatesChannel autoUploadSessions availableModels
	availableModelsMatch awsAuthRefresh awsCredentialExport bashEditDiffEnabled bashOutputMaxChars
	blockedMarketplaces channelsEnabled claudeMd claudeMdExcludes cleanupPeriodDays companyAnnouncements
	crossSessionInbound daemonColdStart defaultShell defaultView deniedMcpServers deniedModels
	desktopMcpServersListScope desktopSessionCleanupPeriodDays dialogExpiry disableAgentView disableAllHooks
	disableArtifact disableAutoMode disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources
	disableDeepLinkRegistration disableRemoteControl disableReplyCheck disableSideloadFlags
	disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows disabledMcpjsonServers editorMode
	effortLevel emojiCompletionEnabled enableAllProjectMcpServers enableArtifact enableWorkflows
	enabledMcpjsonServers enabledPlugins enforceAvailableModels env extraKnownMarketplaces fallbackModel
	fastMode fastModePerSessionOptIn feedbackDrafts feedbackSurveyRate fileCheckpointingEnabled fileSuggestion
	footerLinksRegexes forceLoginGatewayUrl forceLoginMethod forceLoginOrgUUID forceRemoteSettingsRefresh
	gatewayInternalNetworks gcpAuthRefresh hooks httpHookAllowedEnvVars idleCompaction includeCoAuthoredBy
	includeGitInstructions inputNeededNotifEnabled isolatePeerMachines keybindingFlavor language
	managedMcpServers managedSourcesBehavior maxEffortLevel maxProseWidth minimumVersion model modelOverrides
	modelPicker modelPricing modelSettings otelHeadersHelper outputStyle parentSettingsBehavior plansDirectory
	pluginConfigs pluginSuggestionMarketplaces pluginTrustMessage policyHelper prUrlTemplate
	precomputeCompactionEnabled preferredNotifChannel prefersReducedMotion prependPlugins processWrapper
	promptCacheTtl promptSuggestionEnabled proxyAuthHelper remote remoteControlAtStartup requiredMaximumVersion
	requiredMinimumVersion respectGitignore respondToBashCommands showClearContextOnPlanAccept
	showMessageTimestamps showThinkingSummaries showTurnDuration skillListingBudgetFraction
	skillListingMaxDescChars skillOverrides skipAutoPermissionPrompt skipDangerousModePermissionPrompt
	skipWebFetchPreflight spellcheck spinnerTipsEnabled spinnerTipsOverride spinnerVerbs sshConfigs
	sshHostCommands statusLine strictKnownMarketplaces strictPluginOnlyCustomization subagentPromptCacheTtl
	subagentStatusLine switchModelsOnFlag syncClaudeAiPlugins syncClaudeAiSkills syntaxHighlightingDisabled
	taskOutputMaxChars teammateMode terminalProgressBarEnabled terminalTitleFromRename theme timeFormat timeZone
	todoFeatureEnabled tui ultracode useAutoModeDuringPlan verbose viewMode vimInsertModeRemaps voice
	voiceEnabled wheelScrollAccelerationEnabled workflowKeywordTriggerEnabled workflowSizeGuideline worktree
	wslInheritsWindowsSettings`)

// confining are the keys that hold permissions, and keys inside of these.
var confining = strings.Fields(`
	permissions sandbox allow ask deny defaultMode additionalDirectories enabled network filesystem credentials
	allowedDomains deniedDomains allowRead denyRead allowWrite denyWrite allowManagedDomainsOnly
	disableBypassPermissionsMode excludedCommands autoAllowBashIfSandboxed allowUnsandboxedCommands
	blockReadsOutsideWorkingDirectories blockWritesOutsideWorkingDirectories denyInsteadOfPrompting`)

// unknownSettings are the keys of a document that the version does not have. A key that may be a misspelled or
// misplaced part of the permissions is not among them, and stays an error. See decision D197.
func unknownSettings(root *jsonc.Node) []string {
	var out []string
	for _, n := range root.Children('{') {
		if !slices.Contains(confining, n.Key) && suggest.Hint(n.Key, confining) == "" &&
			!slices.Contains(otherSettings, n.Key) {
			out = append(out, n.Key)
		}
	}
	return out
}
