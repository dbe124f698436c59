package shell

import "strings"

// Words by which programs start the command behind them, launchers that start the command in their operands, and
// programs whose operands are names of steps where a word of these stands. Each list has a blank around every name.
const (
	runWords  = " run exec execute dlx shell "
	launchers = " npx pnpx bunx uvx systemd-run setpriv bwrap firejail proot fakeroot fakechroot faketime perf " +
		"valgrind rlwrap unbuffer xvfb-run dbus-run-session dbus-launch setarch linux32 linux64 i386 x86_64 " +
		"uname26 prlimit choom numactl cgexec schedtool eatmydata torsocks torify tsocks proxychains " +
		"proxychains4 catchsegv sg ssh-agent cpulimit trace-cmd rr entr watchexec unshare nsenter chroot " +
		"schroot pkexec run0 runuser strace ltrace daemonize tini dumb-init gosu su-exec start-stop-daemon " +
		"wine wine64 qemu-x86_64 qemu-aarch64 ld.so ldd ssh autossh mosh sshpass dotenv cross-env envconsul " +
		"xcrun hyperfine concurrently flatpak-spawn "
	steppers = " just task rake nx turbo moon wireit invoke inv mage gh gcloud pre-commit npm pnpm yarn "
	// skipping are the programs with an operand of their own in front of the command: a container, a profile.
	skipping = " docker podman nerdctl docker-compose podman-compose kubectl oc lxc incus aws-vault chamber rustup " +
		"singularity apptainer direnv chroot gosu su-exec sg faketime perf " +
		"trace-cmd rr ssh autossh mosh "
	// crossing are programs that start a command behind "x".
	crossing = " mise npm pnpm yarn "
	// several are launchers of which each operand is a command.
	several = " hyperfine concurrently "
	// alone are the options that take no value, whichever program has them.
	alone = " -it -ti --rm --tty --interactive --quiet --verbose --detach --yes "
)

// among reports whether a list has a word.
func among(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }

// started adds the commands that may begin in the words of a program which no table knows, from an index on: behind a
// word such as "run", or in its operands where it is a launcher. An option may have the next word for its value, so
// that the command begins later.
// See decision D133.
func (a *analysis) started(p *Part, from int) {
	name := base(p.Words[0].Text)
	launcher := among(launchers, name)
	at := from - 1
	if !launcher {
		if at = p.runWord(name, from); at < 0 {
			return
		}
	}
	skip, seen, values := 0, 0, 0
	if among(skipping, name) {
		skip = 1
	}
	option, dashes, done, named := false, false, false, false
	for i := at + 1; i < len(p.Words); i++ {
		w := p.Words[i]
		switch {
		case w.Is("--") && !dashes:
			dashes = true
			a.begins(p, i+1)
		case w.MayBeOption():
			option = !strings.Contains(w.Text, "=") && !among(alone, w.Text)
			continue
		case done:
			if named && runnable(w) || among(several, name) {
				a.begins(p, i)
			}
		case strings.Contains(w.Text, "="): // a setting, which a rule spells out
		default:
			if option && seen <= skip {
				values++
			}
			if seen >= skip {
				a.begins(p, i)
				done = seen >= skip+values
				named = done && !launcher && skip == 0 && !listed(base(w.Text))
			}
			seen++
		}
		option = false
	}
}

// runnable reports whether a word behind a name that no list has is a command, and that name one of a place for it: a
// shell, an interpreter, a program that starts another, a file of the directory.
func runnable(w Word) bool {
	name := base(w.Text)
	e := program(name)
	return shells()[name] || interprets(name) || e != nil && e.wraps || strings.HasPrefix(w.Text, "./")
}

// runWord is the index of the first word by which a program starts a command, -1 without such a word.
func (p *Part) runWord(name string, from int) int {
	for i := from; i < len(p.Words); i++ {
		switch w := p.Words[i]; {
		case w.Form != Literal:
		case w.Text == "run" && among(steppers, name):
		case among(runWords, w.Text), w.Text == "x" && among(crossing, name):
			return i
		}
	}
	return -1
}

// begins adds the command that begins with a word. Where a rule spells out its name, the doubts about its further words
// are doubts of the program around it, unless a list knows the command.
func (a *analysis) begins(p *Part, at int) {
	if at >= len(p.Words) {
		return
	}
	if a.begun++; a.begun > maxBegun {
		p.doubt(Always, "too many commands may begin in its words")
		return
	}
	in := a.program(p.Words[at:], p.Dirs)
	if len(in.Words) > 0 {
		name := base(in.Words[0].Text)
		in.Outer = !listed(name) || starters()[name] != ""
	}
	in.From = at
	p.add(in)
}

// maxBegun bounds the commands that begin in words of other programs.
const maxBegun = 64
