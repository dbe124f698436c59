package fleet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/agents/registry"
	"github.com/accessc/accessc/internal/artifact/build"
	"github.com/accessc/accessc/internal/review/fleet"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// tool returns a local tool that has capabilities on a path of the workspace.
func tool(name, path string, caps ...ir.Capability) *ir.Tool {
	t := ir.NewTool(name)
	t.Declared.FS = true
	t.FS = []ir.FSRule{{Written: path, At: ir.In(path), Caps: ir.Caps(caps...)}}
	return t
}

// write builds tools into a directory, the artifacts of one system among them.
func write(t testing.TB, dir string, tools ...*ir.Tool) {
	t.Helper()
	req := build.Request{Program: &ir.Program{Tools: tools}, Backends: registry.All, Form: backends.Portable}
	if _, findings, err := build.Write(req, dir); err != nil || findings.Failed() {
		t.Fatal(err, findings)
	}
}

// survey looks at a directory without a record.
func survey(t testing.TB, dir string, edit ...func(*fleet.Request)) *fleet.Fleet {
	t.Helper()
	req := &fleet.Request{Dirs: []string{dir}, Backends: registry.Every}
	for _, e := range edit {
		e(req)
	}
	f, err := fleet.Survey(req)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// problems are the classes of all problems, each with the end of its manifest's path.
func problems(dir string, f *fleet.Fleet) []string {
	var out []string
	for _, m := range f.Manifests {
		for _, p := range m.Problems {
			out = append(out, strings.TrimPrefix(m.Path, filepath.ToSlash(dir)+"/")+" "+p.Tool+" "+string(p.Class))
		}
	}
	return out
}

// TestForeignManifests: whatever stands where a manifest is expected is read or a problem, and never passed over.
func TestForeignManifests(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "good/access"), tool("a", "src", ir.Read))
	good, err := os.ReadFile(filepath.Join(dir, "good/access/manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	swap := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in the manifest", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	deep := swap(`"tools": [`, `"deep": `+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`, "tools": [`)
	for name, c := range map[string]struct{ text, want string }{
		"cut":       {text[:len(text)/2], "cut/manifest.json  manifest.unreadable"},
		"empty":     {"", "empty/manifest.json  manifest.unreadable"},
		"behind":    {text + "{}", "behind/manifest.json  manifest.unreadable"},
		"twice":     {swap(`"risk": "low"`, `"risk": "high", "risk": "low"`), "twice/manifest.json  manifest.unreadable"},
		"case":      {swap(`"risk": "low"`, `"Risk": "low"`), "case/manifest.json  manifest.unreadable"},
		"unknown":   {swap(`"risk": "low"`, `"risk": "low", "more": 1`), "unknown/manifest.json  manifest.unreadable"},
		"older":     {swap(`"format_version": 2`, `"format_version": 1`), "older/manifest.json  manifest.unreadable"},
		"newer":     {swap(`"format_version": 2`, `"format_version": 99`), "newer/manifest.json  manifest.unreadable"},
		"deep":      {deep, "deep/manifest.json  manifest.unreadable"},
		"objects":   {`{"format": "accessc/manifest", "format_version": 2, "form": "portable", "tools": [` + strings.Repeat("{},", 1<<20) + `{}]}`, "objects/manifest.json  manifest.unreadable"},
		"risk":      {swap(`"risk": "low"`, `"risk": "high"`), "risk/manifest.json a tool.summary"},
		"wider":     {swap(`"caps": ["read"]`, `"caps": ["read", "update"]`), "wider/manifest.json a tool.hash"},
		"sensitive": {swap(`"sensitive": [`, `"sensitive": ["~/.x",`), "sensitive/manifest.json a tool.summary"},
		"form":      {swap(`"form": "portable"`, `"form": "flat"`), "form/manifest.json  manifest.unreadable"},
		"source":    {swap(`"source": "local"`, `"source": "mcp.x"`), "source/manifest.json a tool.summary"},
		"name":      {swap(`"name": "a"`, `"name": "../a"`), "name/manifest.json ../a tool.name"},
		"foreign":   {`{"manifest_version": 3, "name": "an extension"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, name, "manifest.json")
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(c.text), 0o644)); err != nil {
				t.Fatal(err)
			}
			f := survey(t, root)
			if got := problems(root, f); c.want == "" && (len(got) > 0 || f.Foreign != 1) || c.want != "" && !slices.Contains(got, c.want) {
				t.Errorf("got %q, foreign %d; want %q", got, f.Foreign, c.want)
			}
		})
	}
}

// TestManyOfFew: a manifest whose tools all share one large policy costs more than its size, and is refused.
func TestManyOfFew(t *testing.T) {
	dir := t.TempDir()
	large := tool("a0", "src", ir.Read)
	for i := range 2000 {
		large.FS = append(large.FS, ir.FSRule{At: ir.In(fmt.Sprint("d", i)), Caps: ir.Caps(ir.Read)})
	}
	var tools []*ir.Tool
	for i := range 3 {
		same := *large
		same.Name = fmt.Sprint("a", i)
		tools = append(tools, &same)
	}
	req := build.Request{Program: &ir.Program{Tools: tools}, Backends: registry.All[:1], Form: backends.Portable}
	if _, findings, err := build.Write(req, dir); err != nil || findings.Failed() {
		t.Fatal(err, findings)
	}
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	last := doc["tools"].([]any)[2].(map[string]any)
	if last["policy_as"] != "a0" {
		t.Fatal("the policy is not shared:", last)
	}
	for i := range 1000 {
		again := map[string]any{}
		for k, v := range last {
			again[k] = v
		}
		again["name"] = fmt.Sprint("b", i)
		doc["tools"] = append(doc["tools"].([]any), again)
	}
	if data, err = json.Marshal(doc); err == nil {
		err = os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := survey(t, dir)
	if len(f.Manifests) != 1 || len(f.Manifests[0].Problems) != 1 || !strings.Contains(f.Manifests[0].Problems[0].Detail, "more than this version looks at") {
		t.Errorf("got %+v", f.Manifests[0].Problems)
	}
}

// TestArtifacts: artifacts that differ, are missing or are not listed are problems; a manifest by itself is none.
func TestArtifacts(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(dir string) error
		want string
	}{
		"changed": {func(dir string) error { return os.WriteFile(dir+"/a/seatbelt.sb", []byte("(allow default)"), 0o644) }, "manifest.json a artifact.hash"},
		"gone":    {func(dir string) error { return os.Remove(dir + "/a/landlock.json") }, "manifest.json a artifact.missing"},
		"more":    {func(dir string) error { return os.WriteFile(dir+"/a/mxc.json", nil, 0o644) }, "manifest.json a artifact.unlisted"},
		"alone":   {func(dir string) error { return os.RemoveAll(dir + "/a") }, ""},
		"a link": {func(dir string) error {
			return errors.Join(os.Rename(dir+"/a", dir+"/b"), os.Symlink("../../outside", dir+"/a"))
		}, "manifest.json a artifact.missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tool("a", "src", ir.Read))
			if err := c.edit(dir); err != nil {
				t.Fatal(err)
			}
			f := survey(t, dir)
			got := problems(dir, f)
			if c.want == "" && len(got) > 0 || c.want != "" && !slices.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if a := f.Manifests[0].Artifacts; name == "alone" && a.Absent != 4 || name != "alone" && a.Wrong == 0 {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// TestVerify: a ledger that claims more than the policy's, and a hash of an artifact that was forged together with the artifact,
// are found by compiling anew.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tool("a", "src", ir.Read))
	file := filepath.Join(dir, "manifest.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forged := []byte("(allow default)")
	old, err := os.ReadFile(filepath.Join(dir, "a/seatbelt.sb"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(build.Hash(old)), []byte(build.Hash(forged)), 1)
	data = bytes.Replace(data, []byte(`"is": "none",`), []byte(`"is": "exact",`), 1)
	if err := errors.Join(os.WriteFile(file, data, 0o644), os.WriteFile(filepath.Join(dir, "a/seatbelt.sb"), forged, 0o644)); err != nil {
		t.Fatal(err)
	}
	record := func(r *fleet.Request) { r.Record, r.Program = filepath.Join(dir, "record"), "p" }
	if got := problems(dir, survey(t, dir, record)); len(got) > 0 {
		t.Errorf("without compiling: %q", got)
	}
	want := []string{"manifest.json a artifact.differs", "manifest.json a tool.ledger"}
	for range 2 { // the second time from the record
		f := survey(t, dir, record, func(r *fleet.Request) { r.Compile = true })
		if got := problems(dir, f); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSearch: symlinks are not followed, neither in the search nor as a manifest; git's directories are passed over.
func TestSearch(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, tool("a", "src", ir.Read))
	write(t, filepath.Join(dir, "one/access"), tool("a", "src", ir.Read))
	write(t, filepath.Join(dir, "two/access"), tool("a", "src", ir.Read, ir.Update))
	for link, to := range map[string]string{
		"one/loop": "..", "one/self": "self", "out": outside, "linked/manifest.json": filepath.Join(outside, "manifest.json"),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o755), os.Symlink(to, filepath.Join(dir, link))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(dir+"/one/.git/refs/heads", 0o755), os.WriteFile(dir+"/one/.git/refs/heads/manifest.json", []byte("0\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	f := survey(t, dir)
	if got, want := problems(dir, f), []string{"linked/manifest.json  manifest.unreadable"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var paths []string
	for _, m := range f.Manifests {
		for _, tool := range m.Tools {
			paths = append(paths, strings.TrimPrefix(m.Path, dir)+" "+tool.Name+" "+tool.Risk)
		}
	}
	if want := []string{"/one/access/manifest.json a low", "/two/access/manifest.json a medium"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}

// TestDeep: directories that lie very deep in each other are a problem that is told at once. Each is reached from the top, so a
// repository with 3,000 of them took a minute, and one with more an hour.
func TestDeep(t *testing.T) {
	const maxDepth = 200
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one/access"), tool("a", "src", ir.Read))
	write(t, filepath.Join(dir, strings.Repeat("d/", maxDepth-2), "access"), tool("a", "src", ir.Read))
	write(t, filepath.Join(dir, strings.Repeat("e/", maxDepth+1), "access"), tool("a", "src", ir.Read))
	f := survey(t, dir)
	if got, want := problems(dir, f), []string{strings.TrimSuffix(strings.Repeat("e/", maxDepth+1), "/") + "  directory.unreadable"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	tools := 0
	for _, m := range f.Manifests {
		tools += len(m.Tools)
	}
	if tools != 2 {
		t.Errorf("found %d tools, want 2", tools)
	}
}

// TestOverlap: no manifest is counted twice, by whatever name its directory is given.
func TestOverlap(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one/access"), tool("a", "src", ir.Read))
	write(t, filepath.Join(dir, "oneself/access"), tool("a", "src", ir.Read))
	if err := os.Symlink("one", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, dirs := range [][]string{{".", "."}, {".", "one"}, {"one", "."}, {"one", "link"}, {"one", "one/access"}} {
		req := &fleet.Request{}
		for _, d := range dirs {
			req.Dirs = append(req.Dirs, filepath.Join(dir, d))
		}
		if f, err := fleet.Survey(req); err == nil || !strings.Contains(err.Error(), "would count twice") {
			t.Errorf("%q: %v, %v", dirs, f, err)
		}
	}
	if f, err := fleet.Survey(&fleet.Request{Dirs: []string{dir + "/one", dir + "/oneself"}}); err != nil || len(f.Manifests) != 2 {
		t.Error(f, err)
	}
}

// TestContradiction: a report that says nonsense is none of a host that holds everything.
func TestContradiction(t *testing.T) {
	const good = `{"format_version": 1, "system": "Linux 6.1.0 on x86_64", "landlock_abi": 7,
		"findings": [{"name": "supervision", "state": "present", "detail": ""}], "confines": true, "summary": ""}`
	file := filepath.Join(t.TempDir(), "h.json")
	read := func(text string) error {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := fleet.ReadHost(file)
		return err
	}
	if err := read(good); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`_abi": 7`, `_abi": -1`},
		{`_abi": 7`, `_abi": 0`},
		{`""}]`, `""}, {"name": "supervision", "state": "missing", "detail": ""}]`},
	} {
		if err := read(strings.Replace(good, change[0], change[1], 1)); err == nil {
			t.Errorf("%s: took it", change[1])
		}
	}
}

// TestIncremental: after any change the result is that of a run without a record, and only changed manifests are parsed.
func TestIncremental(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	r := epoch.Rand(t)
	question, err := fleet.ParseQuestion("write src")
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(state, "record")
	incremental := func(req *fleet.Request) { req.Record, req.Program, req.Question = record, "p", question }
	full := func(req *fleet.Request) { req.Question = question }
	parsed, all := 0, 0
	for n := range irtest.Rounds(t, 300) {
		change(t, r, dir, record, n)
		got, want := survey(t, dir, incremental), survey(t, dir, full)
		parsed, all = parsed+got.Fresh, all+want.Fresh
		if got.KeepErr != nil {
			t.Fatal(got.KeepErr)
		}
		if d := cmp.Diff(want.JSON(question), got.JSON(question), cmp.AllowUnexported(fleet.Tool{})); d != "" {
			t.Fatalf("round %d (-full +incremental)\n%s", n, d)
		}
		if again := survey(t, dir, incremental); again.Fresh != 0 {
			t.Fatalf("round %d: %d manifests were read anew although nothing had changed", n, again.Fresh)
		}
	}
	if parsed >= all {
		t.Errorf("%d manifests were parsed of %d", parsed, all)
	}
}

// change changes something in one of eight repositories, or the record.
func change(t *testing.T, r *rand.Rand, dir, record string, n int) {
	repo := filepath.Join(dir, fmt.Sprint("repo", r.IntN(8)))
	file := filepath.Join(repo, "manifest.json")
	data, err := os.ReadFile(file)
	switch k := r.IntN(8); {
	case err != nil || k < 3:
		tools := []*ir.Tool{tool("a", fmt.Sprint("src/", n%5), ir.Read), tool("b", "src", ir.Capabilities[r.IntN(len(ir.Capabilities))])}
		_ = os.RemoveAll(repo)
		write(t, repo, tools[:1+r.IntN(2)]...)
	case k == 3:
		err = os.RemoveAll(repo)
	case k == 4:
		err = os.WriteFile(file, data[:r.IntN(len(data))], 0o644)
	case k == 5:
		err = os.RemoveAll(filepath.Join(repo, "a"))
	case k == 6:
		err = os.WriteFile(file, bytes.Replace(data, []byte("read"), []byte("update"), 1), 0o644)
	default:
		damage(t, r, record)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// damage changes or cuts a record.
func damage(t *testing.T, r *rand.Rand, record string) {
	data, err := os.ReadFile(record)
	if err != nil || len(data) == 0 {
		return
	}
	if r.IntN(2) == 0 {
		data = data[:r.IntN(len(data))]
	} else {
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(record, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRecordsAreBounded: the records written longest ago go, and files that killed runs have left.
func TestRecordsAreBounded(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, tool("a", "src", ir.Read))
	old := time.Now().Add(-2 * time.Hour)
	for i := range 12 {
		for _, name := range []string{fmt.Sprint("old", i), fmt.Sprint(".accessc-fleet-", i)} {
			file := filepath.Join(state, name)
			if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, old, old)); err != nil {
				t.Fatal(err)
			}
		}
	}
	survey(t, dir, func(r *fleet.Request) { r.Record, r.Program = filepath.Join(state, "new"), "p" })
	left, err := os.ReadDir(state)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if len(names) > 8 || !slices.Contains(names, "new") {
		t.Errorf("left are %q", names)
	}
}

// TestClaimedHash: a policy that was changed and kept its old hash in the manifest is a problem, and differs from before.
func TestClaimedHash(t *testing.T) {
	dir, shot := t.TempDir(), filepath.Join(t.TempDir(), "snapshot")
	write(t, dir, tool("a", "src", ir.Read))
	survey(t, dir, func(r *fleet.Request) { r.Snapshot = shot })
	file := filepath.Join(dir, "manifest.json")
	data, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(data, []byte(`"caps": ["read"]`), []byte(`"caps": ["read", "update"]`), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := survey(t, dir, func(r *fleet.Request) { r.Since = shot })
	if got := problems(dir, f); !slices.Contains(got, "manifest.json a tool.hash") {
		t.Errorf("got %q", got)
	}
	if !f.Since.Widened() || len(f.Since.Changes) != 1 {
		t.Errorf("the change is not seen: %+v", f.Since)
	}
}

// TestOtherProgram: the facts of one program are not those of another.
func TestOtherProgram(t *testing.T) {
	dir, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	write(t, dir, tool("a", "src", ir.Read))
	for program, fresh := range map[string]int{"": 1, "p": 1} {
		of := func(r *fleet.Request) { r.Record, r.Program = record, program }
		if got := survey(t, dir, of).Fresh; got != 1 {
			t.Errorf("%q: %d were read anew", program, got)
		}
		if got, want := survey(t, dir, of).Fresh, map[bool]int{true: 0, false: fresh}[program != ""]; got != want {
			t.Errorf("%q again: %d were read anew, want %d", program, got, want)
		}
	}
}

// TestChanging: while manifests are replaced, each result is one of the two states, or says that it could not be had.
func TestChanging(t *testing.T) {
	dir := t.TempDir()
	sides := [2]string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
	write(t, sides[0], tool("a", "src", ir.Read))
	write(t, sides[1], tool("a", "src", ir.Read, ir.Update))
	var hashes []string
	for _, side := range sides {
		hashes = append(hashes, survey(t, side).Manifests[0].Hash)
	}
	write(t, dir, tool("a", "src", ir.Read))
	done := make(chan error)
	stop := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				close(done)
				return
			default:
			}
			tools := []*ir.Tool{tool("a", "src", ir.Read), tool("a", "src", ir.Read, ir.Update)}[i%2]
			req := build.Request{Program: &ir.Program{Tools: []*ir.Tool{tools}}, Backends: registry.All, Form: backends.Portable}
			if _, _, err := build.Write(req, dir); err != nil {
				done <- err
				return
			}
		}
	}()
	whole := 0
	for range irtest.Rounds(t, 500) {
		f := survey(t, dir)
		if len(f.Manifests) == 0 {
			continue // between two renames there is none
		}
		m := f.Manifests[0]
		if m.Hash != "" && !slices.Contains(hashes, m.Hash) {
			t.Errorf("a manifest of no side: %+v", m)
		}
		if len(m.Problems) == 0 {
			whole++
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if whole == 0 {
		t.Error("no run saw a whole manifest")
	}
}
