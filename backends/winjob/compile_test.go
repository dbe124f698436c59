package winjob

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

var update = flag.Bool("update", false, "write the expected artifacts")

var _ backends.Backend = Backend{}

func TestBackend(t *testing.T) {
	b := Backend{}
	if b.Name() != "winjob" || b.File() != "winjob.json" || b.Platform() != ir.Windows {
		t.Errorf("%s %s %s", b.Name(), b.File(), b.Platform())
	}
}

// goldenTool has something of everything.
func goldenTool(t *testing.T) (*ir.Tool, ir.Facts) {
	tool := toolWith(t, ".: read create update delete execute", ".env: ", "src/gen: read", "out: create", "a|b: read")
	tool.FS = append(tool.FS, ir.FSRule{
		Written: "fork", At: external("fork", ""), External: true, Caps: ir.Caps(ir.Read, ir.Update),
	})
	tool.Command = &ir.Command{Program: "fmt", Args: []string{"--write"}}
	tool.Net = []ir.NetRule{{
		Host: ir.Host{Kind: ir.HostName, Name: "api.example.com"}, Scheme: "https", Path: []string{"v1"}, Methods: []string{"GET"}, Inspect: true,
		Allow: true,
	}, {Host: ir.Host{Kind: ir.HostName, Name: ir.Localhost}, Port: 8080, Listen: true, Allow: true}}
	git, gen := ir.Sys("C:/Program Files/Git/cmd/git.exe"), ir.In("src/gen/gen.exe")
	tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{
		{Program: "gen", File: &gen, AnyArgs: true, AllEnvs: true}, {Program: "git", File: &git, AllEnvs: true},
	}}
	tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 512 << 20}, {Kind: ir.LimitWallTime, Value: 60_000}}
	tool.Accept = []ir.Acceptance{{Gap: ir.GapFSDefault}}
	program := ir.Sys("C:/tools/fmt.exe")
	f := ir.Facts{Program: &program, Bindings: &ir.Bindings{
		Workspace: "C:/ws", Home: "C:/Users/me/AppData/Local/accessc/home/fmt", External: map[string]string{"fork": "D:/fork"},
	}}
	for _, r := range ir.BaseRules(ir.BaseSystem, ir.Windows) {
		r.At = ir.Sys(strings.NewReplacer(
			"${SystemRoot}", "C:/Windows", "${ProgramFiles}", "C:/Program Files", "${ProgramFiles(x86)}", "C:/Program Files (x86)",
		).Replace(r.At.Path))
		f.Base = append(f.Base, r)
	}
	return tool, f
}

// TestGolden compares artifacts with expected artifacts, apart from their layout.
func TestGolden(t *testing.T) {
	tool, facts := goldenTool(t)
	for name, target := range map[string]backends.Target{
		"portable.json": {Form: backends.Portable},
		"resolved.json": {Form: backends.Resolved, Facts: facts, Context: `{"root":"C:/ws"}`},
	} {
		out, err := Backend{}.Compile(tool, target)
		if err != nil || len(out.Refusals) > 0 {
			t.Fatal(err, out.Refusals)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, out.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(compacted(t, out.Data), compacted(t, want)) {
			t.Errorf("%s has changed; look at the difference that go test -update makes", file)
		}
		again, _ := Backend{}.Compile(tool, target)
		if !bytes.Equal(again.Data, out.Data) {
			t.Error("two compilations differ")
		}
	}
}

func compacted(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// build compiles without refusals.
func build(t *testing.T, tool *ir.Tool, target backends.Target) *Spec {
	t.Helper()
	s, _, refusals := Build(tool, target)
	if refusals != nil {
		t.Fatal(refusals)
	}
	return s
}

// line writes an entry on one line.
func line(e Entry) string {
	words := []string{e.Path, string(e.DACL)}
	for _, g := range e.Grants {
		words = append(words, string(g))
	}
	words = append(words, string(e.Absent), e.Rule)
	if e.ReparsePoint {
		words = append(words, "link")
	}
	return strings.Join(words, " ")
}

// TestEntries: the entries of a few policies, in order, followed by the entries of the private directories.
func TestEntries(t *testing.T) {
	var private []string
	for _, r := range ir.ImpliedRules(toolWith(t)) {
		e := Entry{
			Path: r.At.Root.String(), DACL: DACLProtected, Grants: wordsFor(r.Caps, false), Absent: AbsentCreate,
			Rule: strings.Trim(r.At.Root.String(), "${}"),
		}
		private = append(private, line(e))
	}
	for _, c := range []struct {
		name  string
		rules []string
		want  []string
	}{
		{"nothing granted: the current directory can be entered", nil, []string{
			`${workspace} protected enter refuse default`,
		}},
		{"a file below nothing", []string{"src/a: read"}, []string{
			`${workspace} protected enter refuse default`,
			`${workspace}\src\a grant open read skip fs[0]`,
		}},
		{"a denial", []string{".: read", "a: "}, []string{
			`${workspace} protected open read refuse fs[0]`,
			`${workspace}\a protected refuse fs[1]`,
		}},
		{"less, more, other", []string{".: read update", "less: read", "more: read update execute", "other: create"}, []string{
			`${workspace} protected open read update refuse fs[0]`,
			`${workspace}\less protected open read refuse fs[1]`,
			`${workspace}\more grant open read update execute skip fs[2]`,
			`${workspace}\other protected open create refuse fs[3]`,
		}},
		{"more, where the tool could make it", []string{".: create", "a: create read"}, []string{
			`${workspace} protected open create refuse fs[0]`,
			`${workspace}\a grant open read create refuse fs[1]`,
		}},
		{"what leads to a rule does not move", []string{".: read delete", "a/b/c: read"}, []string{
			`${workspace} protected open read delete refuse fs[0]`,
			`${workspace}\a protected open read delete skip fs[0]`,
			`${workspace}\a\b protected open read delete skip fs[0]`,
			`${workspace}\a\b\c protected open read refuse fs[1]`,
		}},
		{"a rule that says the same again", []string{".: read", "a: read"}, []string{
			`${workspace} protected open read refuse fs[0]`,
		}},
		{"the later of two", []string{".: read", "a: update", "a: execute"}, []string{
			`${workspace} protected open read refuse fs[0]`,
			`${workspace}\a protected open execute refuse fs[2]`,
		}},
		{"a name that only the \\\\?\\ prefix reaches", []string{".: read", "CON: "}, []string{
			`${workspace} protected open read refuse fs[0]`,
			`${workspace}\CON protected refuse fs[1]`,
		}},
		{"a name that nothing reaches", []string{".: read", "a:b: "}, []string{
			`${workspace} protected open read refuse fs[0]`,
		}},
	} {
		s := build(t, toolWith(t, c.rules...), backends.Target{Form: backends.Portable})
		var got []string
		for _, e := range s.Files.Entries {
			got = append(got, line(e))
		}
		if want := slices.Concat(c.want, private); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

// TestListedProgramsArePinned: a file moved to the path of a missing listed program could be
// started, so without that program the tool does not start.
func TestListedProgramsArePinned(t *testing.T) {
	for rules, want := range map[string]string{
		".: read create": `${workspace}\x.exe grant open read create refuse fs[0]`,
		".: read delete": `${workspace}\x.exe protected open read delete skip fs[0]`,
		".: read":        ``,
	} {
		tool, at := toolWith(t, rules), ir.In("x.exe")
		tool.Commands = &ir.CommandSet{Rules: []ir.CommandRule{{Program: "x", File: &at}}}
		got := ""
		for _, e := range build(t, tool, backends.Target{Form: backends.Portable}).Files.Entries {
			if e.Path == `${workspace}\x.exe` {
				got = line(e)
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", rules, got, want)
		}
	}
}

// TestUnmatched: a rule that matches nothing on Windows is listed, not dropped.
func TestUnmatched(t *testing.T) {
	s := build(t, toolWith(t, "a: read", "a:b/c: ", `x\y: read`), backends.Target{Form: backends.Portable})
	want := []Unmatched{{`${workspace}\a:b\c`, "fs[1]"}, {`${workspace}\x\y`, "fs[2]"}}
	if !slices.Equal(s.Files.Unmatched, want) {
		t.Errorf("got %v, want %v", s.Files.Unmatched, want)
	}
}

// TestNoGrantGivesTooMuch: no list contains a right that reaches past its object.
func TestNoGrantGivesTooMuch(t *testing.T) {
	never := fileDeleteChild.value | writeDAC.value | writeOwner.value
	for word, l := range Grants() {
		g, err := l.numbers()
		if err != nil {
			t.Fatal(err)
		}
		all := g.file
		for _, a := range g.directory {
			if a.denies {
				t.Errorf("%s: an entry that denies", word)
			}
			all |= a.mask
		}
		if all&never != 0 {
			t.Errorf("%s: %#x", word, all&never)
		}
		if g.file&deleteObject.value != 0 {
			t.Errorf("%s: the path of a rule could be removed", word)
		}
	}
}

// TestMasks compares the table with the numbers that the literature gives.
func TestMasks(t *testing.T) {
	for word, want := range map[Grant][]uint32{
		"read": {0x3, 0x120089}, "create": {0x2, 0x6}, "update": {0x9, 0x116}, "delete": {0xb, 0x10000},
		"execute": {0x9, 0x20}, "enter": {0, 0x1000a0},
	} {
		g, err := Grants()[word].numbers()
		if err != nil || len(g.directory) != 1 || g.directory[0].flags != want[0] || g.directory[0].mask != want[1] {
			t.Errorf("%s: %+v, %v, want %#x", word, g, err, want)
		}
	}
}

func TestJob(t *testing.T) {
	const always = "JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"
	limit := func(k ir.LimitKind, v uint64) *ir.Tool { return &ir.Tool{Limits: []ir.Limit{{Kind: k, Value: v}}} }
	for _, c := range []struct {
		name  string
		tool  *ir.Tool
		flags string
		want  ExtendedLimits
	}{
		{"none", &ir.Tool{}, always, ExtendedLimits{}},
		{"memory", limit(ir.LimitMemory, 1<<30), "JOB_OBJECT_LIMIT_JOB_MEMORY", ExtendedLimits{JobMemoryLimit: 1 << 30}},
		{"processes", limit(ir.LimitProcesses, 7), "JOB_OBJECT_LIMIT_ACTIVE_PROCESS", ExtendedLimits{Basic: BasicLimits{ActiveProcessLimit: 7}}},
		{
			"very many processes", limit(ir.LimitProcesses, 1<<40), "JOB_OBJECT_LIMIT_ACTIVE_PROCESS",
			ExtendedLimits{Basic: BasicLimits{ActiveProcessLimit: math.MaxUint32}},
		},
		{"a second", limit(ir.LimitCPUTime, 1000), "JOB_OBJECT_LIMIT_JOB_TIME", ExtendedLimits{Basic: BasicLimits{PerJobUserTimeLimit: 10_000_000}}},
		{
			"an age", limit(ir.LimitCPUTime, 1<<63), "JOB_OBJECT_LIMIT_JOB_TIME",
			ExtendedLimits{Basic: BasicLimits{PerJobUserTimeLimit: math.MaxInt64 / 10_000 * 10_000}},
		},
		{"wall time", limit(ir.LimitWallTime, 1), always, ExtendedLimits{}},
		{
			"no children", &ir.Tool{Commands: &ir.CommandSet{}, Limits: []ir.Limit{{Kind: ir.LimitProcesses, Value: 9}}},
			"JOB_OBJECT_LIMIT_ACTIVE_PROCESS", ExtendedLimits{Basic: BasicLimits{ActiveProcessLimit: 1}},
		},
	} {
		got := job(c.tool).Extended
		for _, f := range strings.Fields(always + " " + c.flags) {
			if !slices.Contains(got.Basic.LimitFlags, f) {
				t.Errorf("%s: %v lacks %s", c.name, got.Basic.LimitFlags, f)
			}
		}
		if n := len(strings.Fields(always)) + len(strings.Fields(strings.ReplaceAll(c.flags, always, ""))); len(got.Basic.LimitFlags) != n {
			t.Errorf("%s: %v", c.name, got.Basic.LimitFlags)
		}
		got.Basic.LimitFlags = nil
		if got.JobMemoryLimit != c.want.JobMemoryLimit || got.Basic.ActiveProcessLimit != c.want.Basic.ActiveProcessLimit ||
			got.Basic.PerJobUserTimeLimit != c.want.Basic.PerJobUserTimeLimit {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestUIRestrictions(t *testing.T) {
	if got, err := bits(uiRestrictions, job(&ir.Tool{}).UI.Class); err != nil || got != 0xde {
		t.Errorf("got %#x, %v", got, err)
	}
}

func TestEnvironment(t *testing.T) {
	const ofSystem = "NUMBER_OF_PROCESSORS OS PATHEXT PROCESSOR_ARCHITECTURE ProgramData ProgramFiles ProgramFiles(x86) SystemDrive"
	for _, c := range []struct {
		name  string
		rules []ir.EnvRule
		home  ir.HomeKind
		want  string
	}{
		{
			"default", ir.DefaultEnv(), ir.HomePrivate, "ACCESSC_CONTEXT ALLUSERSPROFILE APPDATA ComSpec HOME LOCALAPPDATA " + ofSystem +
				" SystemRoot TEMP TMP TMPDIR USERNAME USERPROFILE windir XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME",
		},
		{
			"the user's home", nil, ir.HomeReal,
			"ACCESSC_CONTEXT ALLUSERSPROFILE ComSpec LOCALAPPDATA " + ofSystem + " SystemRoot TEMP TMP TMPDIR USERNAME windir",
		},
		{
			"forwarded instead", []ir.EnvRule{{Name: "systemroot", Read: true}, {Name: "LOCAL", Prefix: true, Read: true}},
			ir.HomeReal, "ACCESSC_CONTEXT ALLUSERSPROFILE ComSpec " + ofSystem + " TEMP TMP TMPDIR USERNAME windir",
		},
		{
			"denied by name", []ir.EnvRule{{Name: "SYSTEMROOT"}, {Name: "TMP"}, {Name: "username"}, {Name: "WinDir"}}, ir.HomeReal,
			"ACCESSC_CONTEXT ALLUSERSPROFILE ComSpec LOCALAPPDATA " + ofSystem + " TEMP TMPDIR",
		},
		{
			"denied as one of many", []ir.EnvRule{{Prefix: true}}, ir.HomeReal,
			"ACCESSC_CONTEXT ALLUSERSPROFILE ComSpec LOCALAPPDATA " + ofSystem + " SystemRoot TEMP TMP TMPDIR USERNAME windir",
		},
	} {
		tool := toolWith(t)
		tool.Env, tool.Home = c.rules, c.home
		var got []string
		for _, v := range build(t, tool, backends.Target{Form: backends.Portable}).Variables {
			got = append(got, v.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, " "), c.want)
		}
	}
}

// TestPrograms: a listed file is given the right to be executed only if the file rules
// let it execute and the system does not.
func TestPrograms(t *testing.T) {
	tool, facts := goldenTool(t)
	denied, missing := ir.In(".env"), (*ir.Location)(nil)
	tool.Commands.Rules = append(tool.Commands.Rules,
		ir.CommandRule{Program: "env", File: &denied}, ir.CommandRule{Program: "lost", File: missing})
	free := ir.In("x.exe")
	tool.Commands.Rules = append(tool.Commands.Rules, ir.CommandRule{Program: "x", File: &free})
	var got []string
	for _, p := range build(t, tool, backends.Target{Form: backends.Resolved, Facts: facts}).Programs {
		words := []string{p.Name, p.File}
		if p.Ambient {
			words = append(words, "ambient")
		}
		for _, g := range p.Grants {
			words = append(words, string(g))
		}
		got = append(got, strings.Join(words, " "))
	}
	want := []string{
		` C:\tools\fmt.exe open execute`,
		`gen C:\ws\src\gen\gen.exe`,
		`git C:\Program Files\Git\cmd\git.exe ambient`,
		`env C:\ws\.env`,
		`lost `,
		`x C:\ws\x.exe open execute`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestAmbientIsListedWithoutBase: a reviewer sees the directories that every AppContainer may
// read, whether or not the policy grants them.
func TestAmbientIsListedWithoutBase(t *testing.T) {
	for base, granted := range map[ir.BaseName]bool{ir.BaseSystem: true, ir.BaseMinimal: true, ir.BaseNone: false} {
		tool := toolWith(t)
		tool.Base = base
		want := []Ambient{{"${SystemRoot}", granted}, {"${ProgramFiles}", granted}, {"${ProgramFiles(x86)}", granted}}
		if got := build(t, tool, backends.Target{Form: backends.Portable}).Files.Ambient; !slices.Equal(got, want) {
			t.Errorf("%s: got %v", base, got)
		}
	}
}

// TestTierSections: every section of the document is applied or left by each tier.
func TestTierSections(t *testing.T) {
	s := build(t, toolWith(t), backends.Target{Form: backends.Portable})
	for _, tier := range s.Tiers {
		all := slices.Sorted(slices.Values(slices.Concat(tier.Applies, tier.Leaves)))
		want := []string{
			"appContainer", "command", "console", "environment", "fileAccess", "jobObject", "limits", "network",
			"procThreadAttributes", "programs", "token", "variables",
		}
		if !slices.Equal(all, want) {
			t.Errorf("tier %d: %v", tier.Tier, all)
		}
	}
	if got, want := s.Tiers[0].Weakest, (Weakest{"none", "none", "exact", "exact", "exact", "none"}); got != want {
		t.Errorf("tier 0: got %v, want %v", got, want)
	}
	if got, want := s.Tiers[1].Weakest, (Weakest{"weaker", "exact", "assumption", "stricter", "exact", "assumption"}); got != want {
		t.Errorf("tier 1: got %v, want %v", got, want)
	}
}
