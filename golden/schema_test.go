package golden_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/golden"
	"github.com/accessc/accessc/ir"
)

// shape lists the findings that a JSON Schema can make, too.
var shape = map[diag.Code]bool{
	diag.WrongType: true, diag.MissingField: true, diag.BadValue: true, diag.UnknownKey: true,
	diag.AccessOnDefault: true, diag.ReplaceEmpty: true, diag.UnknownAccept: true, diag.BadLimit: true, diag.BadNetField: true,
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("../cmd/accessc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns the first error of an archive's layers.
func validate(t *testing.T, s *jsonschema.Schema, a *txtar.Archive) error {
	t.Helper()
	for _, f := range a.Files {
		others := []string{"attestation.toml", "maximum.toml"}
		if filepath.Ext(f.Name) != ".toml" || slices.Contains(others, filepath.Base(f.Name)) {
			continue
		}
		var doc map[string]any
		data := bytes.ReplaceAll(f.Data, []byte("$OUTSIDE"), []byte("/outside"))
		if err := toml.Unmarshal(data, &doc); err != nil {
			continue
		}
		if err := s.Validate(doc); err != nil {
			return err
		}
	}
	return nil
}

// TestSchemaAccepts checks that the schema accepts every input that the compiler accepts.
func TestSchemaAccepts(t *testing.T) {
	s := schema(t)
	doc, err := os.ReadFile(checksFile)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]*txtar.Archive{}
	for _, sec := range sections(t, string(doc)) {
		inputs[string(sec.code)+" fixed"] = sec.fixed.archive()
		if sec.code.Severity() == diag.Warning {
			inputs[string(sec.code)+" failing"] = sec.failing.archive()
		}
	}
	paths, err := filepath.Glob("*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !shaped(a) {
			inputs[path] = a
		}
	}
	for name, a := range inputs {
		if err := validate(t, s, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shaped reports whether an archive expects one of the findings of a schema.
func shaped(a *txtar.Archive) bool {
	for _, f := range a.Files {
		for c := range shape {
			if f.Name == "want.txt" && strings.Contains(string(f.Data), "["+string(c)+"]") {
				return true
			}
		}
	}
	return false
}

// TestSchemaRefuses checks that the schema refuses every shape of a value that the compiler
// refuses.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	doc, err := os.ReadFile(checksFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, sec := range sections(t, string(doc)) {
		if shape[sec.code] && validate(t, s, sec.failing.archive()) == nil {
			t.Errorf("%s: the schema accepts the failing example", sec.code)
		}
	}
}

// TestSchemaKeys compares the keys of every closed table with those that the compiler lists
// when it finds an unknown one.
func TestSchemaKeys(t *testing.T) {
	data, err := os.ReadFile("../cmd/accessc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	tool := at(t, file, "properties", "tools", "additionalProperties")
	list := func(key string, more ...any) []any {
		return append([]any{"properties", "access", "properties", key}, more...)
	}
	for _, c := range []struct {
		toml string
		path []any
	}{
		{"constraints = { zzz = 1 }", []any{"properties", "constraints"}},
		{"access = { zzz = 1 }", []any{"properties", "access"}},
		{"access.fs = [{ path = 'a', zzz = 1 }]", list("fs", "items")},
		{"access.fs = { value = [{ path = 'a', zzz = 1 }] }", list("fs", "properties", "value", "items")},
		{"access.fs = { value = [], zzz = 1 }", list("fs")},
		{"access.net = [{ host = 'a', zzz = 1 }]", list("net", "items")},
		{"access.net = { value = [], zzz = 1 }", list("net")},
		{"access.net = [{ host = 'a', credential = { zzz = 1 } }]", list("net", "items", "properties", "credential")},
		{"access.env = [{ name = 'A', zzz = 1 }]", list("env", "items")},
		{"access.env = { value = [], zzz = 1 }", list("env")},
		{"access.sensitive_paths = { value = [], zzz = 1 }", list("sensitive_paths")},
		{"access.accept = { value = [], zzz = 1 }", list("accept")},
		{"access.tests = [{ zzz = 1 }]", list("tests", "items")},
		{"access.tests = { value = [], zzz = 1 }", list("tests")},
		{"access.commands.ls = { zzz = 1 }", []any{
			"properties", "access", "properties", "commands", "additionalProperties",
		}},
		{"access.limits = { zzz = 1 }", []any{"properties", "access", "properties", "limits"}},
	} {
		node := at(t, tool, c.path...)
		if node["additionalProperties"] != false {
			t.Errorf("%s: the schema takes unknown keys", c.toml)
		}
		props, _ := node["properties"].(map[string]any)
		want := slices.Sorted(maps.Keys(props))
		if got := expectedKeys(t, c.toml); !slices.Equal(got, want) {
			t.Errorf("%s: the compiler knows %q, the schema %q", c.toml, got, want)
		}
	}
}

// TestSchemaRulesetKeys compares the keys of a ruleset, a rule and a matcher with those of the
// compiler.
func TestSchemaRulesetKeys(t *testing.T) {
	data, err := os.ReadFile("../cmd/accessc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	set := at(t, file, "properties", "rulesets", "additionalProperties")
	for text, path := range map[string][]any{
		"zzz = 1": nil,
		"rules = [{ outcome = 'deny', zzz = 1 }]":                            {"properties", "rules", "items"},
		"rules = [{ outcome = 'deny', any = [{ command = 'a', zzz = 1 }] }]": {"properties", "rules", "items", "properties", "any", "items"},
	} {
		props, _ := at(t, set, path...)["properties"].(map[string]any)
		want := slices.Sorted(maps.Keys(props))
		if got := expectedKeys(t, "[rulesets.r]\n"+text); !slices.Equal(got, want) {
			t.Errorf("%s: the compiler knows %q, the schema %q", text, got, want)
		}
	}
}

// TestSchemaMessages: what is wrong with a rule is said of the rule. Of alternatives a
// validator says that none fits, which leaves a misspelt key to be found.
func TestSchemaMessages(t *testing.T) {
	s := schema(t)
	for text, want := range map[string]string{
		"access.fs = [{ path = 'a', wrte = true }]":             "additional properties 'wrte' not allowed",
		"access.fs = { value = [{ path = 'a', wrte = true }] }": "additional properties 'wrte' not allowed",
		"access.fs = 'src'": "got string, want array or object",
		"access.fs = { strategy = 'replace', value = [] }": "minItems: got 0, want 1",
		"access.limits.memory = 'lots'":                    "does not match pattern",
		"access.limits.wall_time = 'long'":                 "does not match pattern",
		"access.accept = ['net.hots']":                     "value must be one of",
		"command = { progam = 'a' }":                       "missing property 'program'",
		"access.commands.git = { args = ['status'] }":      "got string, want array",
	} {
		var doc map[string]any
		if err := toml.Unmarshal([]byte("[tools.x]\n"+text+"\n"), &doc); err != nil {
			t.Fatal(err)
		}
		err := s.Validate(doc)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "oneOf") {
			t.Errorf("%s: found %v, expected %s", text, err, want)
		}
	}
	var doc map[string]any
	if err := toml.Unmarshal([]byte("[tools.'*'.access]\nfs = [{ path = '.' }]\n"), &doc); err != nil {
		t.Fatal(err)
	}
	if s.Validate(doc) == nil {
		t.Error("the schema accepts access in the table of defaults")
	}
}

// TestSchemaAcceptNames holds the names of gaps against the compiler's.
func TestSchemaAcceptNames(t *testing.T) {
	data, err := os.ReadFile("../cmd/accessc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	items := at(t, file, "properties", "tools", "additionalProperties", "properties", "access", "properties", "accept", "items")
	var want []any
	for _, g := range ir.Gaps() {
		want = append(want, string(g))
	}
	if !reflect.DeepEqual(items["enum"], want) {
		t.Errorf("the schema has %q, the compiler %q", items["enum"], want)
	}
}

// at follows keys and indices into a document.
func at(t *testing.T, doc any, path ...any) map[string]any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			object, _ := doc.(map[string]any)
			doc = object[key]
		case int:
			array, ok := doc.([]any)
			if !ok || key >= len(array) {
				t.Fatalf("the schema has no %v", path)
			}
			doc = array[key]
		}
	}
	object, ok := doc.(map[string]any)
	if !ok {
		t.Fatalf("the schema has no table at %v", path)
	}
	return object
}

// expectedKeys returns the keys that the compiler expects in place of zzz.
func expectedKeys(t *testing.T, text string) []string {
	t.Helper()
	a := &txtar.Archive{Files: []txtar.File{{Name: "accessc.toml", Data: []byte(
		"[tools.x]\nsource = 'local'\n" + text + "\n",
	)}}}
	for _, d := range golden.Lay(t, a).Run(t).Result.Findings {
		if _, keys, ok := strings.Cut(d.Label, `found "zzz", expected `); ok {
			out := strings.Split(strings.TrimPrefix(keys, "one of "), ", ")
			slices.Sort(out)
			return out
		}
	}
	t.Fatalf("%s: zzz is not reported", text)
	return nil
}
