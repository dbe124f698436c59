package start

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

func need(gap ir.Gap, to int, why ir.CauseID) backends.Row {
	return backends.NewRow(ir.Row{Resource: ir.FS, Levels: ir.Levels{From: 1, To: to}, Held: ir.Because(ir.Weaker, gap, why)})
}

// TestSettle: gaps stop the start unless each is accepted by its name.
func TestSettle(t *testing.T) {
	spec := &landlock.Spec{Launch: backends.Launch{Needs: []backends.Row{
		need(ir.GapFSMetadata, landlock.MaxABI, "a"), need(ir.GapProcessSignal, 5, "b"), need(ir.GapFSMetadata, landlock.MaxABI, "c"),
		need(ir.GapLimitMemory, landlock.MaxABI, "d"),
	}, Accept: []string{"limits.memory"}}}
	tests := []struct {
		abi    int
		accept []string
		unmet  []string
	}{
		{7, nil, []string{"fs.metadata"}}, {5, nil, []string{"fs.metadata", "process.signal"}}, {5, []string{"fs.metadata"}, []string{"process.signal"}},
		{7, []string{"fs.metadata"}, nil}, {99, nil, []string{"fs.metadata"}}, {7, []string{"fs"}, []string{"fs.metadata"}},
	}
	for _, tt := range tests {
		var said strings.Builder
		accepted, err := settle(&Request{Spec: spec, Accept: tt.accept, Messages: &said}, Host{ABI: tt.abi})
		var e *Error
		var got []string
		if errors.As(err, &e) {
			for _, n := range e.Unmet {
				got = append(got, string(n.Name))
			}
		}
		if !slices.Equal(got, tt.unmet) || (err == nil) != strings.Contains(said.String(), "limits.memory") {
			t.Errorf("%+v: got %v, accepted %v, said %q", tt, got, accepted, said.String())
		}
	}
	_, err := settle(&Request{Spec: spec, Messages: io.Discard}, Host{ABI: 7})
	if err == nil || !strings.Contains(err.Error(), "--accept fs.metadata") || !strings.Contains(err.Error(), "a; c") {
		t.Errorf("got %v", err)
	}
}

// TestLoad: an artifact must be vouched for, be the right tool's, and be understood.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // the user's own state about /tmp must not count
	file := filepath.Join(dir, "x", "landlock.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(file, "", "x", ""); err == nil || !strings.Contains(err.Error(), "found no manifest") {
		t.Errorf("without a manifest: %v", err)
	}
	if _, _, err := Load(file, "sha256:00", "x", ""); err == nil || !strings.Contains(err.Error(), "has the hash") {
		t.Errorf("with another hash: %v", err)
	}
	sum := "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	// The digest once counted wherever it stood between quotes.
	for manifest, want := range map[string]string{
		`{"x":"sha256:` + sum + `"}`: "format",
		`{"format":"accessc/manifest","format_version":2,"form":"resolved","policy_sha256":"sha256:` + sum + `","tools":[]}`:                                                          "does not match",
		`{"format":"accessc/manifest","format_version":2,"form":"resolved","tools":[{"name":"x","artifacts":{"seatbelt.sb":"sha256:` + sum + `"}}]}`:                                  "does not match",
		`{"format":"accessc/manifest","format_version":2,"form":"resolved","tools":[{"name":"y","artifacts":{"landlock.json":"sha256:` + sum + `"}}]}`:                                "does not match",
		`{"format":"accessc/manifest","format_version":2,"form":"resolved","tools":[{"name":"x","policy":{"artifacts":{"landlock.json":"sha256:` + sum + `"}},"artifacts":{}}]}`:      "does not match",
		`{"format":"accessc/manifest","format_version":1,"tools":[{"name":"x","artifacts":{"landlock.json":"sha256:` + sum + `"}}]}`:                                                  "build it anew",
		`{"format":"accessc/manifest","format_version":2,"form":"resolved","tools":[{"name":"x","source":"local","artifacts":{"landlock.json":"sha256:` + sum + `"},"ledger":[{}]}]}`: landlock.ErrSpec.Error(),
	} {
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(file, "", "x", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", manifest, err, want)
		}
	}
	if _, _, err := Load(file, sum, "x", ""); err == nil || !errors.Is(err, landlock.ErrSpec) {
		t.Errorf("what is no specification: %v", err)
	}
	// In a container nothing but the hash vouches.
	if _, _, err := LoadContained(file, "", "x", ""); err == nil || !strings.Contains(err.Error(), "needs --sha256") {
		t.Errorf("in a container, without a hash: %v", err)
	}
	if _, _, err := LoadContained(file, "sha256:00", "x", ""); err == nil || !strings.Contains(err.Error(), "has the hash") {
		t.Errorf("in a container, with another hash: %v", err)
	}
	for _, bad := range []string{filepath.Join(dir, "none"), dir} {
		if _, _, err := Load(bad, sum, "x", ""); err == nil {
			t.Errorf("%s was loaded", bad)
		}
	}
}

// TestSweepOnlyItsOwn: the sweeper removes directories of runs and nothing else.
func TestSweepOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := Sweep(dir); err == nil {
		t.Error("a directory that is none of a run was removed")
	}
	mine := filepath.Join(dir, runPrefix+"123")
	if err := os.MkdirAll(filepath.Join(mine, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(mine); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("the directory of a run is still there")
	}
}

// TestPlacesOfImages: a symlink at a place that the compiler has looked at refuses the start, and in an image,
// at which it has not, it gets nothing.
func TestPlacesOfImages(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, entries := range []*landlock.Entries{nil, {}} {
		p := landlock.Path{Path: filepath.Join(dir, "link"), Access: []landlock.Right{landlock.ReadFile}, Entries: entries}
		if err := (ruleset{fd: -1, handled: 1<<64 - 1}).path(p); err == nil || !strings.Contains(err.Error(), "leads over a symlink now") {
			t.Errorf("a place that was looked at: %v", err)
		}
		// A grant would fail: there is no ruleset.
		p.Image = true
		if err := (ruleset{fd: -1, handled: 1<<64 - 1}).path(p); err != nil {
			t.Errorf("a place of an image: %v", err)
		}
	}
}
