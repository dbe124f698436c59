package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/host/workspace"
	"github.com/accessc/accessc/internal/text/tomltext"
	"github.com/accessc/accessc/internal/text/usage"
)

// Further are rules that the command line adds to a policy, by paths, hosts and variables as it has them.
type Further struct {
	Read, Write, Exec, Deny, Hosts, Env []string
	// Default is true where they add to the default policy, whose rules on files a list of rules would replace.
	Default bool
}

// Lists are the rules as TOML. Beside a tool's own they stand as they are; otherwise the default policy's
// come first, which a list of rules would replace.
func (c Further) Lists(root string) ([]List, error) {
	fs, err := c.fs(root)
	if err != nil {
		return nil, err
	}
	net, err := c.net()
	if err != nil {
		return nil, err
	}
	all := []List{{"fs", fs}, {"net", net}, {"env", c.env()}}
	return slices.DeleteFunc(all, func(l List) bool { return len(l.Rules) == 0 }), nil
}

// fs are the rules on files, those of one path joined.
func (c Further) fs(root string) ([]string, error) {
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
				return nil, usage.Errorf("%s %s: %w", of.flag, written, err)
			}
			i := slices.IndexFunc(rules, func(r *granted) bool { return r.path == path })
			if i < 0 {
				rules = append(rules, &granted{path, external, of.caps})
				continue
			}
			if of.caps == nil {
				return nil, usage.Errorf("--deny %s: another flag grants the same path", written)
			}
			rules[i].caps = append(slices.Clone(rules[i].caps), of.caps...)
		}
	}
	whole := slices.ContainsFunc(rules, func(r *granted) bool { return r.path == "." })
	if len(rules) > 0 && !whole && c.Default {
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
	for _, r := range []string{root, workspace.Canonical(root)} {
		for _, a := range []string{abs, filepath.Join(workspace.Canonical(filepath.Dir(abs)), filepath.Base(abs))} {
			if rel, err := filepath.Rel(r, a); err == nil && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), false, nil
			}
		}
	}
	if rel, err := filepath.Rel(home, abs); home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel), true, nil
	}
	return "", false, fmt.Errorf(
		"it is neither in the workspace, %s, nor below the home directory; accessc mount makes a name for it",
		root,
	)
}

// net are the rules on hosts.
func (c Further) net() ([]string, error) {
	var out []string
	for _, written := range c.Hosts {
		u, err := url.Parse(written)
		if !strings.Contains(written, "://") {
			u, err = url.Parse("//" + written)
		}
		if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" ||
			u.User != nil {
			return nil, usage.Errorf("--host %s: expected HOST, HOST:PORT or SCHEME://HOST", written)
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
				return nil, usage.Errorf("--host %s: %s is no port", written, u.Port())
			}
			text += ", port = " + strconv.FormatUint(port, 10)
		}
		out = append(out, text+", allow = true }")
	}
	return out, nil
}

// env are the rules on variables.
func (c Further) env() []string {
	names := slices.Clone(c.Env)
	for i, n := range names {
		names[i] = "{ name = " + tomltext.String(n) + ", read = true }"
	}
	return names
}
