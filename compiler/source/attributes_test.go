package source

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// attributeRepository is a repository in which git is asked for attributes.
type attributeRepository struct {
	*testing.T
	dir string
}

func newAttributeRepository(t *testing.T) attributeRepository {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	r := attributeRepository{t, t.TempDir()}
	r.git("", "init", "-q")
	return r
}

func (r attributeRepository) git(input string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"XDG_CONFIG_HOME="+r.dir, "HOME="+r.dir)
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

func (r attributeRepository) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// applied asks git which paths have an altering attribute, with and without regard to upper and lower case.
func (r attributeRepository) applied(names []string) map[string]string {
	r.Helper()
	out := map[string]string{}
	for _, ignore := range []string{"false", "true"} {
		args := append([]string{"-c", "core.ignorecase=" + ignore, "check-attr", "-z", "--stdin"}, altering...)
		said := strings.Split(r.git(strings.Join(names, "\x00")+"\x00", args...), "\x00")
		for i := 0; i+2 < len(said); i += 3 {
			name, attribute, value := said[i], said[i+1], said[i+2]
			utf8 := attribute == "working-tree-encoding" && slices.Contains([]string{"", "UTF-8", "utf-8", "utf8"}, value)
			if value != "unspecified" && value != "unset" && !utf8 {
				out[name] = attribute + "=" + value
			}
		}
	}
	return out
}

// refused returns the reason why a layer is refused.
func (r attributeRepository) refused(name string) string {
	r.Helper()
	c := &checkout{os.DirFS(r.dir), os.DirFS(filepath.Join(r.dir, ".git")), nil, map[string]listing{}}
	why, err := c.attributed(name)
	if err != nil {
		return err.Error()
	}
	return why
}

// layerNames are names of layers, some in directories that have attributes of their own.
var layerNames = []string{"accessc.toml", ".jp/config.toml", ".accessc/local.toml", "conf/a.toml"}

// TestAttributes: a commit gave a tool of a pull request another text than its review showed, by each of these files of
// attributes. Cause: they were read as git was thought to read them.
func TestAttributes(t *testing.T) {
	deep := "[attr]m0 ident\n"
	for i := range 20 {
		deep += fmt.Sprintf("[attr]m%d m%d\n", i+1, i)
	}
	r := newAttributeRepository(t)
	r.write(".git/info/attributes", "[attr]own ident\n* filter=x\n")
	for name, text := range map[string]string{
		"a macro of the repository":     "accessc.toml own\n",
		"a macro after its use":         "accessc.toml q\n[attr]q ident\n",
		"many macros":                   deep + "accessc.toml m20\n",
		"a mark":                        "\ufeffaccessc.toml ident\n",
		"a carriage return":             "accessc.toml\rident\n",
		"a class":                       "[[:alpha:]]ccessc.toml working-tree-encoding=SHIFT_JIS\n",
		"a class with a bracket":        "/[]a]ccessc.toml ident\n",
		"a name that is none":           "accessc.toml ident\naccessc.toml -bad~name -ident\n",
		"a blank of another alphabet":   "accessc.toml ident\naccessc.toml -ident \u00a0\n",
		"a slash in a name":             "accessc.toml ident\naccessc.toml -ident -a.b/c\n",
		"a form feed":                   "accessc.toml ident\naccessc.toml\f-ident\n",
		"a long line":                   "accessc.toml ident\naccessc.toml -ident " + strings.Repeat("-x ", 1000) + "\n",
		"behind a NUL":                  "accessc.toml ident\n\x00\naccessc.toml -ident\n",
		"an escape in a pattern":        `accessc.tom\l ident`,
		"an octal escape":               `"acc\145ssc.toml" ident`,
		"a quoted macro":                "\"[attr]q\" ident\naccessc.toml q\n",
		"an escaped macro":              "\"\\133attr]q\" ident\naccessc.toml q\n",
		"no blank behind a quote":       `"accessc.toml"ident`,
		"another case":                  "ACCESSC.TOML ident\n",
		"directories that are left out": "**/accessc.toml ident\n",
		"a wider pattern taken away":    "accessc.toml ident\n*.toml -ident\n",
	} {
		r.write(".gitattributes", text)
		if r.refused("accessc.toml") == "" {
			t.Errorf("%s: not refused, git applies %v", name, r.applied([]string{"accessc.toml"}))
		}
	}
}

// TestAttributesOfOthers: attributes as repositories have them refuse no layer.
func TestAttributesOfOthers(t *testing.T) {
	r := newAttributeRepository(t)
	r.write(".git/info/attributes", "* filter=annex\n.* !filter\n")
	r.write(".gitattributes", strings.Join([]string{
		"\ufeff# attributes, filter ident", "* text=auto eol=lf", "*.png binary", "*.rs diff=rust",
		"*.toml text diff=toml",
		"*.lfs filter=lfs diff=lfs merge=lfs -text", "*.psd filter=lfs", `"my art.png" filter=lfs`,
		"big[[:space:]]art.png filter=lfs",
		"assets/** filter=lfs", "/nested/**/*.toml ident", "**/testdata/*.toml filter=lfs", "[attr]lfs filter=lfs",
		"*.zip lfs", "docs/* linguist-documentation", "vendor/* linguist-vendored=true -diff",
		"secret/accessc.toml filter=crypt",
		"accessc.toml ident filter=x working-tree-encoding=latin1",
		"accessc.toml -ident !filter working-tree-encoding=UTF-8\r",
		"/conf/a.toml filter=x ident", "/conf/a.toml -ident -filter",
	}, "\n"))
	for _, name := range layerNames {
		if why := r.refused(name); why != "" {
			t.Errorf("%s: refused by %s", name, why)
		}
	}
}

// attributePieces are what random files of attributes are made of.
var attributePieces = struct{ patterns, words, blanks []string }{
	[]string{
		"accessc.toml", "/accessc.toml", "*.toml", "*", "**/*.toml", "acces?c.toml", "ACCESSC.toml",
		"[a]ccessc.toml", `a\ccessc.toml`,
		`"accessc.toml"`, `"acc\145ssc.toml"`, `"acc\x65ssc.toml"`, "**/accessc.toml", "conf/a.toml",
		"conf/**", "a.toml", "/a.toml", "conf/",
		"**", "*/a.toml", "conf/**/a.toml", "[!b].toml", "[[:alpha:]].toml", "?.toml", "local.toml",
		"config.*", "!accessc.toml", "c*f*/?.*",
		"accessc.toml\f", "\u00e4.toml", "*\u00e4", `"accessc.toml`, "[attr]", "[attr]q", "[attr]r",
		`"[attr]q"`, "[attr]filter", "*ml", "acc*",
		"#accessc.toml", "\ufeffaccessc.toml", "*.psd", "src/*", "*/*", "[a", "[]a]*", "accessc.toml/",
		"//accessc.toml", "", "binary", "[attr]binary",
	},
	[]string{
		"ident", "-ident", "!ident", "ident=", "filter=x", "-filter", "!filter", "filter", "filter=",
		"working-tree-encoding=latin1", "q", "-q", "r",
		"working-tree-encoding=UTF-8", "-working-tree-encoding", "working-tree-encoding=", "text",
		"-a.b/c", "-bad~name", "\u00a0", "!r", "q=1",
		"binary", "-builtin_x", "--ident", "-!filter", "ident=false", "=x", "-", "\"ident", "ident\f",
		"\vident", "x\x00ident", "\x00",
		"working-tree-encoding=UTF-8\f", "working-tree-encoding=utf8x", "-ident=x", "!!ident", "-diff",
	},
	[]string{" ", " ", " ", "\t", "  ", "\r", "\r\n", "\f", "\u00a0", ""},
}

func drawAttributes(r *rand.Rand) string {
	of := func(from []string) string { return from[r.IntN(len(from))] }
	var out strings.Builder
	if r.IntN(8) == 0 {
		out.WriteString("\ufeff")
	}
	for range 1 + r.IntN(4) {
		if r.IntN(6) == 0 {
			out.WriteString(of(attributePieces.blanks))
		}
		out.WriteString(of(attributePieces.patterns))
		for range 1 + r.IntN(3) {
			out.WriteString(of(attributePieces.blanks) + of(attributePieces.words))
		}
		out.WriteString([]string{"\n", "\n", "\n", "\r\n", "\r", " \n"}[r.IntN(6)])
	}
	return out.String()
}

// TestAttributesAsGit: git applies no altering attribute to a layer that is not refused, by any files of attributes.
func TestAttributesAsGit(t *testing.T) {
	seen := map[string]int{}
	seed := epoch.Seed(t)
	rounds := irtest.Times(500)
	const dirs = 20
	fmt.Printf("property %s: %d times %d files of attributes, seed %d\n", t.Name(), rounds, dirs, seed)
	r := newAttributeRepository(t)
	for n := range rounds {
		texts := map[string]string{}
		draw := epoch.Source(seed, uint64(n))
		texts[".gitattributes"], texts[".git/info/attributes"] = "[attr]r filter=y\n", ""
		if n%2 == 0 {
			texts[".gitattributes"] = drawAttributes(draw)
			texts[".git/info/attributes"] = "[attr]q " + attributePieces.words[draw.IntN(9)] + "\n"
		}
		var names []string
		for i := range dirs {
			dir := fmt.Sprintf("d%d/", i)
			texts[dir+".gitattributes"] = drawAttributes(draw)
			texts[dir+"conf/.gitattributes"] = drawAttributes(draw)
			for _, name := range layerNames {
				names = append(names, dir+name)
			}
		}
		for name, text := range texts {
			r.write(name, text)
		}
		applied := r.applied(append(names, layerNames...))
		for _, name := range append(names, layerNames...) {
			refused := r.refused(name)
			switch {
			case applied[name] != "" && refused == "":
				maps.DeleteFunc(texts, func(k, _ string) bool {
					return strings.HasPrefix(k, "d") && !strings.HasPrefix(name, filepath.Dir(k))
				})
				t.Fatalf("%s: git applies %s: %q", name, applied[name], texts)
			case applied[name] != "":
				seen["applied"]++
			case refused == "":
				seen["free"]++
			default:
				seen["refused without need"]++
			}
		}
	}
	irtest.Happened(t, seen, "applied", "free", "refused without need")
}
