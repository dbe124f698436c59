package compiler_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/compiler/diag"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/internal/host/hostview"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/test/irtest"
)

// compiledApart compiles one layer as a start does.
func compiledApart(t testing.TB, file, text string) *compiler.Result {
	t.Helper()
	tree := fstest.MapFS{file: {Data: []byte(text)}}
	res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: os.TempDir(), Tree: tree, Apart: true, Layers: source.Request{Shared: true}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// toolNamed is a tool of a program, nil where an error has stopped it or all.
func toolNamed(res *compiler.Result, name string) *ir.Tool {
	if res.Program == nil {
		return nil
	}
	for _, t := range res.Program.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// TestMisspeltStops: whoever misspells the policy of a tool gets no tool with the default.
func TestMisspeltStops(t *testing.T) {
	const tool = "[tools.a]\nsource = \"local\"\ncommand = \"cat\"\n"
	const rules = `[{ path = ".", read = true }, { path = ".env" }]`
	for name, text := range map[string]string{
		"a letter less":                 tool + "acces.fs = " + rules,
		"a table":                       tool + "[tools.a.acess]\nfs = " + rules,
		"without access":                tool + "fs = " + rules,
		"the form of presets":           tool + "[[tools.a.fs]]\npath = \".env\"",
		"a preset":                      tool + `extends = ["preset:node"]`,
		"another case":                  tool + "Access = { fs = " + rules + " }",
		"another case of the name":      tool + "[tools.A.access]\nfs = " + rules,
		"another name":                  tool + "[tools.b.access]\nfs = " + rules,
		"constraints of another name":   tool + "[tools.b.constraints]\nforbidden = true",
		"a word of other programs":      tool + "permissions = { fs = " + rules + " }",
		"joined":                        tool + "access_fs = " + rules,
		"joined by a hyphen":            tool + "access-fs = " + rules,
		"at the top":                    tool + "[access]\nfs = " + rules,
		"tools in the singular":         tool + "[tool.a.access]\nfs = " + rules,
		"a level more":                  tool + "[tools.a.access.access]\nfs = " + rules,
		"a level less":                  tool + "[tools.access]\nfs = " + rules,
		"a level above":                 tool + "[a.access]\nfs = " + rules,
		"conversation without tools":    tool + "[conversation.a.access]\nfs = " + rules,
		"conversation in the plural":    tool + "[conversations.tools.a.access]\nfs = " + rules,
		"another program's permissions": tool + "[permissions]\ndeny = [\"Read(.env)\"]",
		"the defaults":                  tool + "[tools.'*']\nfs = " + rules,
		"constraints of all tools":      tool + "[tools.'*']\nconstraints = { forbidden = true }",
		"a command of all tools":        tool + "[tools.'*']\ncommand = \"true\"",
		"trust of a layer by another":   tool + "[[layers]]\npath = \"x\"\ntrust = \"narrow\"",
		"conversations":                 tool + "[[conversation]]\n[conversation.tools.a.access]\nfs = " + rules,
		"a conversation as a list":      "conversation = [{ tools = { a = {} } }]\n" + tool,
		"below a key of the host":       tool + "options.access.fs = " + rules,
		"below enable":                  tool + "enable.access.fs = " + rules,
		"a list below a key of hosts":   tool + "parameters.files = " + rules,
		"all servers":                   tool + "[servers.'*']\naccess.base = \"none\"",
		"alternatives":                  tool + "access.fs = [{ path = \".\", read = true }, { path = \"{.env,b}\" }]",
		"a negation":                    tool + "access.fs = [{ path = \".\", read = true }, { path = \"!.env\" }]",
		"a format of later":             "accessc = 2\n" + tool,
	} {
		t.Run(name, func(t *testing.T) {
			res := compiledApart(t, "accessc.toml", text)
			if toolNamed(res, "a") != nil {
				t.Errorf("the tool starts: %v", res.Findings)
			}
			if !slices.ContainsFunc(res.Concerning("a"), func(d diag.Diagnostic) bool { return d.Severity == diag.Error }) {
				t.Errorf("a start shows no error: %v", res.Findings)
			}
		})
	}
}

// TestOthersKeysAreTheirs: what hosts keep beside a policy is no error.
func TestOthersKeysAreTheirs(t *testing.T) {
	const tool = "[conversation.tools.a]\nsource = \"local\"\ncommand = \"cat\"\nenable = true\nrun = \"ask\"\nsummary = \"s\"\n"
	const more = "title = \"t\"\nstyle.inline_results = \"off\"\n[conversation.tools.a.parameters.path]\ntype = \"string\"\nread = \"x\"\n"
	for file, text := range map[string]string{
		"accessc.toml": "accessc = 1\nx-note = { access = 1 }\n" + tool + "x-of-mine = 1\nstyle = { parameters = \"json\" }\n[conversation.tools.'*']\nrun = \"ask\"\n",
		".jp/config.toml": "config_load_paths = [\"x\"]\n[style.code]\ncolor = true\n[providers.llm.aliases.name]\nprovider = \"p\"\n" +
			tool + more + "[plugins.command.serve]\nrun = \"deny\"\n[[conversation.tools.a.questions]]\nname = \"n\"\ntext = \"t\"\n",
	} {
		if res := compiledApart(t, file, text); toolNamed(res, "a") == nil || len(res.Findings) > 0 {
			t.Errorf("%s: %v", file, res.Findings)
		}
	}
}

// policies are layers whose tool a is denied something by each of their keys.
var policies = []string{
	`[tools.a]
source = "local"
command = "cat"
access.fs = [{ path = ".", read = true }, { path = ".env" }]
access.env = [{ name = "FOO", read = true }]
`, `extends = ["preset:node"]
[tools.a]
source = "local"
command = { program = "cat", args = ["x"] }
constraints = { forbidden = true }
[tools.a.access]
base = "minimal"
commands = { cat = { args = [["x"]] } }
limits = { wall_time = "1s", processes = 9 }
[[tools.a.access.fs]]
path = "src"
read = true
create = false
[[tools.a.access.net]]
host = "example.com"
allow = true
`, `[conversation.tools.a]
source = "local"
command = "cat"
[conversation.tools.a.access]
fs = { strategy = "replace", value = [{ path = "src", read = true }] }
sensitive_paths = ["x"]
env = [{ name = "*" }]
net = [{ host = "*", allow = true }, { host = "a.example", allow = false }]
`,
}

// keys are the keys in the layers of policies: before "=" and ".", and in headers. Text in quotes is a value.
var keys = regexp.MustCompile(`"[^"]*"|[A-Za-z_]+(?: =|\.)|[A-Za-z_]+(?:\]*\n)`)

// edited makes an edit of a key of a layer.
func edited(r *rand.Rand, text string) string {
	at := slices.DeleteFunc(keys.FindAllStringIndex(text, -1), func(place []int) bool {
		return text[place[0]] == '"' || strings.HasPrefix(text[place[0]:], "cat ") || strings.HasPrefix(text[place[0]:], "true") ||
			strings.HasPrefix(text[place[0]:], "false")
	})
	start := at[r.IntN(len(at))][0]
	end := start
	for isWord(text[end]) {
		end++
	}
	return text[:start] + edit(r, text[start:end]) + text[end:]
}

func isWord(b byte) bool { return b == '_' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }

// edit makes an edit of a word: a letter, its case, "-" for "_", the plural, quotes, a level more.
func edit(r *rand.Rand, w string) string {
	i := r.IntN(len(w))
	letter := string(rune('a' + r.IntN(26)))
	switch r.IntN(10) {
	case 0:
		return `"` + w + `"`
	case 9:
		return w[:i] + w[i+1:]
	case 1:
		return w[:i] + letter + w[i:]
	case 2:
		return w[:i] + letter + w[i+1:]
	case 3:
		if i > 0 {
			return w[:i-1] + w[i:i+1] + w[i-1:i] + w[i+1:]
		}
		return w + letter
	case 4:
		return strings.ToUpper(w[:1]) + w[1:]
	case 5:
		return strings.ToUpper(w)
	case 6:
		if strings.Contains(w, "_") {
			return strings.Replace(w, "_", "-", 1)
		}
		return strings.TrimSuffix(w, "s")
	case 7:
		return w + "s"
	default:
		return w + "." + w
	}
}

// TestEditsAreUnderstood: one edit of any key of a policy that denies something is an error that stops the tool, or
// changes nothing. In the files of another program its own keys are left out, which are none here.
func TestEditsAreUnderstood(t *testing.T) {
	origins := cmpopts.IgnoreTypes(ir.Origin{}, ir.Pos{})
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	files := []string{"accessc.toml", ".jp/config.toml"}
	whole := map[string]*ir.Tool{}
	for _, text := range policies {
		if whole[text] = toolNamed(compiledApart(t, files[0], text), "a"); whole[text] == nil {
			t.Fatalf("%s is not understood", text)
		}
	}
	var mu sync.Mutex
	seen := map[string]int{}
	irtest.Many(t, 100_000, func(r *rand.Rand) error {
		file, text := files[r.IntN(2)], policies[r.IntN(len(policies))]
		changed := edited(r, text)
		got := toolNamed(compiledApart(t, file, changed), "a")
		kind := "refused"
		if got != nil {
			kind = "the same"
			if !cmp.Equal(got, whole[text], origins, all) {
				return fmt.Errorf("%s:\n%s\nis another policy: %s", file, changed, cmp.Diff(got, whole[text], origins, all))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		seen[kind]++
		return nil
	})
	irtest.Happened(t, seen, "refused", "the same")
}

// TestDefaultsOfAllTools: the table of defaults gives each local tool its base, limits and sensitive paths, and a
// tool's own word wins, whichever layer comes first.
func TestDefaultsOfAllTools(t *testing.T) {
	const all = "[tools.'*'.access]\nbase = \"minimal\"\nlimits = { wall_time = \"1s\", processes = 9 }\nsensitive_paths = [\"a\"]\n"
	const own = "[tools.x]\nsource = \"local\"\n[tools.x.access]\nlimits = { wall_time = \"2s\" }\nsensitive_paths = [\"b\"]\n" +
		"[tools.y]\nsource = \"local\"\naccess.base = \"system\"\n[tools.z]\nsource = \"mcp.s.t\"\n"
	for _, text := range []string{all + own, own + all} {
		res := compiledApart(t, "accessc.toml", text)
		x, y := toolNamed(res, "x"), toolNamed(res, "y")
		if x == nil || y == nil || toolNamed(res, "z") == nil || len(res.Findings) > 0 {
			t.Fatalf("%v", res.Findings)
		}
		patterns := func(of *ir.Tool) (out []string) {
			for _, p := range of.Sensitive {
				if p.Origin.Layer != ir.LayerDefault {
					out = append(out, p.Pattern)
				}
			}
			return out
		}
		limits := func(of *ir.Tool) (out []string) {
			for _, l := range of.Limits {
				out = append(out, fmt.Sprint(l.Kind, l.Value))
			}
			return out
		}
		if x.Base != ir.BaseMinimal || y.Base != ir.BaseSystem {
			t.Errorf("the bases are %s and %s", x.Base, y.Base)
		}
		if got := fmt.Sprint(patterns(x), patterns(y)); got != "[a b] [a]" {
			t.Errorf("sensitive are %s", got)
		}
		if a, b := len(limits(x)), len(limits(y)); a != 2 || b != 2 || slices.Equal(limits(x), limits(y)) {
			t.Errorf("the limits are %v and %v", limits(x), limits(y))
		}
	}
}

// TestMistakesInEntriesStopTheServer: without an entry of a server's tool more of its tools could be called: all,
// without any entry. A mistake in an entry stops the server, and an entry whose source is not understood every server.
func TestMistakesInEntriesStopTheServer(t *testing.T) {
	const servers = "[servers.s]\ncommand = \"x\"\n[servers.\"s.t\"]\ncommand = \"x\"\n[servers.other]\ncommand = \"x\"\n[tools.a]\nsource = \"local\"\n"
	entry := func(source, mistake string) string {
		return servers + "[tools.e]\nsource = \"" + source + "\"\n" + mistake + "\n"
	}
	for text, wrong := range map[string]string{
		entry("mcp.s.edit", "constraints = { forbiden = true }"):         "e s unlisted=false",
		entry("mcp.s.t.edit", "acces = 1"):                               "e s s.t unlisted=false",
		entry("mcp.s", "run = 1"):                                        "e s unlisted=false",
		entry("mcp.unlisted.edit", "access = {}"):                        "e unlisted=true",
		entry("MCP.s.edit", ""):                                          "e s unlisted=false",
		entry("mpc.s.edit", ""):                                          "e other s s.t unlisted=true",
		entry("mcp.s.edit", "constraints = { only_after = [\"none\"] }"): "e s unlisted=false",
		entry("mcp.s.edit", ""):                                          "unlisted=false",
		entry("local.x", "acces = 1"):                                    "e unlisted=false",
	} {
		res := compiledApart(t, "accessc.toml", text)
		var got []string
		for _, name := range []string{"a", "e", "other", "s", "s.t"} {
			if res.Wrong(name) {
				got = append(got, name)
			}
		}
		if said := strings.TrimSpace(strings.Join(got, " ") + fmt.Sprintf(" unlisted=%v", res.Wrong("unlisted"))); said != wrong {
			t.Errorf("%s: wrong are %s, want %s: %v", text, said, wrong, res.Findings)
		}
		for _, name := range got {
			if !res.Concerning(name).Failed() {
				t.Errorf("%s: a start of %s shows no error", text, name)
			}
		}
	}
}

// TestNamesOfTheUsersOwnFile: the user's own file has rules for tools that another workspace has.
func TestNamesOfTheUsersOwnFile(t *testing.T) {
	user := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(user, []byte("[tools.lint.access]\nfs = [{ path = \".env\" }]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, starts := range map[string]bool{
		"[tools.a]\nsource = \"local\"\n":                              true,
		"[tools.a]\nsource = \"local\"\n[tools.lint]\nrun = \"ask\"\n": false,
	} {
		tree := fstest.MapFS{"accessc.toml": {Data: []byte(text)}}
		res, err := compiler.Compile(compiler.Options{Host: hostview.Now, Root: t.TempDir(), Tree: tree, Apart: true, Layers: source.Request{User: user}})
		if err != nil {
			t.Fatal(err)
		}
		if (toolNamed(res, "a") != nil) != starts {
			t.Errorf("%s: %v", text, res.Findings)
		}
	}
}
