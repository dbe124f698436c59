package start

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/backends/winjob"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/testbuild"
)

// wine skips a test of Wine's behaviour elsewhere.
func wine(t *testing.T) {
	t.Helper()
	if !onWine() {
		t.Skip("this is about what Wine takes and does not apply")
	}
}

// TestUnappliedIsRefused: of the restrictions that Wine accepts and does not apply, each alone
// ends the start before the tool has run; and no other does.
func TestUnappliedIsRefused(t *testing.T) {
	wine(t)
	p := newPlace(t)
	spec := p.spec(func(tool *ir.Tool) {
		tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 30}, {Kind: ir.LimitCPUTime, Value: 1000}, {Kind: ir.LimitProcesses, Value: 3}}
	})
	marker := filepath.Join(p.workspace, "ran")
	for _, about := range wineIgnores {
		r := p.run(spec, "write", marker, "x")
		r.excuse = func(d doubt) bool { return d.about != about }
		_, err := r.do()
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeFailed {
			t.Errorf("%s: got %v", about, err)
			continue
		}
		t.Logf("%s: %v", about, err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the tool ran")
	}
	var seen []string
	r := p.run(spec, "exit", "0")
	r.excuse = func(d doubt) bool {
		seen = append(seen, d.about)
		return true
	}
	p.start(r)
	slices.Sort(seen)
	if want := slices.Sorted(slices.Values(wineIgnores)); !slices.Equal(seen, want) {
		t.Errorf("doubts about %v, want %v", seen, want)
	}
	p.left(0)
}

// TestAppContainerIsRefused: where there are no AppContainers nothing starts at tier 1,
// and no list was changed.
func TestAppContainerIsRefused(t *testing.T) {
	wine(t)
	p := newPlace(t)
	r := p.run(p.spec(nil), "exit", "0")
	r.tier = 1
	_, err := r.do()
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "AppContainer") && !strings.Contains(err.Error(), "file system") {
		t.Errorf("got %v", err)
	}
	t.Log(err)
	p.left(0)
}

// TestStartRefusesWine: Start, as users call it, first checks the system.
func TestStartRefusesWine(t *testing.T) {
	wine(t)
	p := newPlace(t)
	spec := p.spec(nil)
	err := Start(Request{
		Spec: spec, Args: []string{"exit", "0"}, Accept: []string{"fs.paths", "net.default", "process.signal"}, Messages: io.Discard,
	})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeFailed || !strings.Contains(err.Error(), "Wine") {
		t.Errorf("got %v", err)
	}
	if r := Examine(); r.Confines || ThisHost().Confines() || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return strings.Contains(f.Detail, "Wine") }) {
		t.Errorf("the report says %+v", r)
	}
	spec.Form = "portable"
	if err := Start(Request{Spec: spec}); !errors.Is(err, errPortable) {
		t.Errorf("a portable specification: %v", err)
	}
}

// TestTiers: a host without AppContainers starts a tool only if every requirement that needs
// one is accepted by name; a host with them uses the lower tier only for a caller that names
// them all.
func TestTiers(t *testing.T) {
	p := newPlace(t)
	plain, accepting := p.spec(nil), p.spec(func(tool *ir.Tool) {
		for _, name := range []string{"fs.default", "fs.paths", "fs.protected", "net.default", "process.signal"} {
			tool.Accept = append(tool.Accept, ir.Acceptance{Gap: ir.Gap(name)})
		}
	})
	all := []string{"fs.paths", "net.default", "process.signal"}
	for _, tt := range []struct {
		spec   *Spec
		host   int
		accept []string
		tier   int
		unmet  string
	}{
		{plain, 0, nil, 0, "fs.paths net.default process.signal"},
		{plain, 0, []string{"fs.paths"}, 0, "net.default process.signal"},
		{plain, 0, []string{"net.default", "process.signal"}, 0, "fs.paths"},
		{plain, 0, all, 0, ""},
		{plain, 1, nil, 1, "fs.default fs.protected"},
		{plain, 1, []string{"fs.default"}, 1, "fs.protected"},
		{plain, 1, []string{"fs.default", "fs.protected"}, 1, ""},
		{plain, 1, all[:2], 1, "fs.default fs.protected"},
		{plain, 1, all, 0, ""},
		{accepting, 1, nil, 1, ""},
		{accepting, 0, nil, 0, ""},
	} {
		_, tier, err := settle(&Request{Spec: tt.spec, Accept: tt.accept, Messages: io.Discard}, Host{ABI: tt.host, Supervises: true})
		var e *Error
		var unmet []string
		if errors.As(err, &e) {
			for _, n := range e.Unmet {
				unmet = append(unmet, string(n.Name))
			}
		}
		slices.Sort(unmet)
		if got := strings.Join(unmet, " "); got != tt.unmet || tier != tt.tier {
			t.Errorf("host %d, accepting %v: tier %d, unmet %q, %v", tt.host, tt.accept, tier, got, err)
		}
	}
}

// TestObstacles: an obstacle to a tier leaves the tier below it.
func TestObstacles(t *testing.T) {
	for want, all := range map[int][]obstacle{
		1: nil, 0: {{tier: 1}}, -1: {{tier: 1}, {tier: 0}},
	} {
		if got := tierOf(all); got != want {
			t.Errorf("%v: got %d", all, got)
		}
	}
}

// TestImages: batch files and files that are no programs are not started, in any spelling, and
// the current directory is not searched.
func TestImages(t *testing.T) {
	p := newPlace(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(p.workspace, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"batch.bat": []byte("@echo off"), "batch.cmd": []byte("@echo off"), "disguised.cmd": program[:4096], "text.exe": []byte("#!/bin/sh\n"),
		"short.exe": []byte("MZ"), "good.exe": program[:4096], "plain": program[:4096],
	} {
		if err := testbuild.WriteFile(filepath.Join(bin, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"Path=" + bin}
	t.Chdir(bin)
	for _, tt := range []struct {
		program string
		env     []string
		code    int
	}{
		{"good", env, 0}, {"good.exe", env, 0}, {"GOOD.EXE", env, 0}, {"plain", env, 0}, {`bin\good`, nil, 0}, {"bin/good.exe", nil, 0}, {filepath.Join(bin, "good"), nil, 0},
		{"batch", env, CodeNotRunnable}, {"batch.bat", env, CodeNotRunnable}, {"batch.cmd", env, CodeNotRunnable}, {`bin\batch.bat. `, nil, CodeNotRunnable},
		{`bin\batch.CMD`, nil, CodeNotRunnable}, {"disguised.cmd", env, CodeNotRunnable}, {"text", env, CodeNotRunnable}, {"short", env, CodeNotRunnable},
		{"good", []string{"PATH="}, CodeNotFound}, {"good", []string{"PATH=."}, CodeNotFound}, {"good.exe", nil, CodeNotFound}, {`bin\none`, nil, CodeNotFound},
		{"bin", env, CodeNotFound},
	} {
		file, err := find(tt.program, p.workspace, tt.env)
		var e *Error
		if errors.As(err, &e); (tt.code == 0) != (err == nil) || e != nil && e.Code != tt.code {
			// A blank or dot at the end is dropped by Windows and kept by Wine: not found is safe, too.
			if onWine() && strings.HasSuffix(tt.program, ". ") && e != nil && e.Code == CodeNotFound {
				continue
			}
			t.Errorf("%s with %v: got %q, %v; want code %d", tt.program, tt.env, file, err, tt.code)
		}
		if err == nil && !strings.HasPrefix(strings.ToLower(file), strings.ToLower(bin)) {
			t.Errorf("%s is %s", tt.program, file)
		}
	}
}

// TestPosixLayers: programs of MSYS and Cygwin are told from others by the library that they import.
func TestPosixLayers(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	for library, refused := range map[string]bool{
		"msys-2.0.dll": true, "MSYS-2.0.DLL": true, "cygwin1.dll\x00": true, "kernel32.dll": false, "msys-9.0.dll": false, "": false,
	} {
		file := filepath.Join(p.workspace, "x.exe")
		data := bytes.ReplaceAll(program, []byte("kernel32.dll"), []byte(library))
		if library == "" {
			data = program[:4096]
		}
		if err := testbuild.WriteFile(file, data, 0o755); err != nil {
			t.Fatal(err)
		}
		var e *Error
		if err := refusePosix(file); errors.As(err, &e) != refused || refused && e.Code != CodeNotRunnable {
			t.Errorf("%q: got %v", library, err)
		}
	}
}

// TestHold: an object that cannot carry an entry is refused, with the reason.
func TestHold(t *testing.T) {
	p := newPlace(t)
	at := func(name string) string { return filepath.Join(p.workspace, name) }
	for _, name := range []string{"file", "one"} {
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(at("one"), at("two")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, why string
		absent    winjob.Absent
	}{
		{at("none"), "does not exist", winjob.AbsentRefuse},
		{at("none"), "", winjob.AbsentSkip},
		{at("one"), "2 names", winjob.AbsentRefuse},
		{`\\server\share\x`, "not an absolute path on a drive", winjob.AbsentRefuse},
		{`\\?\C:\x`, "not an absolute path on a drive", winjob.AbsentRefuse},
		{`${external:x}`, "not an absolute path on a drive", winjob.AbsentRefuse},
		{"file", "not an absolute path on a drive", winjob.AbsentRefuse},
		{`C:file`, "not an absolute path on a drive", winjob.AbsentRefuse},
	}
	if err := os.Symlink(at("file"), at("link")); err == nil {
		tests = append(tests, struct {
			path, why string
			absent    winjob.Absent
		}{at("link"), "", winjob.AbsentRefuse})
	}
	for _, tt := range tests {
		r := p.run(p.spec(nil))
		r.spec.Files.Entries = []winjob.Entry{{Path: tt.path, DACL: winjob.DACLProtected, Absent: tt.absent, Rule: "fs[0]"}}
		r.spec.Programs = nil
		err := r.hold()
		r.release()
		refused := tt.why != "" || strings.HasSuffix(tt.path, "link")
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: got %v, want %q", tt.path, err, tt.why)
		}
	}
}

// TestNamesAreHeld: files with names of a rule by name are found and held, in any case of letters, and not through
// links. Rules by name were only told about.
func TestNamesAreHeld(t *testing.T) {
	p := newPlace(t)
	for _, dir := range []string{`a\b`, "open"} {
		if err := os.MkdirAll(filepath.Join(p.workspace, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{`.env`, `a\b\.ENV`, `open\.env`, `a\other`} {
		if err := os.WriteFile(filepath.Join(p.workspace, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(p.workspace, "a"), filepath.Join(p.workspace, "link")); err != nil {
		t.Logf("no link was made: %v", err)
	}
	r := p.run(p.spec(func(tool *ir.Tool) {
		tool.Protects, tool.Declared.FS = false, true
		tool.FS = []ir.FSRule{
			{At: ir.In(""), Caps: ir.All}, {At: ir.In(""), Names: []string{".env"}}, {At: ir.In("open/.env"), Caps: ir.All},
		}
	}))
	r.tmp = filepath.Join(filepath.Dir(p.workspace), "tmp")
	defer r.release()
	all, err := r.wanted()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		if rest, ok := strings.CutPrefix(e.Path, p.workspace+`\`); ok && e.DACL == winjob.DACLProtected && len(e.Grants) == 0 {
			got = append(got, rest)
		}
	}
	slices.Sort(got)
	if want := []string{`.env`, `a\b\.ENV`}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if err := r.hold(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(p.workspace, ".env"), filepath.Join(p.workspace, "env")); err == nil {
		t.Error("a file that is closed by its name was renamed during the run")
	}
}

// TestHeldStays: no process renames or removes an object with an entry while the tool runs.
func TestHeldStays(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(p.workspace, "file")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := openHeld(file, winjob.Holding())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, file+"2"); err == nil {
		t.Error("it was renamed")
	}
	if err := os.Remove(file); err == nil {
		t.Error("it was removed")
	}
	if _, err := os.ReadFile(file); err != nil {
		t.Errorf("it cannot be read: %v", err)
	}
	if err := windows.CloseHandle(h); err != nil {
		t.Error(err)
	}
	if err := os.Rename(file, file+"2"); err != nil {
		t.Error(err)
	}
}

// TestListsComeBackOrRefuse: a list that the system accepts and does not keep ends the start.
func TestListsComeBackOrRefuse(t *testing.T) {
	wine(t)
	p := newPlace(t)
	file := filepath.Join(p.workspace, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := openHeld(file, winjob.Holding())
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(h)
	list, err := listOf(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(list)
	sid, err := windows.StringToSid(winjob.PackageSID("accessc.test.run"))
	if err != nil {
		t.Fatal(err)
	}
	r := p.run(p.spec(nil))
	r.container = &container{sid: sid}
	r.objects = []*object{{entry: winjob.Entry{Path: file, DACL: winjob.DACLProtected, Grants: []winjob.Grant{"open", "read"}}, handle: h, list: list}}
	if err := r.grant(); err == nil || !strings.Contains(err.Error(), "does not come back") {
		t.Errorf("got %v", err)
	}
	r.objects = nil
}
