package nono

import (
	"strings"
)

// nonoGroups are groups that only open places, or deny places that no rule grants.
var (
	openingGroups = strings.Fields(`
		system_write_linux system_write_macos linux_runtime_state linux_sysfs_read linux_temp_read
		user_caches_macos user_caches_linux claude_cache_linux user_tools node_runtime opencode_linux
		python_runtime rust_runtime go_runtime go_runtime_linux go_runtime_macos java_runtime homebrew_macos
		homebrew_linux claude_code_macos codex_macos claude_code_linux vscode_macos vscode_linux nix_runtime
		git_config`)
	coreGroups    = []string{"system_read_linux_core", "system_read_macos"}
	denyingGroups = strings.Fields(`
		deny_credentials deny_keychains_macos deny_keychains_linux deny_browser_data_macos
		deny_browser_data_linux deny_macos_private deny_shell_history deny_shell_configs`)
	commandGroups = []string{"dangerous_commands", "dangerous_commands_macos", "dangerous_commands_linux"}
)

// homeDenied are places of the home that required groups deny.
var homeDenied = []string{
	".1password", ".aws", ".azure", ".bash_history", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc",
	".config/BraveSoftware",
	".config/chromium", ".config/fish", ".config/gcloud", ".config/google-chrome", ".config/microsoft-edge",
	".config/op", ".config/opera",
	".config/vivaldi", ".credentials", ".docker", ".env", ".envrc", ".gcloud", ".git-credentials", ".gnupg", ".history",
	".keys", ".kube",
	".local/share/keyrings", ".mozilla/firefox", ".netrc", ".npmrc", ".op", ".password-store", ".pki", ".profile",
	".python_history", ".secrets",
	".ssh", ".terraform.d", ".vault-token", ".zlogin", ".zlogout", ".zprofile", ".zsh_history", ".zshenv", ".zshrc",
	"Library",
}
