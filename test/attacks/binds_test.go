//go:build linux

package attacks_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/await"
)

// bindsPlaces has the user mount places of the workspace, and a target, under other names before the start.
const bindsPlaces = `
b() { mount --bind "$1" "$2" || exit 77; }
b secret sb; b .env envb; b . rb; b .git gb; b accessc.toml one; b .. up; b src self; b "$OUT" other
mount -t tmpfs disk disk && mkdir disk/secret disk/twice && echo TOP-SECRET > disk/secret/k && b disk/secret ds || exit 77
for f in sb/k envb rb/secret/k up/ws/.env ds/k; do
	$AS can -C . t read $f | grep -q '^no ' || echo LEAK can says yes to $f
done
$AS can -C . t read other/private | grep -q '^yes ' || echo LEAK can says no to what only the workspace has
exec "$@"
`

// bindsLate does so while the tool runs, with accessc's state as well.
const bindsLate = `
"$@" & tool=$!
read -r ready < src/ready
for m in secret:sb .env:envb .:rb .git:gb accessc.toml:one ..:up "$AT/home/.state:st"; do
	mount --bind "${m%:*}" "${m##*:}" || echo LEAK no mount of $m
done
echo x > src/gone
wait $tool
`

// readsBinds tries all names of what no tool may read or write.
const readsBinds = `#!/bin/sh
got() { x=; read -r x < "$1"; [ "$x" ]; }
for f in secret/k sb/k .env envb rb/secret/k rb/.env up/ws/secret/k disk/secret/k ds/k up/home/.state/x; do
	got $f && echo "LEAK $f: $x"
done 2>/dev/null
for f in one rb/accessc.toml rb/.git/hooks/h gb/hooks/h rb/.envrc up/ws/.envrc; do
	echo evil >> $f && echo "LEAK wrote $f"
done 2>/dev/null
ls st/accessc 2>/dev/null && echo LEAK lists st/accessc
got src/a && echo "GOOD src/a"
got other/private && echo "GOOD other"
true
`

// TestBinds: a mount of a denied place, or of one around it, below a grant opened it under its own name where only a ruleset confines the
// tool, and under the other name where a supervisor does.
func TestBinds(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	const denied = "{ path = \"secret\" },\n{ path = \".env\" },\n{ path = \"disk/secret\" },\n]"
	const judged = "access.fs = [\n{ path = \".\", read = true, write = true, execute = true },\n"
	for name, toml := range map[string]string{
		"ruleset": "access.fs = [\n{ path = \".\", read = true, execute = true },\n" + denied,
		"judged":  judged + denied,
		"late":    judged + denied,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool, script := readsBinds, bindsPlaces
			if name == "late" {
				tool, script = strings.Replace(tool, "\n", "\necho x > src/ready; read -r x < src/gone\n", 1), bindsLate
			}
			s := scene{tool: tool, toml: toml, setup: func(p *place) {
				for _, f := range []string{"secret/k", ".env"} {
					p.write(f, secret)
				}
				for _, f := range []string{"src/a", "envb", "one", ".git/HEAD"} {
					p.write(f, "fine")
				}
				p.write("other/private", "fine")
				p.fifo("src/ready")
				p.fifo("src/gone")
				for _, d := range []string{"sb", "st", "rb", "gb", "up", "self", "other", "disk", "ds", ".git/hooks"} {
					p.mkdir(d)
				}
			}}
			out := mounted(t, newPlace(t, s, accessc(t), 0), script)
			if !strings.Contains(out, "GOOD src/a") || !strings.Contains(out, "GOOD other") {
				t.Errorf("the tool cannot read beside them\n%s", out)
			}
		})
	}
}

// bindsState has accessc's state and the directory of temporary files in directories of the workspace, named elsewhere.
const bindsState = `
mount --bind st "$STATE" && mount --bind tmp "$TMP" || exit 77
export XDG_STATE_HOME="$STATE" TMPDIR="$TMP"
"$@"
`

// usesState looks for what other tools keep.
const usesState = `#!/bin/sh
for f in st/accessc/workspaces/*; do
	[ -e "$f" ] && echo "LEAK $f"
	echo {} > $f/approvals.json && echo "LEAK wrote $f/approvals.json"
done 2>/dev/null
ls st/accessc 2>/dev/null && echo LEAK lists st/accessc
for f in tmp/accessc-*; do
	[ -e "$f" ] && echo "LEAK $f"
done
case $TMPDIR in "$AT"*) echo LEAK TMPDIR is $TMPDIR;; esac
grep -q fine src/a && echo "GOOD src/a"
true
`

// TestBoundState: by a mount, a tool with write access to the workspace had the approvals, other tools' homes, and their temporary files.
func TestBoundState(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	for name, caps := range map[string]string{"ruleset": "read = true, execute = true", "judged": "read = true, write = true, execute = true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene{tool: usesState, toml: "access.env = [{ name = \"AT\", read = true }]\naccess.fs = [\n{ path = \".\", " + caps + " },\n]", setup: func(p *place) {
				p.write("src/a", "fine")
				p.mkdir("st")
				p.mkdir("tmp")
				p.make(p.dir + "/state")
				p.make(p.dir + "/temp")
			}}
			p := newPlace(t, s, accessc(t), 0)
			if out := mounted(t, p, bindsState); !strings.Contains(out, "GOOD src/a") {
				t.Errorf("the tool cannot read beside it\n%s", out)
			}
		})
	}
	t.Run("source", func(t *testing.T) {
		t.Parallel()
		s := scene{tool: usesState, toml: "access.fs = [\n{ path = \".\", read = true, write = true, execute = true },\n]"}
		p := newPlace(t, s, accessc(t), 0)
		p.mkdir("st")
		p.make(p.dir + "/bound")
		out := mounted(t, p, `mount --bind . ../bound && cd ../bound || exit 77; export XDG_STATE_HOME="$AT/ws/st"; $AS exec --no-prompt t 2>&1; true`)
		if !strings.Contains(out, "contains accessc's own state") {
			t.Errorf("the workspace is around the state by another name:\n%s", out)
		}
	})
}

// mounted starts the tool after a script has mounted something where no other process sees it.
func mounted(t *testing.T, p *place, script string) string {
	t.Helper()
	cmd := p.command(await.Context(t), "exec", "-C", p.ws, "--no-prompt", "t")
	id := strconv.Itoa(p.uid)
	as := []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--", cmd.Path}
	cmd.Env = append(cmd.Env, "AS="+strings.Join(as, " "), "OUT="+p.outside, "AT="+p.dir, "STATE="+p.dir+"/state", "TMP="+p.dir+"/temp")
	cmd.Path, cmd.Args = "/bin/sh", append(append([]string{"sh", "-c", script, "sh"}, as...), cmd.Args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	data, err := cmd.CombinedOutput()
	out := string(data)
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 77 {
		t.Skip(out)
	}
	if err != nil || strings.Contains(out, "LEAK") || strings.Contains(out, secret) {
		t.Errorf("%v\n%s", err, out)
	}
	return out
}
