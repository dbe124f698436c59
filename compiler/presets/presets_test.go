package presets_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/compiler/presets"
	"github.com/accessc/accessc/compiler/source"
	"github.com/accessc/accessc/ir"
)

// keys are those that the rules of a preset may have, and must have.
var keys = map[string]struct{ may, must []string }{
	"fs":  {[]string{"path", "external", "read", "execute", "reason"}, []string{"path", "external", "read", "reason"}},
	"net": {[]string{"host", "scheme", "port", "listen", "allow", "reason"}, []string{"allow", "reason"}},
	"env": {[]string{"name", "read", "value", "place", "reason"}, []string{"name", "read", "reason"}},
}

// byName are the fields of a rule that closes names in the workspace.
var byName = []string{"path", "names", "reason"}

// agents are the presets of whole agents.
var agents = []string{"claude-code", "codex", "gemini", "opencode"}

func each(t *testing.T, do func(t *testing.T, p *presets.Preset)) {
	if len(presets.Names()) < 20 {
		t.Fatalf("found %d presets", len(presets.Names()))
	}
	for _, name := range presets.Names() {
		t.Run(name, func(t *testing.T) {
			p, bad := presets.Find(name)
			if bad != nil || p == nil {
				t.Fatalf("got %v", bad)
			}
			do(t, p)
		})
	}
}

// rules lists the rules of one list.
func rules(p *presets.Preset, key string) []*source.Table {
	var out []*source.Table
	if v := p.Rules.Get(key); v != nil {
		for _, item := range v.Array {
			out = append(out, item.Table)
		}
	}
	return out
}

// TestForm: a preset has a version, a purpose and rules that grant, each with its reason, and
// nothing else.
func TestForm(t *testing.T) {
	sentence := regexp.MustCompile(`^[A-Z].*\.$`)
	each(t, func(t *testing.T, p *presets.Preset) {
		if p.Version < 1 || !sentence.MatchString(p.Purpose) || len(p.Purpose) > 110 {
			t.Errorf("version %d, %q", p.Version, p.Purpose)
		}
		count := 0
		for _, e := range p.Rules.Entries {
			want, known := keys[e.Key]
			if e.Key == "version" || e.Key == "purpose" {
				continue
			}
			if !known {
				t.Errorf("found the key %q", e.Key)
			}
			for _, r := range rules(p, e.Key) {
				count++
				if r.Get("names") != nil {
					checkKeys(t, r, byName, byName)
					continue
				}
				checkKeys(t, r, want.may, want.must)
			}
		}
		if count == 0 {
			t.Error("has no rule")
		}
	})
}

func checkKeys(t *testing.T, r *source.Table, may, must []string) {
	for _, e := range r.Entries {
		if !slices.Contains(may, e.Key) || e.Value.Kind == source.BoolKind && !e.Value.Bool {
			t.Errorf("%v: found %s", e.At, e.Key)
		}
	}
	for _, k := range must {
		if v := r.Get(k); v == nil || v.Kind == source.StringKind && v.Text == "" {
			t.Errorf("%v: lacks %s", r.Entries[0].At, k)
		}
	}
}

// secrets are files of the home that hold credentials, beside the sensitive paths.
var secrets = []string{
	"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.npmrc", "~/.config/gh/hosts.yml", "~/.netrc", "~/.pypirc", "~/.git-credentials",
	"~/.config/git/credentials", "~/.m2/settings.xml", "~/.gradle/gradle.properties", "~/.gem/credentials", "~/.bundle/config", "~/.config/pip/pip.conf",
	"~/.config/uv/uv.toml", "~/.claude/.credentials.json", "~/.claude.json", "~/.codex/auth.json", "~/.gemini/oauth_creds.json",
	"~/.local/share/opencode/auth.json", "~/.config/mise/config.toml", "~/.yarnrc.yml", "~/.docker", "~/.bash_history", "~/.local/share/keyrings",
}

// TestPlaces: rules are about places of the home that hold no credentials and nothing that chooses
// the programs that run outside, and the presets may be used together.
func TestPlaces(t *testing.T) {
	avoided := slices.Clone(secrets)
	for _, p := range ir.NewTool("x").Sensitive {
		if strings.HasPrefix(p.Pattern, "~/") {
			avoided = append(avoided, strings.TrimSuffix(p.Pattern, "/"))
		}
	}
	for _, p := range ir.ProtectedPaths() {
		avoided = append(avoided, "~/"+p.Path)
	}
	// Agents are installed below directories that have settings in a workspace.
	avoided = slices.DeleteFunc(avoided, func(p string) bool { return p == "~/.claude" || p == "~/.opencode" })
	caps := map[string]bool{}
	each(t, func(t *testing.T, p *presets.Preset) {
		for _, r := range rules(p, "fs") {
			place := r.Get("path").Text
			if r.Get("names") != nil {
				if place != "." {
					t.Errorf("names below %s", place)
				}
				continue
			}
			if !strings.HasPrefix(place, "~/") || path.Clean(place) != place || place == "~/.config" || place == "~/.local/share" {
				t.Errorf("%s is not for a preset", place)
			}
			for _, a := range avoided {
				if within(a, place) || within(place, a) {
					t.Errorf("%s is granted by %s", a, place)
				}
			}
			execute := r.Get("execute") != nil
			for other, does := range caps {
				if other == place && does != execute || other != place && (within(place, other) || within(other, place)) {
					t.Errorf("%s overlaps with %s", place, other)
				}
			}
			caps[place] = execute
		}
	})
}

func within(place, dir string) bool { return place == dir || strings.HasPrefix(place, dir+"/") }

// TestSecrets: the names that hold secrets are closed, and those that programs need are not.
func TestSecrets(t *testing.T) {
	p, bad := presets.Find("secrets")
	if bad != nil {
		t.Fatal(bad)
	}
	closed := func(name string) bool {
		return slices.ContainsFunc(rules(p, "fs"), func(r *source.Table) bool {
			matches := func(v *source.Value) bool { return ir.MatchName(v.Text, name) }
			return slices.ContainsFunc(r.Get("names").Array, matches)
		})
	}
	for name, want := range map[string]bool{
		".env": true, ".env.local": true, ".env.production": true, ".env.staging": true, ".env.test": true,
		".env.example.local": true, ".env.x": true,
		".env.example": true, ".env.sandbox": true, ".env~": true, ".env-prod": true, "id_ed25519_sk": true,
		".envrc": false, "env": false, "env.ts": false,
		"server.key": true, "privkey.pem": true, "tls-key.pem": true, "id_ed25519": true, "store.p12": true,
		"cacert.pem": false, "fullchain.pem": false, "id_ed25519.pub": false, "server.crt": false, "key.go": false,
		".netrc": true, ".pypirc": true, ".npmrc": false, "client_secret_1.json": true, "credentials.json": true,
	} {
		if closed(name) != want {
			t.Errorf("%s: closed is %v", name, !want)
		}
	}
}

// TestHosts: a preset that grants files opens no host, unless it is the preset of an agent; hosts are
// exact and reached by https.
func TestHosts(t *testing.T) {
	each(t, func(t *testing.T, p *presets.Preset) {
		for _, r := range rules(p, "net") {
			if l := r.Get("listen"); l != nil {
				if r.Get("host") != nil {
					t.Error("listens beyond the loopback addresses")
				}
				continue
			}
			host, scheme := r.Get("host"), r.Get("scheme")
			if host == nil || strings.Contains(host.Text, "*") || scheme == nil || scheme.Text != "https" {
				t.Errorf("%v: a host that is not exact, or not by https", r.Entries[0].At)
			}
			if len(rules(p, "fs")) > 0 && !slices.Contains(agents, p.Name) {
				t.Error("grants files and opens a host")
			}
		}
	})
}

// TestVariables: a variable that decides which code runs has a value of the preset, and none of the
// user's; a value about the home names a place that the preset grants. No rule is a pattern, or
// about a variable that every tool has.
func TestVariables(t *testing.T) {
	usual := ir.NewEnvView(ir.DefaultEnv(), ir.HomePrivate, ir.Windows)
	each(t, func(t *testing.T, p *presets.Preset) {
		var granted []string
		for _, r := range rules(p, "fs") {
			granted = append(granted, r.Get("path").Text)
		}
		for _, r := range rules(p, "env") {
			name, value, place := r.Get("name").Text, r.Get("value"), r.Get("place")
			if strings.Contains(name, "*") || usual.Decide(ir.Forward{Name: name}).Allowed() || ir.LoaderVariable(name) && value == nil {
				t.Errorf("%s is not for a preset", name)
			}
			if value == nil {
				if place != nil {
					t.Errorf("%s has a place and no value", name)
				}
				continue
			}
			if home := strings.Contains(value.Text, ir.UserHome); home != (place != nil) {
				t.Errorf("%s=%s and its place do not belong together", name, value.Text)
			}
			if place != nil && (!slices.Contains(granted, place.Text) || !strings.Contains(value.Text, ir.UserHome+place.Text[1:])) {
				t.Errorf("%s=%s leads to no place that the preset grants", name, value.Text)
			}
		}
	})
}

// TestFind: names are exact, and no path leads to another file.
func TestFind(t *testing.T) {
	for _, name := range []string{"", ".", "..", "Rust", "rust.toml", "./rust", "../presets/rust", "rust@1", "*"} {
		if p, bad := presets.Find(name); p != nil || bad != nil {
			t.Errorf("%q: got %v, %v", name, p, bad)
		}
	}
	if p, bad := presets.Find("rust"); bad != nil || p.String() != "preset:rust@1" || !strings.HasPrefix(p.Text(), "version = 1\n") {
		t.Errorf("got %+v, %v", p, bad)
	}
}

// TestAgentsKeepNothingShared: an agent has a home of its own, and reaches none of its directories in
// the user's but programs.
// See decision D194.
func TestAgentsKeepNothingShared(t *testing.T) {
	for _, name := range agents {
		p, _ := presets.Find(name)
		for _, r := range rules(p, "fs") {
			if r.Get("execute") == nil {
				t.Errorf("%s: %s is no program", name, r.Get("path").Text)
			}
		}
		if len(rules(p, "net")) == 0 {
			t.Errorf("%s reaches no service", name)
		}
	}
}

// TestDocument: docs/presets.md lists the presets as they are.
func TestDocument(t *testing.T) {
	doc, err := os.ReadFile("../../docs/presets.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, name := range presets.Names() {
		p, _ := presets.Find(name)
		want = append(want, fmt.Sprintf("| `%s` | %d | %s |", name, p.Version, p.Purpose))
	}
	_, table, _ := strings.Cut(string(doc), "|---|---|---|\n")
	if got := strings.Split(strings.TrimSpace(table), "\n"); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
