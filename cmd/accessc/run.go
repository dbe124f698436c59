package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/tomltext"
)

// runCmd is "accessc run".
type runCmd struct {
	Under     string   `name:"tool" placeholder:"NAME" help:"Run it under the policy of this tool, in place of the default one."`
	Preset    []string `placeholder:"NAME" help:"Add the rules of this preset, such as rust. Repeatable."`
	Read      []string `sep:"none" placeholder:"PATH" help:"It may read this, and not write it. Repeatable."`
	Write     []string `sep:"none" placeholder:"PATH" help:"It may read and write this. Repeatable."`
	Exec      []string `sep:"none" placeholder:"PATH" help:"It may read this, and start programs there. Repeatable."`
	Deny      []string `sep:"none" placeholder:"PATH" help:"It may not even read this. Repeatable."`
	Host      []string `sep:"none" placeholder:"HOST" help:"It may connect to HOST, HOST:PORT or SCHEME://HOST. Repeatable."`
	Env       []string `sep:"none" placeholder:"NAME" help:"It gets this variable. Repeatable."`
	Accept    []string `placeholder:"GAP" help:"Start although this host has this gap; accessc exec --help lists them. Repeatable."`
	Report    string   `placeholder:"FILE" help:"Write a line of JSON for every denial that the supervisor sees; - is standard output."`
	Trace     bool     `help:"Show every refusal, also those that the kernel makes by itself. Slower."`
	NoSummary bool     `help:"Print nothing about refusals after the end."`
	NoPrompt  bool     `help:"Never prompt, as without a terminal."`
	Print     bool     `help:"Print the policy of these flags as TOML, to keep in accessc.toml, and run nothing."`
	Words     []string `arg:"" name:"program" passthrough:"partial" help:"The program and its arguments. Flags of accessc stand before it."`
}

// Help implements kong's detailed help.
func (runCmd) Help() string {
	return `Without a flag the default policy holds: the workspace is the program's to read, write and start programs
in; files outside, other processes' and the network are not. Flags change that for this run.

  accessc run make -j4
  accessc run --read . --write out -- npm test         the workspace read-only, but for out
  accessc run --deny .env --host example.com -- curl https://example.com
  accessc run --preset claude-code,npm-registry --deny .env claude
  accessc run --deny .env --print claude               the same as a tool of accessc.toml

Exit status: the program's own; 125 accessc failed and the program did not start, 126 the program was found
but cannot run, 127 it was not found.`
}

// Run implements the command. It returns only when the program did not start.
func (c *runCmd) Run(g *globals) error {
	words := c.Words
	if words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return notStarted(usagef("expected a program behind --"))
	}
	lists, err := c.lists(g)
	if err != nil {
		return notStarted(err)
	}
	if c.Print {
		return c.print(g, lists, words)
	}
	e := execCmd{
		Command: true, Under: c.Under, Preset: c.Preset, Accept: c.Accept, Means: meansLandlock, Report: c.Report, Trace: c.Trace,
		NoSummary: c.NoSummary, NoPrompt: c.NoPrompt, Tool: words[0], Args: words[1:], lists: lists,
	}
	return e.Run(g)
}

// A list is the rules of one key of access.
type list struct {
	key   string
	rules []string
}

// text is the value of the list in TOML.
func (l list) text() string { return "[" + strings.Join(l.rules, ", ") + "]" }

// lists are the rules of the flags. Beside a tool's own they stand as they are; otherwise the default policy's
// come first, which a list of rules would replace.
func (c *runCmd) lists(g *globals) ([]list, error) {
	fs, err := c.fs(g)
	if err != nil {
		return nil, err
	}
	net, err := c.net()
	if err != nil {
		return nil, err
	}
	all := []list{{"fs", fs}, {"net", net}, {"env", c.env()}}
	return slices.DeleteFunc(all, func(l list) bool { return len(l.rules) == 0 }), nil
}

// fs are the rules on files, those of one path joined.
func (c *runCmd) fs(g *globals) ([]string, error) {
	root, err := g.root()
	if err != nil {
		return nil, err
	}
	type granted struct {
		path     string
		external bool
		caps     []string
	}
	var rules []*granted
	for _, of := range []struct {
		flag  string
		paths []string
		caps  []string
	}{{"--read", c.Read, []string{"read"}}, {"--write", c.Write, []string{"read", "write"}}, {"--exec", c.Exec, []string{"read", "execute"}}, {"--deny", c.Deny, nil}} {
		for _, written := range of.paths {
			path, external, err := placed(root, written)
			if err != nil {
				return nil, usagef("%s %s: %w", of.flag, written, err)
			}
			i := slices.IndexFunc(rules, func(r *granted) bool { return r.path == path })
			if i < 0 {
				rules = append(rules, &granted{path, external, of.caps})
				continue
			}
			if of.caps == nil {
				return nil, usagef("--deny %s: another flag grants the same path", written)
			}
			rules[i].caps = append(slices.Clone(rules[i].caps), of.caps...)
		}
	}
	whole := slices.ContainsFunc(rules, func(r *granted) bool { return r.path == "." })
	if len(rules) > 0 && !whole && c.Under == "" {
		rules = slices.Insert(rules, 0, &granted{".", false, []string{"read", "write", "execute"}})
	}
	var out []string
	for _, r := range rules {
		text := "{ path = " + tomltext.String(r.path)
		if r.external {
			text += ", external = true"
		}
		for _, cap := range []string{"read", "write", "execute"} {
			if slices.Contains(r.caps, cap) {
				text += ", " + cap + " = true"
			}
		}
		out = append(out, text+" }")
	}
	return out, nil
}

// placed is a path of the command line as a rule spells it: in the workspace, or below the home directory.
func placed(root, written string) (path string, external bool, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	abs := written
	if rest, ok := strings.CutPrefix(written, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		abs = filepath.Join(home, rest)
	}
	if abs, err = filepath.Abs(abs); err != nil {
		return "", false, err
	}
	for _, r := range []string{root, canonical(root)} {
		for _, a := range []string{abs, filepath.Join(canonical(filepath.Dir(abs)), filepath.Base(abs))} {
			if rel, err := filepath.Rel(r, a); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), false, nil
			}
		}
	}
	if rel, err := filepath.Rel(home, abs); home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel), true, nil
	}
	return "", false, fmt.Errorf("it is neither in the workspace, %s, nor below the home directory; accessc mount makes a name for it", root)
}

// net are the rules on hosts.
func (c *runCmd) net() ([]string, error) {
	var out []string
	for _, written := range c.Host {
		u, err := url.Parse(written)
		if !strings.Contains(written, "://") {
			u, err = url.Parse("//" + written)
		}
		if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return nil, usagef("--host %s: expected HOST, HOST:PORT or SCHEME://HOST", written)
		}
		host := u.Hostname()
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		text := "{ host = " + tomltext.String(host)
		if u.Scheme != "" {
			text += ", scheme = " + tomltext.String(u.Scheme)
		}
		if u.Port() != "" {
			port, err := strconv.ParseUint(u.Port(), 10, 16)
			if err != nil {
				return nil, usagef("--host %s: %s is no port", written, u.Port())
			}
			text += ", port = " + strconv.FormatUint(port, 10)
		}
		out = append(out, text+", allow = true }")
	}
	return out, nil
}

// env are the rules on variables.
func (c *runCmd) env() []string {
	names := slices.Clone(c.Env)
	for i, n := range names {
		names[i] = "{ name = " + tomltext.String(n) + ", read = true }"
	}
	return names
}

// print writes the policy as the table of a tool that runs the program.
func (c *runCmd) print(g *globals, lists []list, words []string) error {
	var b strings.Builder
	name := cmp.Or(c.Under, filepath.Base(words[0]))
	fmt.Fprintf(&b, "[tools.%s]\n", tomltext.Key(name))
	if c.Under == "" {
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = tomltext.String(w)
		}
		fmt.Fprintf(&b, "source = \"local\"\ncommand = { program = %s, args = [%s] }\n", quoted[0], strings.Join(quoted[1:], ", "))
	}
	if len(c.Preset) > 0 {
		_, sets, err := extending(c.Preset, name, nil)
		if err != nil {
			return err
		}
		_, value, _ := strings.Cut(sets[len(sets)-1], "=")
		fmt.Fprintf(&b, "access.extends = %s\n", value)
	}
	for _, l := range lists {
		fmt.Fprintf(&b, "access.%s = [\n", l.key)
		for _, r := range l.rules {
			fmt.Fprintf(&b, "  %s,\n", r)
		}
		b.WriteString("]\n")
	}
	_, err := fmt.Fprint(g.stdout, b.String())
	return err
}
