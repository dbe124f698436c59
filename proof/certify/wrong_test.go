package certify_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/proof/certify"
)

// mixed is a policy of which each part of the texts below says something.
func mixed() *ir.Tool {
	t := ir.NewTool("tool")
	t.FS = nil
	t.Declared.FS, t.Declared.Net, t.Declared.Env, t.Home = true, true, true, ir.HomePrivate
	add := func(path string, names []string, caps ...ir.Capability) {
		t.FS = append(t.FS, ir.FSRule{Written: path, At: ir.In(path), Names: names, Caps: ir.Caps(caps...)})
	}
	add("", nil, ir.Read)
	add("src", nil, ir.Read, ir.Create, ir.Update, ir.Delete)
	add("src/generated", nil, ir.Read)
	add(".env", nil)
	add("log", nil, ir.Read, ir.Update)
	add("", []string{"*.pem"})
	t.Net = []ir.NetRule{{
		Written: "example.com", Host: ir.Host{Kind: ir.HostName, Name: "example.com"}, Scheme: "https", Allow: true,
	}}
	t.Env = []ir.EnvRule{{Name: "PATH", Read: true}}
	t.Limits = []ir.Limit{{Kind: ir.LimitProcesses, Value: 32}, {Kind: ir.LimitOpenFiles, Value: 256}}
	return t
}

// An edit changes a text. It has to change something.
type edit func(text string) string

// swap replaces the first of some words.
func swap(old, new string) edit {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

// within changes the part of a text from one word to the next time that another stands there.
func within(from, to string, inner edit) edit {
	return func(s string) string {
		_, rest, found := strings.Cut(s, from)
		part, _, ends := strings.Cut(rest, to)
		if !found || !ends {
			return s
		}
		return strings.Replace(s, from+part, inner(from+part), 1)
	}
}

func empty(string) string { return "" }

// behind adds a statement at the end of the rules.
func behind(statement string) edit { return swap("; -- programs --", statement+"\n; -- programs --") }

// only is a build of one artifact, with this text.
func (b built) only(file string, text []byte) certify.Build {
	out := b.Build
	out.Manifest = regexp.MustCompile(`"artifacts":\{[^}]*\}`).ReplaceAll(out.Manifest,
		[]byte(`"artifacts":{"`+file+`":"`+sum(text)+`"}`))
	out.Read = func(_, _ string) ([]byte, error) { return text, nil }
	return out
}

// TestWrongTexts: a text with a mistake is certified by nobody, whoever makes manifest and certificate anew. Each is a
// mistake that an emitter could make, or that a profile or a list of another project has had.
func TestWrongTexts(t *testing.T) {
	const profile, lists, own = "seatbelt.sb", "winjob.json", "context.json"
	anywhere := func(pattern, to string) edit {
		x := regexp.MustCompile(pattern)
		return func(s string) string { return x.ReplaceAllString(s, to) }
	}
	right := build(t, mixed())
	for _, file := range []string{profile, lists, own} {
		if _, err := certify.Certificate(right.only(file, right.texts[file])); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []struct {
		file, name string
		edit       edit
	}{
		{profile, "a denial is dropped", within("; fs[3]  .env", "\n; ", empty)},
		{profile, "a rule with fewer components is behind", func(s string) string {
			_, rest, _ := strings.Cut(s, "; fs[1]  src ")
			block, _, _ := strings.Cut(rest, "\n; ")
			s = strings.Replace(s, "; fs[1]  src "+block+"\n", "", 1)
			return behind("; fs[1]  src " + block)(s)
		}},
		{profile, "parameters are swapped", func(s string) string {
			return strings.NewReplacer("TMP=PATH  the private directory of the run", "TMP=PATH  the workspace",
				"WORKSPACE=PATH  the workspace", "WORKSPACE=PATH  the private directory of the run").Replace(s)
		}},
		{profile, "a parameter has two meanings",
			swap("; define -D TMP=PATH", "; define -D TMP=PATH  the workspace\n; define -D TMP=PATH")},
		{profile, "a parameter has no meaning", swap("; define -D TMP=PATH", "; define -D TEMP=PATH")},
		{profile, "a literal in place of a tree",
			anywhere(`\(subpath (\(string-append \(param "WORKSPACE"\) "/\.env"\))\)`, "(literal $1)")},
		{profile, "a prefix in place of a tree", swap("(subpath", "(prefix")},
		{profile, "a longer tree", within("; fs[1]  src ", "\n; ", func(s string) string {
			return strings.ReplaceAll(s, ` "/src"`, ` "/sr"`)
		})},
		{profile, "a path with a slash at its end", swap(`"/.env"`, `"/.env/"`)},
		{profile, "a path with a dot", swap(`"/.env"`, `"/./.env"`)},
		{profile, "an operation is left out of a denial",
			within("; fs[2]  src/generated", "\n; ", swap("file-write-data", ""))},
		{profile, "a part of the metadata is left out of a grant",
			within("; fs[1]  src ", "\n; ", swap("file-write-owner", ""))},
		{profile, "a grant in place of a denial", within("; fs[3]  .env", "\n; ", func(s string) string {
			return anywhere(`\s*\(with message "[^"]*"\)`, "")(strings.Replace(s, "(deny", "(allow", 1))
		})},
		{profile, "a family in place of operations",
			within("; fs[3]  .env", "\n; ", swap("file-read-data", "file-read*"))},
		{profile, "a denial by the family alone", within("; fs[2]  src/generated", "\n; ",
			anywhere(`(?s)\(deny file-write\*.*?interpreter`, "(deny file-write*"))},
		{profile, "everything by default", behind("(allow default)")},
		{profile, "a rule without a place", behind("(allow file-read-data)")},
		{profile, "a service", behind("(allow mach-lookup)")},
		{profile, "a file without a sandbox", behind(`(allow process-exec* (literal "/bin/ps") (with no-sandbox))`)},
		{profile, "a statement of the frame is dropped", anywhere(`\(deny file-link [^\n]*\n`, "")},
		{profile, "a statement of the frame is too early", func(s string) string {
			line := regexp.MustCompile(`\(deny file-ioctl [^\n]*\n`).FindString(s)
			return strings.Replace(strings.Replace(s, line, "", 1), "(allow process-fork)\n", "(allow process-fork)\n"+line, 1)
		}},
		{profile, "an import", behind(`(import "system.sb")`)},
		{profile, "an expression for other names", anywhere(`\[Pp\]\[Ee\]\[Mm\]`, "[Pp][Ee][Xx]")},
		{profile, "an expression in one case", anywhere(`\[Pp\]\[Ee\]\[Mm\]`, "pem")},
		{profile, "an expression without its beginning", swap(`(regex (string-append "^"`, `(regex (string-append ""`)},
		{profile, "an expression that the system does not know", swap(`/(.*/)?`, `/(?:.*/)?`)},
		{profile, "an expression not below names", swap(`(/.*)?$"`, `$"`)},
		{profile, "clones of a directory with secrets",
			within("; -- pins", "; -- last", anywhere(`(?s)\(deny file-clone.*?pin"\)\)`, ""))},
		{profile, "every host", behind(`(allow network-outbound (remote tcp "*:443"))`)},
		{profile, "another port", swap(`(string-append "localhost:" (param "PROXY"))`, `"localhost:8081"`)},
		{profile, "a listener", behind(`(allow network-bind network-inbound (local tcp "localhost:9000"))`)},
		{profile, "a local address where a remote one is meant",
			behind(`(allow network-outbound (local ip "localhost:*"))`)},
		{profile, "a quoted character that others read", swap(`"/.env"`, `"/\x2eenv"`)},
		{profile, "a character outside of ASCII", behind("; ok\n–")},
		{profile, "a variable", swap(`"environment": [`, `"environment": [{"name": "TOKEN", "read": true},`)},
		{profile, "all variables",
			swap(`"environment": [`, `"environment": [{"name": "", "prefix": true, "read": true},`)},
		{profile, "no limit", anywhere(`,\s*;!\s*\{"kind": "open_files", "value": 256\}`, "")},
		{profile, "a higher limit", swap(`"value": 256`, `"value": 2560`)},
		{profile, "a need is missing", anywhere(`"is": "weaker"`, `"is": "exact"`)},

		{lists, "a list is dropped", anywhere(`(?s)\{\s*"path": "\$\{workspace\}\\\\\.env".*?\},\s*`, "")},
		{lists, "a list inherits", within(`\\src\\generated"`, "}", swap(`"protected"`, `"grant"`))},
		{lists, "a word too many", within(`\\src\\generated"`, "}", swap(`"read"`, `"read", "update"`))},
		{lists, "a path that may be missing", within(`\\.env"`, "}", swap(`"refuse"`, `"skip"`))},
		{lists, "two lists of a path", swap(`\\src\\generated"`, `\\src"`)},
		{lists, "an unknown word", within(`\\src\\generated"`, "}", swap(`"read"`, `"all"`))},
		{lists, "update of directories",
			within(`"update": {`, "}", swap(`"INHERIT_ONLY_ACE"`, `"CONTAINER_INHERIT_ACE"`))},
		{lists, "removing by the directory", swap(`"FILE_ADD_FILE"`, `"FILE_DELETE_CHILD", "FILE_ADD_FILE"`)},
		{lists, "changing lists", swap(`"FILE_GENERIC_READ"`, `"WRITE_DAC", "FILE_GENERIC_READ"`)},
		{lists, "an entry that denies", swap(`"ACCESS_ALLOWED_ACE_TYPE"`, `"ACCESS_DENIED_ACE_TYPE"`)},
		{lists, "another identifier", anywhere(`"S-1-15-2-\d+-`, `"S-1-15-2-1-`)},
		{lists, "a capability", swap(`"Capabilities": []`, `"Capabilities": ["internetClient"]`)},
		{lists, "an open network", swap(`"mode": "closed"`, `"mode": "open"`)},
		{lists, "entries for all packages", swap(`"strip": ["S-1-15-2-1", "S-1-15-2-2"]`, `"strip": []`)},
		{lists, "breaking away",
			swap(`"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"`,
				`"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE", "JOB_OBJECT_LIMIT_BREAKAWAY_OK"`)},
		{lists, "outliving the loader", anywhere(`,\s*"JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"`, "")},
		{lists, "no restrictions of the desktop", swap(`"JOB_OBJECT_UILIMIT_DESKTOP", `, "")},
		{lists, "an administrator", swap(`"SidsToDisable": ["S-1-5-32-544"]`, `"SidsToDisable": []`)},
		{lists, "objects that others remove", swap(`"FILE_SHARE_WRITE"]`, `"FILE_SHARE_WRITE", "FILE_SHARE_DELETE"]`)},
		{lists, "a tier that leaves files", anywhere(`"leaves": \[\]`, `"leaves": ["fileAccess"]`)},
		{lists, "more processes", swap(`"ActiveProcessLimit": 32`, `"ActiveProcessLimit": 33`)},
		{lists, "a limit without its flag", swap(`"JOB_OBJECT_LIMIT_ACTIVE_PROCESS", `, "")},
		{lists, "a variable", swap(`"environment": [`, `"environment": [{"name": "TOKEN", "read": true},`)},
		{own, "a capability too many", within(`"src/generated"`, "}", swap(`"update": false`, `"update": true`))},
		{own, "a rule is dropped", anywhere(`(?s)\{\s*"lexical_path": "\.env".*?\},`, "")},
		{own, "rules in another order", func(s string) string {
			return strings.NewReplacer(`"src"`, `"src/generated"`, `"src/generated"`, `"src"`).Replace(s)
		}},
		{own, "another host", swap(`"example.com"`, `"*"`)},
		{own, "a variable", swap(`"PATH"`, `"*"`)},
		{own, "any program", swap(`"commands": null`, `"commands": {}`)},
		{lists, "an unknown field", swap(`"console": "own"`, `"console": "own", "also": 1`)},
	} {
		text := []byte(wrong.edit(string(right.texts[wrong.file])))
		if bytes.Equal(text, right.texts[wrong.file]) {
			t.Errorf("%s, %s: the edit changes nothing", wrong.file, wrong.name)
			continue
		}
		if _, err := certify.Certificate(right.only(wrong.file, text)); err == nil {
			t.Errorf("%s, %s: certified", wrong.file, wrong.name)
		}
	}
}
