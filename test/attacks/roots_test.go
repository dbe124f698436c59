//go:build linux

package attacks_test

import (
	"os"
	"strings"
	"testing"
)

// rootsTargets are all approved before anything is mounted there.
const rootsTargets = `
{ path = "~/far/ws", external = true, read = true, write = true },
{ path = "~/over", external = true, read = true, write = true },
{ path = "~/point", external = true, read = true, write = true },
{ path = "~/shared", external = true, read = true, write = true },
{ path = "~/up", external = true, read = true },
`

// rootsPairs are targets of which the mount makes a second name of the first, and others that stay open.
const rootsPairs = `
{ path = "~/first", external = true, read = true },
{ path = "~/first/closed", external = true },
{ path = "~/second", external = true, read = true },
{ path = "~/self", external = true, read = true },
`

// readsRoots tries other names of what no tool may read or write. In memory that is shared a tool has a directory of
// the run, by any name.
const readsRoots = `#!/bin/sh
if [ -e late ] || [ -e latetwins ]; then echo x > src/ready; read -r x < src/gone; fi
got() { x=; read -r x < "$1"; [ "$x" ]; }
for d in far/ws over point shared up up/ws first second; do
	for f in secret/k k .env shared closed/k; do
		got "$AT/home/$d/$f" && echo "LEAK $d/$f: $x"
	done
	for f in accessc.toml .git/hooks/h; do
		echo evil >> "$AT/home/$d/$f" && [ $d != shared ] && echo "LEAK wrote $d/$f"
	done
done 2>/dev/null
for f in "$HOME/k" link/k rel/k deep/k m/shared /usr/share/*/k; do
	got "$f" && echo "LEAK $f: $x"
done 2>/dev/null
[ -e layer ] && for d in own/accessc "$HOME/d/.config/accessc"; do
	mkdir "$d"; echo evil > "$d/config.toml" && echo "LEAK wrote $d"
done 2>/dev/null
[ -e twins ] || [ -e latetwins ] && {
	for f in secret/k m/sub/k /usr/share/*/k; do got $f && echo "LEAK $f: $x"; done
	for d in m/hooks m/sub .git/hooks; do echo evil > $d/h && echo "LEAK wrote $d/h"; done
	[ -e twins ] && echo evil > src/hk/h && echo "LEAK wrote src/hk/h"
} 2>/dev/null
got src/a && echo "GOOD src/a"
got "$AT/home/self/a" && echo "GOOD self"
true
`

// approveRoots approves all targets of the policy.
const approveRoots = `
$AS approve --yes -C . $(sed -n 's/.*"\(~[^"]*\)", external.*/\1/p' accessc.toml) >/dev/null || exit 1
`

// rootsMounts has other places of the policy show at the targets and below the workspace.
const rootsMounts = `
b() { mount --bind "$1" "$2" || exit 77; }
o() { mount -t overlay o -o lowerdir="$1" "$2" || exit 77; }
s=$PWD/secret
h=$($AS home path -C "$PWD" t) && mkdir -p "$h" || exit 1
mount -t tmpfs s /dev/shm && echo TOP-SECRET > /dev/shm/shared || exit 77
b ~/self ~/self
twins() {
	b ~/self ~/self
	mkdir ../lm && mount -t tmpfs l ../lm && mkdir ../lm/sub ../lm/hooks && echo TOP-SECRET > ../lm/sub/k || exit 77
	chmod -R a+rwX ../lm; b ../lm/sub secret; b ../lm m; b ../lm/hooks .git/hooks; b src/hk .vscode
	base=$(ls -d /usr/share/*/ | head -1) && b ../lm/sub "$base"
}
targets() { b "$AT" ~/far; o "$s:$PWD/src" ~/over; b secret ~/point; b /dev/shm ~/shared; b "$AT" ~/up; }
pairs() {
	b ~/first ~/second; b /dev/shm m
	b secret "$h"; base=$(ls -d /usr/share/*/ | head -1) && b secret "$base"
	ln -s "$s" ../lk; mkdir ../lay
	o "$AT/lk:$PWD/src" link; o secret:src rel; o "$s:$PWD/src" ../lay; o "$AT/lay:$PWD/src" deep
}
`

// rootsRefused has the start say of each target why no tool gets it.
const rootsRefused = rootsMounts + `
targets
"$@" && echo LEAK it starts
true
`

// rootsClosed asks about each name, and starts the tool.
const rootsClosed = rootsMounts + `
pairs
for f in ~/second/closed/k ~/second/a link/k rel/k deep/k m/shared "${base}k"; do
	$AS can -C . t read "$f" | grep -q '^no ' || echo LEAK can says yes to $f
done
for f in src/a ~/self/a ~/first/a; do
	$AS can -C . t read "$f" | grep -q '^yes ' || echo LEAK can says no to $f
done
exec "$@"
`

// rootsLayer has the directory of the user's layer, which is not there yet, show in the workspace and in a private home.
const rootsLayer = `
h=$($AS home path -C "$PWD" t) && mkdir -p "$h/d" || exit 1
mkdir -p ~/.config && mount --bind ~/.config own && mount --bind ~ "$h/d" && mount --bind ~/self ~/self || exit 77
for f in own/accessc/config.toml "$h/d/.config/accessc/config.toml"; do
	$AS can -C . t create "$f" | grep -q '^no ' || echo LEAK can says yes to $f
done
"$@"
[ ! -e ~/.config/accessc/config.toml ] || echo LEAK the layer is there
`

// rootsDenied has the place of a rule that denies show files which another rule grants.
const rootsDenied = rootsMounts + `
b ~/self ~/self; b src link
$AS explain -C . t 2>&1 | grep -q 'error.ACC047' || echo LEAK explain says nothing of it
"$@" && echo LEAK it starts
true
`

// rootsTwins has two mounts show the same files, of which the policy denies those below the narrower one, and a
// protected place show a directory of the tool's.
const rootsTwins = rootsMounts + `
twins
for f in m/sub/k src/hk/h .git/hooks/h; do
	$AS can -C . t create "$f" | grep -q '^no ' || echo LEAK can says yes to $f
done
exec "$@"
`

// rootsTwinsLate has these mounts appear while the tool runs.
const rootsTwinsLate = rootsMounts + `
"$@" & tool=$!
read -r ready < src/ready
twins
echo x > src/gone
wait $tool
`

// rootsLate mounts while the tool runs.
const rootsLate = rootsMounts + `
"$@" & tool=$!
read -r ready < src/ready
targets; pairs
echo x > src/gone
wait $tool
`

// TestRoots: a target or a home that is a mount point, or lies below a mount that begins above it, was compared with
// no other place: by its name the tool had what the policy denies in the workspace. Overlays were open whose layers
// are links, relative, or on overlays; so was a mount of the workspace below the base. Of two
// mounts that show the same the narrower was closed, and what a policy denies there was open in the other. The directory of the user's layer was no place at all.
func TestRoots(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	const all = "{ path = \".\", read = true, execute = true },\n"
	const judged = "{ path = \".\", read = true, write = true, execute = true },\n"
	const denied = "{ path = \"secret\" },\n{ path = \".env\" },\n"
	for name, c := range map[string]struct{ fs, script string }{
		"refused": {judged + denied + rootsTargets, rootsRefused},
		"ruleset": {all + denied + rootsPairs, rootsClosed},
		"judged":  {judged + denied + rootsPairs, rootsClosed},
		"late":    {judged + denied + rootsTargets + rootsPairs, rootsLate},
		"layer":   {judged + rootsPairs, rootsLayer},
		"denied":  {judged + "{ path = \"link\" },\n" + rootsPairs, rootsDenied},
		"twins":   {judged + denied + rootsPairs, rootsTwins},

		"latetwins": {judged + denied + rootsPairs, rootsTwinsLate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			toml := "access.home = \"private\"\naccess.env = [{ name = \"AT\", read = true }]\naccess.fs = [\n" + c.fs + "]"
			p := newPlace(t, scene{tool: readsRoots, toml: toml, setup: setRoots}, accessc(t), 0)
			p.write(name, "") // the tool looks which it is
			out := mounted(t, p, approveRoots+c.script)
			if name == "denied" {
				if !strings.Contains(out, "error[ACC047]") || !strings.Contains(out, "of which . grants more") {
					t.Errorf("the rule is not refused\n%s", out)
				}
				return
			}
			if name == "refused" {
				if n := strings.Count(out, "error[ACC046]"); n != 5 || strings.Count(out, " under another name") != 5 {
					t.Errorf("%d targets are refused, not 5\n%s", n, out)
				}
			} else if !strings.Contains(out, "GOOD src/a") || !strings.Contains(out, "GOOD self") {
				t.Errorf("the tool cannot read beside them\n%s", out)
			}
		})
	}
}

// setRoots makes the workspace and the targets.
func setRoots(p *place) {
	for _, f := range []string{"secret/k", ".env", p.home + "/first/closed/k"} {
		p.write(f, secret)
	}
	for _, f := range []string{"src/a", ".git/HEAD", p.home + "/self/a", p.home + "/first/a"} {
		p.write(f, "fine")
	}
	for _, d := range []string{"far/ws", "over", "point", "shared", "up", "second"} {
		p.make(p.home + "/" + d)
	}
	for _, d := range []string{".git/hooks", "link", "rel", "deep", "m", "own", ".vscode", "src/hk"} {
		p.mkdir(d)
	}
	p.fifo("src/ready")
	p.fifo("src/gone")
}
