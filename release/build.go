package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// platform is a system and an architecture.
type platform struct {
	os, arch string
	npm, cpu string // process.platform and process.arch of Node
	// wheel are the platform tags of Python (https://packaging.python.org/specifications/platform-compatibility-tags).
	wheel string
	// system and machines are what uname -s and -m print, for install.sh; empty where it does not install.
	system, machines string
}

// platforms are all that have files. Go's programs need macOS 12 (https://go.dev/wiki/MinimumRequirements); on Linux
// they are static, so that wheels are for both C libraries.
var platforms = []platform{
	{"linux", "amd64", "linux", "x64",
		"manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "Linux", "x86_64|amd64"},
	{"linux", "arm64", "linux", "arm64",
		"manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "Linux", "aarch64|arm64"},
	{"darwin", "amd64", "darwin", "x64", "macosx_12_0_x86_64", "Darwin", "x86_64"},
	{"darwin", "arm64", "darwin", "arm64", "macosx_12_0_arm64", "Darwin", "arm64"},
	{"windows", "amd64", "win32", "x64", "win_amd64", "", ""},
	{"windows", "arm64", "win32", "arm64", "win_arm64", "", ""},
}

// exe is what names of programs end with.
func (p platform) exe() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// binary is the file of a program of a platform among what is built.
func (r *release) binary(p platform, of program) string {
	return filepath.Join(r.built, p.os+"-"+p.arch, of.name+p.exe())
}

// build makes the programs and papers of the commit that is checked out here, in a clone.
func (r *release) build() error {
	// The configuration of the user and of the machine changes what git writes into files (core.autocrlf).
	plain := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	git := func(dir string, args ...string) (string, error) {
		return output(dir, plain, "git", args...)
	}
	if changed, err := git(".", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("commit or remove these first, a release is of a commit:\n%s", changed)
	}
	var err error
	if r.commit, err = git(".", "rev-parse", "HEAD"); err != nil {
		return err
	}
	if at, err := git(".", "rev-parse", "--verify", "-q", r.tag+"^{commit}"); err == nil && at != r.commit {
		return fmt.Errorf("the tag %s is on %.12s, and %.12s is checked out", r.tag, at, r.commit)
	}
	when, err := git(".", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	if r.epoch, err = strconv.ParseInt(when, 10, 64); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"clone", "-q", "--no-tags", "--no-checkout", ".", r.clone},
		{"-C", r.clone, "checkout", "-q", "--detach", r.commit}, {"-C", r.clone, "tag", r.tag},
	} {
		if _, err := git(".", args...); err != nil {
			return err
		}
	}
	if r.env, err = goEnv(plain); err != nil {
		return err
	}
	if r.golang, err = output(r.clone, r.env, "go", "env", "GOVERSION"); err != nil {
		return err
	}
	for _, p := range platforms {
		for _, of := range programs {
			fmt.Printf("%s of %s/%s\n", of.name, p.os, p.arch)
			if _, err := output(r.clone, r.on(p), "go", "build", "-trimpath", "-buildvcs=true",
				"-ldflags=-s -w", "-o", r.binary(p, of), of.source); err != nil {
				return err
			}
		}
	}
	return r.paperwork()
}

// on is the environment for a platform.
func (r *release) on(p platform) []string {
	return append(slices.Clone(r.env), "GOOS="+p.os, "GOARCH="+p.arch)
}

// goEnv is an environment in which the go command builds the same for every user: the user's own settings say only from
// where modules come, and where they are kept.
func goEnv(env []string) ([]string, error) {
	text, err := output(".", env, "go", "env", "-json", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE",
		"GOMODCACHE", "GOCACHE", "GOTOOLCHAIN")
	if err != nil {
		return nil, err
	}
	kept := map[string]string{}
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "GO") })
	for name, value := range kept {
		out = append(out, name+"="+value)
	}
	return append(out,
		"GOENV=off", "GOWORK=off", "GOFLAGS=-mod=readonly -trimpath", "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0"), nil
}

// paper is a file that goes beside the programs of a package.
type paper struct{ name, at string }

// papers of a package: their names in archives, and in file systems below /usr/share.
var papers = []paper{
	{"LICENSE", "doc/accessc/LICENSE"},
	{"README.md", "doc/accessc/README.md"},
	{"THIRD-PARTY-LICENSES", "doc/accessc/THIRD-PARTY-LICENSES"},
	{"accessc.1", "man/man1/accessc.1"},
	{"completions/accessc.bash", "bash-completion/completions/accessc"},
	{"completions/_accessc", "zsh/site-functions/_accessc"},
	{"completions/accessc.fish", "fish/vendor_completions.d/accessc.fish"},
}

// paperwork writes the papers, notes among them.
func (r *release) paperwork() error {
	here := slices.IndexFunc(platforms, func(p platform) bool {
		return p.os == runtime.GOOS && p.arch == runtime.GOARCH
	})
	if here < 0 {
		return fmt.Errorf("a release is made on one of its platforms, not on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	said, err := output(r.clone, r.env, r.binary(platforms[here], programs[0]), "version")
	if err != nil {
		return err
	}
	if want := programs[0].name + " " + r.version + " " + r.commit[:12]; !strings.HasPrefix(said, want+"\n") {
		return fmt.Errorf("the program says %q, expected %q", said, want)
	}
	at := filepath.Join(r.built, "papers")
	if err := os.MkdirAll(filepath.Join(at, "completions"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "examples/serve/python/accessc_serve.py"} {
		data, err := os.ReadFile(filepath.Join(r.clone, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(at, filepath.Base(name)), data, 0o644); err != nil {
			return err
		}
	}
	for name, args := range map[string][]string{
		"accessc.1": {"man"}, "completions/accessc.bash": {"completion", "bash"},
		"completions/_accessc":     {"completion", "zsh"},
		"completions/accessc.fish": {"completion", "fish"},
	} {
		text, err := output(r.clone, r.env, r.binary(platforms[here], programs[0]), args...)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(at, name), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	notes, err := os.ReadFile(filepath.Join(r.clone, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	text, err := r.notes(string(notes))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at, "notes.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return r.thirdParties(filepath.Join(at, "THIRD-PARTY-LICENSES"))
}

// notes is the section of the changelog about the release; a trial takes what is not released yet.
func (r *release) notes(changelog string) (string, error) {
	heading := "## " + r.version
	if r.trial && !strings.Contains(changelog, "\n"+heading+"\n") {
		heading = "## Unreleased"
	}
	_, text, ok := strings.Cut(changelog, "\n"+heading+"\n")
	if !ok {
		return "", fmt.Errorf("CHANGELOG.md has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	// Links of the changelog are relative to the repository, and notes are read elsewhere.
	text = relative.ReplaceAllString(text, "]("+repository+"/blob/"+r.tag+"/$1)")
	return "# accessc " + r.version + "\n\n" + strings.TrimSpace(text) + "\n", nil
}

var relative = regexp.MustCompile(`\]\(([A-Za-z][^):]*)\)`)

// thirdParties writes the licences of every module that a program of a platform has, and of Go: most of them ask for
// it.
func (r *release) thirdParties(file string) error {
	type module struct {
		Path, Version, Dir string
		Main               bool
	}
	root, err := output(r.clone, r.env, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	all := map[string]module{"Go": {Path: "Go, its runtime and standard library", Dir: root}}
	for _, p := range platforms {
		for _, of := range programs {
			text, err := output(r.clone, r.on(p), "go", "list", "-deps", "-json=Module", of.source)
			if err != nil {
				return err
			}
			for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
				var pkg struct{ Module *module }
				if err := dec.Decode(&pkg); err != nil {
					return err
				}
				if pkg.Module != nil && !pkg.Module.Main {
					all[pkg.Module.Path] = *pkg.Module
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("accessc contains these works of others, under the licences that follow each name.\n")
	modules := slices.SortedFunc(maps.Values(all), func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	for _, m := range modules {
		rule := strings.Repeat("=", 80)
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n", rule, strings.TrimSpace(m.Path+" "+m.Version), rule)
		entries, err := os.ReadDir(m.Dir)
		if err != nil {
			return err
		}
		found := false
		for _, e := range entries {
			if !legal.MatchString(e.Name()) || e.IsDir() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				return err
			}
			found = true
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(string(text)))
		}
		if !found {
			return fmt.Errorf("%s has no licence", m.Path)
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// legal are the names of files that a licence asks to pass on.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// output runs a program in a directory and returns what it prints, without the last line's end.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
