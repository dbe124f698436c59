package winjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// TestReadBack: for any policy the written text is read, and means the same.
func TestReadBack(t *testing.T) {
	irtest.Check(t, 1000, 1, func(rt *rapid.T) {
		tool := anyTool(rt)
		out, err := Backend{}.Compile(tool, genTarget(rt, tool, irtest.Plain))
		if err != nil || len(out.Refusals) > 0 {
			rt.Fatal(err, out.Refusals)
		}
		s, err := Parse(out.Data)
		if err != nil {
			rt.Fatal(err)
		}
		if again, err := backends.JSON(s); err != nil || !bytes.Equal(again, out.Data) {
			rt.Fatal("the text changed by being read")
		}
	})
}

func sample(t testing.TB) string {
	t.Helper()
	tool := toolWith(t, ".: read", "a: create delete")
	tool.Commands = &ir.CommandSet{}
	tool.Limits = []ir.Limit{{Kind: ir.LimitMemory, Value: 1 << 20}, {Kind: ir.LimitCPUTime, Value: 1000}}
	out, err := Backend{}.Compile(tool, backends.Target{Form: backends.Portable})
	if err != nil || out.Data == nil {
		t.Fatal(err, out.Refusals)
	}
	return string(out.Data)
}

// TestParseRefuses: one change at a time to a good specification. Changes are made to
// the compact text, which is then laid out again, so that the layout is no reason to
// refuse it.
func TestParseRefuses(t *testing.T) {
	good := sample(t)
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	compact := string(compacted(t, []byte(good)))
	for _, c := range []struct{ name, old, new string }{
		{"format", `accessc/windows-job-spec`, `accessc/landlock`},
		{"version", `"format_version":2`, `"format_version":1`},
		{"form", `"portable"`, `"elsewhere"`},
		{"unknown key", `"tier":1,`, `"tier":1,"more":1,`},
		{"key in another case", `"minimumBuild"`, `"minimumbuild"`},
		{"key twice", `"tool":"fmt",`, `"tool":"x","tool":"fmt",`},
		{"older build", `17763`, `10240`},
		{"tier", `"tier":1,"tiers"`, `"tier":0,"tiers"`},
		{"boundary", `"boundary":false`, `"boundary":true`},
		{"no tier", `"leaves":[`, `"leaves":["job",`},
		{"enforcement of a tier", `"weakest":{"fs":"none"`, `"weakest":{"fs":"fine"`},
		{"enforcement of a cell", `"is":"weaker"`, `"is":"good"`},
		{"unknown flag", `JOB_OBJECT_LIMIT_JOB_MEMORY`, `JOB_OBJECT_LIMIT_BREAKAWAY_OK`},
		{"flag without a value", `"JobMemoryLimit":1048576`, `"JobMemoryLimit":0`},
		{"value without a flag", `"JOB_OBJECT_LIMIT_JOB_MEMORY",`, ``},
		{"no kill on close", `,"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"`, ``},

		{"fewer restrictions", `"JOB_OBJECT_UILIMIT_DESKTOP",`, ``},
		{"children", `"ActiveProcessLimit":1`, `"ActiveProcessLimit":2`},
		{"child policy", `PROCESS_CREATION_CHILD_PROCESS_RESTRICTED`, `PROCESS_CREATION_CHILD_PROCESS_OVERRIDE`},
		{"token flag", `"DISABLE_MAX_PRIVILEGE"`, `"SANDBOX_INERT"`},
		{"administrators", `"S-1-5-32-544"`, `"S-1-5-32-545"`},
		{"container of another tool", `accessc.fmt.`, `accessc.fmu.`},
		{"container identifier", `"AppContainerSid":"S-1-15-2-`, `"AppContainerSid":"S-1-15-2-1`},
		{"capability", `"Capabilities":[]`, `"Capabilities":["S-1-15-3-1"]`},
		{"group", `"S-1-15-2-2"`, `"S-1-15-2-3"`},
		{"share mode", `"FILE_SHARE_WRITE"`, `"FILE_SHARE_DELETE"`},
		{"right", `"FILE_GENERIC_READ"`, `"FILE_ALL_ACCESS"`},
		{"unknown right", `"FILE_GENERIC_READ"`, `"FILE_SUPER"`},
		{"type of entry", `ACCESS_ALLOWED_ACE_TYPE`, `ACCESS_DENIED_ACE_TYPE`},
		{"list", `"dacl":"protected"`, `"dacl":"open"`},
		{"word", `"grants":["open","read"]`, `"grants":["open","all"]`},
		{"what is absent", `"absent":"refuse"`, `"absent":"ignore"`},
		{"two entries", `"path":"${workspace}\\a"`, `"path":"${WORKSPACE}"`},
		{"no path", `"path":"${workspace}\\a"`, `"path":""`},
		{"network", `"mode":"closed"`, `"mode":"open"`},
		{"service", `"BFE",`, ``},
		{"wrong type", `"tier":1`, `"tier":"1"`},
	} {
		changed := strings.Replace(compact, c.old, c.new, 1)
		if changed == compact {
			t.Errorf("%s: nothing to change", c.name)
			continue
		}
		bad, err := backends.JSON(json.RawMessage(changed))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if _, err := Parse(bad); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, bad := range []string{compact, good + "{}\n", good + " ", strings.TrimSuffix(good, "\n"), "\ufeff" + good} {
		if _, err := Parse([]byte(bad)); !errors.Is(err, ErrSpec) {
			t.Errorf("another spelling of the same was read: %v", err)
		}
	}
}

// TestMountRefuses: a loader does not start where the path of an entry is missing and the tool
// must not make it.
func TestMountRefuses(t *testing.T) {
	s, err := Parse([]byte(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Mount(map[string]ir.NodeKind{`${workspace}`: ir.Dir}); !errors.Is(err, ErrAbsent) {
		t.Errorf("got %v", err)
	}
	s.Files.Grants["read"].Directory[0].AccessMask[0] = "FILE_SUPER"
	if _, err := s.Mount(nil); !errors.Is(err, ErrSpec) {
		t.Errorf("got %v", err)
	}
}

// FuzzParse: every accepted text is in the one form in which it is written, and can be mounted
// or is refused for a missing path.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample(f)))
	for _, name := range []string{"portable.json", "resolved.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{"", "{}", "null", "[]", `{"format":"accessc/windows-job-spec","format_version":1}`, "{\"form\": \"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if !errors.Is(err, ErrSpec) {
				t.Fatalf("not one of ours: %v", err)
			}
			return
		}
		if again, err := backends.JSON(s); err != nil || !bytes.Equal(again, data) {
			t.Fatal("two spellings of one document were read")
		}
		if _, err := s.Mount(map[string]ir.NodeKind{s.Workspace: ir.Dir}); err != nil && !errors.Is(err, ErrAbsent) {
			t.Fatal(err)
		}
	})
}
