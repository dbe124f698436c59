package allow

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/ir"
)

// startups are places of a home whose contents programs outside of a sandbox start or obey.
var startups = []string{
	".profile", ".login", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".kshrc", ".cshrc", ".tcshrc", ".xprofile", ".xinitrc", ".xsession", ".pam_environment", ".config/fish", ".config/autostart", ".config/systemd",
	".config/environment.d", ".config/git", ".gitconfig", ".config/nvim", ".vimrc", ".vim", ".emacs", ".emacs.d", ".config/emacs", ".tmux.conf",
	".inputrc", ".npmrc", ".pypirc", ".netrc", ".local/bin", ".local/share/systemd", "bin", ".cargo/config.toml", ".cargo/config", "Library/LaunchAgents",
	// Settings of clients, which name programs to start.
	".claude.json", ".config/Claude", ".codeium/windsurf/mcp_config.json", ".copilot/mcp-config.json", ".config/Code/User", ".cursor/mcp.json",
	"Library/Application Support/Claude", "Library/Application Support/Code/User",
	// Files that programs load as code.
	".config/direnv", ".local/share/direnv", ".ipython", ".gradle/init.gradle", ".gradle/init.d", ".config/mise", ".gdbinit", ".config/gdb", ".hgrc",
	".config/hg", ".Rprofile", ".forward", "go/bin", ".local/lib",
}

// credentials are places of a home by which services know the user, besides those that policies call sensitive.
var credentials = []string{
	".config/gh/hosts.yml", ".cargo/credentials.toml", ".cargo/credentials", ".vault-token", ".pgpass", ".my.cnf", ".password-store",
	".local/share/keyrings", ".azure", ".config/rclone", ".claude.json",
}

// startsPrograms reports whether programs are started from a place outside of the workspace, or by its
// contents, such as a directory of PATH or the settings of a shell; or whether one lies in it.
func (b Bounds) startsPrograms(abs string) bool {
	meets := func(place string) bool { return ir.Within(abs, place) || ir.Within(place, abs) }
	packages := func(s string) bool { return s == "site-packages" || s == "dist-packages" }
	if slices.ContainsFunc(strings.Split(abs, "/"), packages) {
		return true // Python runs the lines of *.pth files
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && meets(path.Clean(filepath.ToSlash(dir))) {
			return true
		}
	}
	home := b.home()
	if home == "" {
		return false
	}
	for _, g := range b.View.Protected() {
		if meets(path.Join(home, g.Path)) {
			return true
		}
	}
	return slices.ContainsFunc(startups, func(s string) bool { return meets(path.Join(home, s)) })
}

// leaves are programs that have others act outside of the sandbox, or as another user.
var leaves = reasons(map[string]string{
	"acts as another user":                      "sudo sudoedit su pkexec doas runuser sg newgrp setpriv gosu su-exec ksu run0 capsh runas psexec",
	"changes the account of a user":             "chsh chfn passwd gpasswd usermod useradd chage dscl",
	"acts in namespaces outside of the sandbox": "nsenter",
	"has a service act, which is root":          "docker nerdctl ctr crictl snap lxc incus pkcon pkmon fwupdmgr udisksctl timedatectl hostnamectl localectl homectl portablectl",
	"has a service act":                         "podman buildah flatpak flatpak-spawn distrobox toolbox limactl colima systemd-run systemctl loginctl machinectl networkctl resolvectl nmcli bluetoothctl launchctl sc schtasks wmic gsettings dconf emacsclient",
	"has services act":                          "busctl dbus-send dbus-monitor gdbus qdbus qdbus6",
	"has a service act later":                   "at batch crontab anacron",
	"has a server act that is not confined":     "tmux screen zellij dtach abduco",
	"has the desktop act":                       "xdg-open gio gtk-launch kde-open kde-open5 gnome-open exo-open dex open osascript shortcuts automator xdotool ydotool wmctrl start explorer",
})

// reasons turns words by reason into reasons by word.
func reasons(by map[string]string) map[string]string {
	out := map[string]string{}
	for why, words := range by {
		for _, word := range strings.Fields(words) {
			out[word] = why
		}
	}
	return out
}
