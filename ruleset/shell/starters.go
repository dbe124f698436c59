package shell

import (
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// starters are programs that start others, or write files, in ways that no table lists, by the
// reason. A rule must spell out their first argument, and every option behind it.
func starters() map[string]string {
	return startersOnce.Get(func() map[string]string {
		out := map[string]string{}
		for _, r := range []struct{ why, names string }{
			{"runs commands", "tox nox systemd-run setpriv bwrap firejail proot fakeroot fakechroot faketime perf " +
				"valgrind hyperfine entr watchexec parallel rlwrap unbuffer xvfb-run dbus-run-session dbus-launch " +
				"setarch linux32 linux64 i386 x86_64 uname26 prlimit choom numactl cgexec schedtool eatmydata " +
				"torsocks torify tsocks proxychains proxychains4 catchsegv sg newgrp ssh-agent gpg-agent cpulimit " +
				"stap bpftrace trace-cmd rr act dagger earthly op doppler infisical dotenv chamber aws-vault " +
				"envconsul consul nodemon concurrently cross-env npm-run-all run-s run-p foreman honcho supervisord " +
				"runit runsv s6-svscan daemonize tini dumb-init gosu su-exec fzf sk lftp yt-dlp youtube-dl aria2c " +
				"tig lazygit nnn ranger mc invoke inv fab"},
			{"runs commands on other hosts, and here by its options", "ssh autossh mosh sshpass"},
			{"runs commands on hosts", "ansible ansible-playbook pssh pdsh clush"},
			{"runs commands in a cluster", "oc k9s helmfile kustomize skaffold tilt istioctl argocd flux minikube " +
				"kind k3d"},
			{"runs commands in other namespaces",
				"unshare nsenter ip lxc-attach lxc incus machinectl distrobox toolbox"},
			{"runs commands in another root", "chroot schroot debootstrap"},
			{"runs commands as another user", "pkexec run0 sudoedit"},
			{"runs commands later", "at batch crontab atd anacron"},
			{"runs commands by its addresses", "socat"},
			{"runs commands by its options", "nc ncat netcat openocd logrotate"},
			{"runs commands, and writes files", "strace ltrace"},
			{"runs all programs of a directory", "run-parts"},
			{"runs a shell", "script screen tmux zellij byobu capsh nix-shell scriptreplay"},
			{"runs a shell of another user", "su runuser"},
			{"runs programs", "buck buck2 pants please start-stop-daemon ld.so ld-linux.so ld-linux-x86-64.so " +
				"ld-linux-aarch64.so ld-musl-x86_64.so snap flatpak wine wine64 qemu-x86_64 qemu-aarch64 ldd"},
			{"starts containers with files of the host",
				"nerdctl buildah runc crun ctr crictl singularity apptainer docker-compose podman-compose"},
			{"starts programs by its options", "scp sftp rsync rclone svn git-svn man apropos whatis info zip " +
				"7z 7za 7zr rar cpio pax bsdtar gtar tcpdump tshark dumpcap gpg gpg2 sdiff diff3 zless zmore bzless " +
				"bzmore xzless xzmore " +
				"exiftool latexmk mutt neomutt nmh ugrep ug lynx w3m links elinks dpkg-deb rpm rpmbuild logger wall " +
				"minicom cu"},
			{"starts programs", "more most ftp tftp telnet mail mailx xdg-open open gio gnome-open sensible-browser " +
				"sensible-editor sensible-pager x-www-browser x-terminal-emulator editor pager run-mailcap see"},
			{"starts programs and writes files", "less"},
			{"starts programs by names of formats", "magick convert mogrify identify composite"},
			{"starts a pager", "help loginctl timedatectl hostnamectl coredumpctl"},
			{"starts a pager by its options", "ag ack bat batcat delta"},
			{"starts a linker by its options", "rustc swiftc zig"},
			{"starts virtual machines", "vagrant lima limactl colima"},
			{"starts services", "launchctl service rc-service initctl"},
			{"asks services to act", "dbus-send busctl gdbus qdbus"},
			{"runs plugins", "protoc buf clang-tidy rubocop packer"},
			{"runs the code of a configuration",
				"webpack rollup vite esbuild parcel babel mocha ava tap nyc c8 playwright cypress next nuxt astro " +
					"gulp grunt karma stylelint tailwindcss postcss rspec jekyll rails flask django-admin celery " +
					"gunicorn uvicorn alembic sphinx-build mkdocs jupyter coverage twine hatch pdm rye pixi conda " +
					"mamba micromamba"},
			{"runs aliases", "glab jj"},
			{"runs aliases and extensions", "hg"},
			{"runs credential programs", "aws az"},
			{"runs programs of its configuration", "gcloud gsutil"},
			{"runs providers and provisioners", "terragrunt pulumi sam serverless"},
			{"downloads and runs packages", "npx pnpx bunx uvx pipx corepack"},
			{"runs programs of packages", "uv poetry pipenv bundle composer mix rebar3 stack cabal sbt lein clj " +
				"clojure nuget dart flutter swift xcodebuild xcrun"},
			{"runs the build of packages", "gem luarocks cpan cpanm opam"},
			{"runs recipes", "just task rake scons waf"},
			{"runs build scripts", "ant"},
			{"runs hooks", "pre-commit husky lefthook lint-staged"},
			{"runs scripts", "lerna nx turbo rush moon wireit nmap yum dnf zypper pacman apk emerge direnv mise asdf " +
				"pyenv rbenv nodenv nvm volta fnm"},
			{"runs maintainers' scripts", "apt-get aptitude dpkg-reconfigure"},
			{"runs builds", "nix nix-build nix-env"},
			{"runs toolchains", "rustup"},
			{"runs annotation processors", "kotlinc scalac"},
			{"runs filters", "pandoc"},
			{"loads libraries by its options", "openssl nm ar ranlib strip objcopy objdump"},
			{"loads plugins by its options", "ld gold lld ld.lld cpp"},
			{"writes files", "unzip"},
			{"debugs programs", "dlv"},
			{"runs tools, also with other policies", "accessc"},
			{"runs an agent", "claude codex gemini opencode copilot cursor-agent aider goose amp crush"},
		} {
			for name := range strings.FieldsSeq(r.names) {
				out[name] = r.why
			}
		}
		return out
	})
}

var startersOnce once.Value[map[string]string]

// unlisted is the reason of the doubts about a program that no table has.
const unlisted = "is in no list of programs"

// recipes are starters whose operands are names of steps, in which a colon is a letter.
var recipes = []string{"just", "task", "rake", "nx", "turbo", "moon", "wireit", "invoke", "inv", "mage"}

// starter takes the words of a program apart of which no table lists the options. A rule must spell out the first of
// them, every option and setting, and each operand that may be code, or a name of elsewhere.
// See decision D131.
func (a *analysis) starter(p *Part, why string, from int, colon bool) {
	if from < len(p.Words) {
		p.doubt(from, why)
	}
	for i := from + 1; i < len(p.Words); i++ {
		switch w := p.Words[i]; {
		case w.MayBeOption() || strings.HasPrefix(w.Text, "+"):
			p.doubt(i, "an option of a program that "+why)
		case strings.Contains(w.Text, "="):
			p.doubt(i, "a setting of a program that "+why)
		case strange(w, colon):
			p.doubt(i, "an operand of a program that "+why)
		}
		p.perhaps(i, true)
	}
	a.started(p, max(from-1, 1))
}

// strange reports whether an operand may be code, a file of arguments, or a name of elsewhere: a path or an address,
// or a pattern that the program itself expands.
func strange(w Word, colon bool) bool {
	switch {
	case given(w.Text), w.Wide, strings.Contains(w.Text, ":/"), !colon && strings.Contains(w.Text, ":"):
		return true
	case w.Form == Pattern:
		return false
	}
	return strings.ContainsAny(w.Text, " \t\n'\"\\`$;&|<>"+patterns)
}

// patterns are the characters of patterns that programs expand by themselves.
const patterns = "{}[]()*?!"
