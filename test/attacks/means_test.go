//go:build linux

package attacks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/testbuild"
)

// A means is a program that confines tools by mounts, in place of accessc's own means.
type means struct {
	program string
	// target is the backend whose artifact has the ledger, and file the artifact.
	target, file string
	// user is the ordinary one whom root plays the scenes as.
	user int
	// fate picks that of a scene.
	fate func(fates) fate
	// start prepares starts of the tool of a disk that accept the gaps of its policy and no others.
	start func(*means, *disk) (starter, []string)
}

// A starter makes the start of a tool with arguments.
type starter func(context.Context, []string) *exec.Cmd

const nobody = 65534

var everyMeans = []*means{
	{"bwrap", "bubblewrap", "bubblewrap.json", nobody, func(f fates) fate { return f.bubblewrap }, byBubblewrap},
	// firejail starts nothing for nobody (firejail-users(5)).
	{"firejail", "firejail", "firejail.profile", 54321, func(f fates) fate { return f.firejail }, byFirejail},
	{"runc", "oci-mounts", "oci-mounts.json", nobody, func(f fates) fate { return f.containers }, byMounts},
	{"crun", "oci-mounts", "oci-mounts.json", nobody, func(f fates) fate { return f.containers }, byMounts},
}

// leaks has the beginnings of lines about leaks that a ledger foretells, each with its cell: the resource, the rule, the aspect, and the gap or the word assumption.
// One without a cell stands for a line that is no leak there.
type leaks map[string]string

// foretold reports whether a line is about one of the leaks.
func (l leaks) foretold(line string) bool {
	rest, ok := strings.CutPrefix(line, "LEAK ")
	for leak := range l {
		if ok && strings.HasPrefix(rest, leak) {
			return true
		}
	}
	return false
}

// missing returns a leak that is in no line of a text: the ledger states too much there.
func (l leaks) missing(text string) string {
	for leak, cell := range l {
		if cell != "" && !strings.Contains(text, "LEAK "+leak) {
			return leak
		}
	}
	return ""
}

// ready prepares the starts of a tool. The leaks must stand in the ledger of the artifact, each in its cell, and their gaps in the
// message of a start that accepts none.
func (m *means) ready(d *disk, l leaks) starter {
	if len(l) > 0 {
		rows := d.ledger(m)
		for leak, cell := range l {
			if cell != "" && !slices.ContainsFunc(rows, func(r row) bool { return r.tells(strings.Fields(cell)) }) {
				d.t.Errorf("no row of the ledger is about %q: %s", cell, leak)
			}
		}
	}
	start, gaps := m.start(m, d)
	for leak, cell := range l {
		if words := strings.Fields(cell); gaps != nil && cell != "" && words[3] != "assumption" && !slices.Contains(gaps, words[3]) {
			d.t.Errorf("%s is under the gap %s, and the start names %v", leak, words[3], gaps)
		}
	}
	return start
}

// A row is one of a ledger, as artifacts have it.
type row struct {
	Resource       string
	Rules, Aspects []string
	Is, Gap        string
}

// tells reports whether a row is about a cell, which is not held.
func (r row) tells(cell []string) bool {
	held := r.Is != "weaker" && r.Is != "none" || r.Gap != cell[3]
	return r.Resource == cell[0] && slices.Contains(r.Rules, cell[1]) && slices.Contains(r.Aspects, cell[2]) && (!held || r.Is == cell[3])
}

// artifact builds the artifact of the tool.
func (d *disk) artifact(m *means) []byte {
	out := d.home + "/built"
	cmd := d.command(d.t.Context(), "build", "--resolve", "--no-prompt", "-C", d.ws, "--target", m.target, "--out", out, "t")
	if text, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v\n%s", err, text)
	}
	data, err := os.ReadFile(filepath.Join(out, "t", m.file))
	if err != nil {
		d.t.Fatal(err)
	}
	return data
}

// ledger returns the rows of the artifact, which are JSON, or a comment of lines.
func (d *disk) ledger(m *means) []row {
	text := d.artifact(m)
	if comment, ok := bytes.CutPrefix(text, []byte("# ")); ok {
		comment, _, _ = bytes.Cut(comment, []byte("\nquiet\n"))
		text = bytes.ReplaceAll(comment, []byte("\n# "), nil)
	}
	var doc struct{ Ledger []row }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Ledger) == 0 {
		d.t.Fatalf("the ledger: %v\n%s", err, text)
	}
	return doc.Ledger
}

// gapLine is a line of a start that was refused.
var gapLine = regexp.MustCompile(`(?m)^  ([a-z]+\.[a-z_]+) `)

// accepting runs a command that accepts no gaps, which must be refused, and returns the flags that accept the gaps that it names.
func (d *disk) accepting(args ...string) (flags, gaps []string) {
	out, err := d.command(d.t.Context(), args...).CombinedOutput()
	if err == nil {
		d.t.Fatalf("%v accepts nothing, and is not refused\n%s", args, out)
	}
	for _, m := range gapLine.FindAllStringSubmatch(string(out), -1) {
		gaps = append(gaps, m[1])
		flags = append(flags, "--accept", m[1])
	}
	return flags, gaps
}

// byBubblewrap has accessc exec start bubblewrap.
func byBubblewrap(_ *means, d *disk) (starter, []string) {
	words := []string{"exec", "-C", d.ws, "--no-prompt", "--means", "bubblewrap"}
	flags, gaps := d.accepting(append(words, "t")...)
	return func(ctx context.Context, args []string) *exec.Cmd {
		return d.command(ctx, slices.Concat(words, flags, []string{"t"}, args)...)
	}, gaps
}

// byFirejail starts firejail with a profile as docs/targets.md says. Nothing is accepted: firejail asks for nothing.
func byFirejail(m *means, d *disk) (starter, []string) {
	profile, tmp := string(d.artifact(m)), d.dir+"/tmp"
	d.make(tmp)
	private, err := filepath.Glob(d.home + "/.state/accessc/workspaces/*")
	if err != nil || len(private) != 1 {
		d.t.Fatalf("the state of the workspace: %v %v", private, err)
	}
	home := private[0] + "/home/t"
	d.make(home)
	file := d.dir + "/t.profile"
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(profile, "${tmp}", tmp)), 0o644); err != nil {
		d.t.Fatal(err)
	}
	words := []string{"setsid", "-w", "firejail", "--profile=" + file, "--", d.tool}
	if os.Getuid() == 0 {
		words = d.apart(words)
	}
	return d.outside([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "LANG=C"}, words), nil
}

// apart has a program start in a mount namespace, where /run is empty and the other user has an entry. firejail starts for no user without one
// (firejail-users(5)), and not at all if a name in /run goes while it covers them: others start containers meanwhile.
func (d *disk) apart(words []string) []string {
	before := "mount -t tmpfs none /run && "
	var as []string
	if id := strconv.Itoa(d.uid); d.uid != 0 {
		users, err := os.ReadFile("/etc/passwd")
		if err == nil {
			err = os.WriteFile(d.dir+"/passwd", append(users, "accessc-test:x:"+id+":"+id+"::/:/bin/sh\n"...), 0o644)
		}
		if err != nil {
			d.t.Fatal(err)
		}
		before += `mount --bind "$0/passwd" /etc/passwd && `
		as = []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}
	}
	return slices.Concat([]string{"unshare", "--mount", "sh", "-c", before + `exec "$@"`, d.dir}, as, words)
}

// byMounts starts containers that hold the policy without accessc.
func byMounts(m *means, d *disk) (starter, []string) {
	bundle := d.bundle(m.program)
	words := []string{"oci", "-C", d.ws, "--no-prompt", "--bundle", bundle, "--mounts"}
	flags, gaps := d.accepting(append(words, "t")...)
	return func(ctx context.Context, args []string) *exec.Cmd {
		return d.container(ctx, m.program, bundle, slices.Concat(words, flags, []string{"t"}, args))
	}, gaps
}

// outside are starts of a program that is not accessc, by a script, so that those who start it need not quote its words.
func (d *disk) outside(env, words []string) starter {
	script := "#!/bin/sh\nexec"
	for _, w := range words {
		script += " '" + w + "'"
	}
	file := d.dir + "/start"
	if err := testbuild.WriteFile(file, []byte(script+` "$@"`+"\n"), 0o755); err != nil {
		d.t.Fatal(err)
	}
	return func(ctx context.Context, args []string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, file, args...)
		like := d.command(ctx)
		cmd.Dir, cmd.Env, cmd.WaitDelay, cmd.SysProcAttr = d.ws, env, like.WaitDelay, &syscall.SysProcAttr{}
		return cmd
	}
}

// A part is one start that a scene under a means takes, by its name.
type part struct {
	name string
	play func(*testing.T)
}

// atOnce is the number of parts that are played at the same time. They wait more than they compute. See
// decision D170.
const atOnce = 4

// together plays parts in the order of their names' scenes, some at a time.
func together(t *testing.T, parts []part) {
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, p := range parts {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			t.Run(p.name, p.play)
		})
	}
	all.Wait()
}

// users are those that a scene with a fate is played as under a means.
func (m *means) users(f fate) map[string]int {
	switch {
	case os.Getuid() != 0:
		return map[string]int{"user": os.Getuid()}
	case len(f.root) > 0 || irtest.Full():
		return map[string]int{"root": 0, "unprivileged": m.user}
	}
	return map[string]int{"unprivileged": m.user}
}

// usable reports whether a means can be tried: a container is root's.
func (m *means) usable() bool {
	_, err := exec.LookPath(m.program)
	return err == nil && (m.target != "oci-mounts" || os.Getuid() == 0)
}

// TestMeans plays the attacks by calls and files where another program confines the tool: they get the access that its ledger
// foretells, and no other.
func TestMeans(t *testing.T) {
	scenes := slices.Concat(fileScenes(), callScenes())
	bin := build(t, scenes)
	var parts []part
	for _, s := range scenes {
		parts = append(parts, partsOf(t, byFile, s.name, func(m *means, f fate, uid int) func(*testing.T) {
			s := s
			s.means, s.leaks, s.good = m, f.as(uid), f.controls(s.good)
			return func(t *testing.T) { play(t, s, bin, uid) }
		})...)
	}
	together(t, parts)
}

// TestMeansProcesses plays attacks on processes, limits and the network there.
func TestMeansProcesses(t *testing.T) {
	bin := procBuild(t)
	var parts []part
	for _, s := range procScenes() {
		parts = append(parts, partsOf(t, byProcess, s.name, func(m *means, f fate, uid int) func(*testing.T) {
			s := s
			s.means, s.leaks, s.good = m, f.as(uid), f.controls(s.good)
			return func(t *testing.T) { procPlay(t, s, bin, uid) }
		})...)
	}
	together(t, parts)
}

// partsOf are the parts of a scene that is to be played: by every means, as every user.
func partsOf(t *testing.T, table map[string]fates, name string, play func(*means, fate, int) func(*testing.T)) (parts []part) {
	for _, m := range everyMeans {
		f, ok := m.of(table, name)
		if !ok || f.not != "" || !m.usable() {
			continue
		}
		for user, uid := range m.users(f) {
			parts = append(parts, part{m.program + "/" + user + "/" + name, play(m, f, uid)})
		}
	}
	return parts
}
