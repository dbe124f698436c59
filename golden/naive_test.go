package golden_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// naivePolicy follows a Context by golden/vectors/README.md alone: it shares no code with the evaluator,
// and looks at the rules one by one.
type naivePolicy struct {
	Root   string
	Access *struct {
		Home     string
		FS       []naiveFile
		Net      []naiveNet
		Listen   []naiveNet
		Env      []naiveEnv
		Commands map[string]struct{ Args *[][]string }
	}
}

type naiveFile struct {
	Lexical                               string `json:"lexical_path"`
	External                              bool
	Target                                string `json:"approved_target"`
	Read, Create, Update, Delete, Execute bool
}

type naiveNet struct {
	Host, Scheme string
	Port         int
	Prefix       string `json:"path_prefix"`
	Methods      []string
	Inspect      bool
	Opaque       bool
	Allow        bool
}

type naiveEnv struct {
	Name string
	Read bool
}

func readNaive(t *testing.T, data []byte) naivePolicy {
	var p naivePolicy
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p naivePolicy) answer(q vector) vector {
	switch q.Operation {
	case "connect":
		q.Verdict, q.Reason = p.connect(q.Target, q.Method)
	case "listen":
		q.Verdict, q.Reason = p.listen(q.Target)
	case "env":
		q.Verdict, q.Reason = p.env(q.Target)
	case "run":
		q.Verdict, q.Reason, q.Canonical = p.run(q.Target, q.Arguments)
	default:
		q.Verdict, q.Reason, q.Canonical = p.file(q.Operation, q.Target)
	}
	return q
}

// below reports whether p is dir or lies in it.
func below(p, dir string) bool { return p == dir || dir == "" || strings.HasPrefix(p, dir+"/") }

func (r naiveFile) grants(op string) bool {
	return map[string]bool{"read": r.Read, "create": r.Create, "update": r.Update, "delete": r.Delete, "execute": r.Execute}[op]
}

// best is the index of the longest rule at or above a path, the last of equal ones.
func best[R any](rules []R, at string, name func(R) (string, bool)) int {
	win, most := -1, -1
	for i, r := range rules {
		if n, ok := name(r); ok && below(at, n) && len(n) >= most {
			win, most = i, len(n)
		}
	}
	return win
}

func (p naivePolicy) file(op, target string) (verdict, reason, canonical string) {
	abs, reason := p.resolve(target, op != "delete")
	if reason != "" {
		return "deny", reason, ""
	}
	asked, _, _ := p.named(target)
	return p.at(op, abs, asked)
}

// named collapses a path, and reports whether it begins in the home or at the root directory, and
// whether it leaves where it begins.
func (p naivePolicy) named(target string) (name string, outside, leaves bool) {
	name = path.Clean(target)
	home := target == "~" || strings.HasPrefix(target, "~/")
	switch {
	case home && path.Clean("."+target[1:]) == ".":
		return "~", true, false
	case home:
		below := path.Clean("." + target[1:])
		return "~/" + below, true, strings.HasPrefix(below+"/", "../")
	case strings.HasPrefix(name, "~"):
		return "./" + name, false, false
	default:
		return name, strings.HasPrefix(name, "/"), target == "" || strings.HasPrefix(name+"/", "../")
	}
}

// beneath reports whether a rule takes everything away below an external one.
func (p naivePolicy) beneath(r naiveFile) bool {
	if r.External || r.Read || r.Create || r.Update || r.Delete || r.Execute {
		return false
	}
	return best(p.Access.FS, r.Lexical, func(o naiveFile) (string, bool) { return o.Lexical, o.External }) >= 0
}

// at decides on a canonical path. asked is the one that led there, empty for one that the
// kernel was given.
func (p naivePolicy) at(op, abs, asked string) (verdict, reason, canonical string) {
	inside := below(abs, p.Root)
	at := strings.TrimPrefix(strings.TrimPrefix(abs, p.Root), "/")
	if p.Access == nil {
		switch {
		case !inside:
			return "deny", "escape", p.scratch(abs)
		case at == "" && (op == "create" || op == "delete"):
			return "deny", "root", "${workspace}"
		default:
			return "allow", "unrestricted", path.Join("${workspace}", at)
		}
	}
	win := -1
	if inside {
		canonical = path.Join("${workspace}", at)
		win = best(p.Access.FS, at, func(r naiveFile) (string, bool) {
			_, outside, _ := p.named(r.Lexical)
			return strings.TrimPrefix(r.Lexical, "./"), !p.beneath(r) && !outside
		})
	} else {
		owner := best(p.Access.FS, abs, func(r naiveFile) (string, bool) { return r.Target, r.External && r.Target != "" })
		switch {
		case owner < 0 && asked == "":
			return "deny", "default-deny", p.scratch(abs)
		case owner < 0:
			return "deny", "escape", p.scratch(abs)
		}
		r := p.Access.FS[owner]
		at = strings.TrimPrefix(strings.TrimPrefix(abs, r.Target), "/")
		canonical = path.Join("${external:"+r.Lexical+"}", at)
		by := best(p.Access.FS, asked, func(r naiveFile) (string, bool) { return r.Lexical, !p.beneath(r) })
		if asked != "" && by != owner {
			return "deny", "escape", canonical
		}
		win = best(p.Access.FS, path.Join(r.Lexical, at), func(o naiveFile) (string, bool) {
			return o.Lexical, o == r || p.beneath(o)
		})
	}
	switch {
	case win < 0:
		return "deny", "default-deny", canonical
	case at == "" && (op == "create" || op == "delete"):
		return "deny", "root", canonical
	case !p.Access.FS[win].grants(op):
		return "deny", "rule", canonical
	case op == "execute" && p.Access.Commands != nil && !p.listed(abs):
		return "deny", "unlisted-program", canonical
	default:
		return "allow", "rule", canonical
	}
}

func (p naivePolicy) scratch(abs string) string {
	return strings.ReplaceAll(abs, path.Dir(p.Root), "${scratch}")
}

// resolve finds where a path leads, or says why it is refused.
func (p naivePolicy) resolve(target string, last bool) (abs, reason string) {
	name, outside, leaves := p.named(target)
	if outside && !leaves && p.Access != nil {
		by := best(p.Access.FS, name, func(r naiveFile) (string, bool) { return r.Lexical, r.External && r.Target != "" })
		if by >= 0 {
			return follow(p.Access.FS[by].Target+strings.TrimPrefix(name, p.Access.FS[by].Lexical), last, 40)
		}
	}
	drive := regexp.MustCompile(`^[A-Za-z]:([/\\]|$)`)
	if strings.HasPrefix(target, "/") || strings.HasPrefix(target, `\`) || drive.MatchString(target) {
		return "", "absolute"
	}
	if outside || leaves {
		return "", "outside"
	}
	return follow(path.Join(p.Root, name), last, 40)
}

// follow resolves the directory of a path before its last component.
func follow(abs string, last bool, hops int) (string, string) {
	if abs == "/" {
		return abs, ""
	}
	dir, reason := follow(path.Dir(abs), true, hops)
	if reason != "" {
		return "", reason
	}
	at := path.Join(dir, path.Base(abs))
	to, err := os.Readlink(at)
	if err != nil || !last {
		return at, ""
	}
	if hops == 0 {
		return "", "loop"
	}
	if !path.IsAbs(to) {
		// Not cleaned: ".." is that of the directory that the link leads to.
		for part := range strings.SplitSeq(to, "/") {
			switch part {
			case "", ".":
			case "..":
				dir = path.Dir(dir)
			default:
				if dir, reason = follow(path.Join(dir, part), true, hops-1); reason != "" {
					return "", reason
				}
			}
		}
		return dir, ""
	}
	return follow(to, true, hops-1)
}

// listed reports whether a file is that of a listed program.
func (p naivePolicy) listed(abs string) bool {
	for program := range p.Access.Commands {
		file, reason := follow(path.Join(p.Root, program), true, 40)
		if _, err := os.Stat(file); strings.Contains(program, "/") && reason == "" && err == nil && file == abs {
			return true
		}
	}
	return false
}

var (
	escaped   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	plain     = regexp.MustCompile(`^[A-Za-z0-9._~-]$`)
	number    = regexp.MustCompile(`^(0x[0-9a-f]*|[0-9]+)$`)
	allowed   = regexp.MustCompile(`^[a-z0-9._-]+$`)
	ports     = map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
	loaderEnv = regexp.MustCompile(`(?i)^(LD_.*|DYLD_.*|BASH_FUNC_.*|GIT_CONFIG_.*|NODE_OPTIONS|NODE_PATH|GIT_SSH_COMMAND|PYTHONSTARTUP|` +
		`PYTHONPATH|BASH_ENV|ENV|PERL5OPT|RUBYOPT|IFS|EDITOR)$`)
)

func byRule(win int, allow bool) (verdict, reason string) {
	verdict, reason = "deny", "rule"
	if win < 0 {
		reason = "default-deny"
	}
	if allow {
		verdict = "allow"
	}
	return verdict, reason
}

func (p naivePolicy) env(name string) (string, string) {
	if p.Access == nil {
		return "allow", "unrestricted"
	}
	win, most := -1, -1
	for i, r := range p.Access.Env {
		literal, prefix := strings.CutSuffix(r.Name, "*")
		rank := 2 * len(literal)
		switch {
		case !prefix && r.Name == name:
			rank++
		case !prefix || !strings.HasPrefix(name, literal):
			continue
		}
		if rank >= most {
			win, most = i, rank
		}
	}
	exact := most%2 == 1 && win >= 0
	own := slices.Contains([]string{"TMPDIR", "TEMP", "TMP", "ACCESSC_CONTEXT"}, name) ||
		p.Access.Home == "" && slices.Contains([]string{"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"}, name)
	switch {
	case own && !exact:
		return "allow", "own"
	case !exact && win >= 0 && p.Access.Env[win].Read && loaderEnv.MatchString(name):
		return "deny", "loader-variable"
	default:
		return byRule(win, win >= 0 && p.Access.Env[win].Read)
	}
}

func (p naivePolicy) run(program string, args []string) (verdict, reason, canonical string) {
	if p.Access == nil {
		return "allow", "unrestricted", ""
	}
	abs, file, why := "", "allow", "" // of a path, which the kernel judges
	if strings.Contains(program, "/") {
		if abs, reason = p.walked(program); reason != "" {
			return "deny", reason, ""
		}
		file, why, canonical = p.at("execute", abs, "")
	}
	if p.Access.Commands != nil {
		listed, why := p.rule(program, abs)
		switch {
		case why != "":
			return "deny", why, canonical
		case listed != nil && !slices.ContainsFunc(*listed, func(words []string) bool { return matches(words, args) }):
			return "deny", "arguments", canonical
		}
		reason = "rule"
	} else {
		reason = "unrestricted"
	}
	if file == "deny" && why != "unlisted-program" {
		return "deny", why, canonical
	}
	return "allow", reason, canonical
}

// walked is where the path of a program leads: ".." is that of the directory before it.
func (p naivePolicy) walked(program string) (abs, reason string) {
	abs = p.Root
	if path.IsAbs(program) {
		abs = "/"
	}
	for part := range strings.SplitSeq(program, "/") {
		switch part {
		case "", ".":
		case "..":
			abs = path.Dir(abs)
		default:
			if abs, reason = follow(path.Join(abs, part), true, 40); reason != "" {
				return "", reason
			}
		}
	}
	return abs, ""
}

// rule finds the arguments of a program, nil for any, or why it does not start.
func (p naivePolicy) rule(program, abs string) (args *[][]string, why string) {
	rule, written := p.Access.Commands[program]
	if abs == "" {
		if !written {
			why = "unlisted-program"
		}
		return rule.Args, why
	}
	called := strings.TrimPrefix(program[strings.LastIndex(program, "/")+1:], "-")
	why = "unlisted-program"
	for _, name := range slices.Sorted(maps.Keys(p.Access.Commands)) {
		file, loop := follow(path.Join(p.Root, name), true, 40)
		if _, err := os.Stat(file); !strings.Contains(name, "/") || loop != "" || err != nil || file != abs {
			continue
		}
		switch {
		case path.Base(name) == called:
			return p.Access.Commands[name].Args, ""
		case why != "unlisted-program": // an earlier rule on the file
		case path.Base(abs) == called && !dispatcher.MatchString(called):
			args, why = p.Access.Commands[name].Args, ""
		default:
			why = "program-name"
		}
	}
	if written && why == "unlisted-program" {
		why = "missing-program"
	}
	return args, why
}

// dispatcher is some of ir.Dispatchers.
var dispatcher = regexp.MustCompile(`^(busybox|coreutils|git|toybox)($|[-._0-9])`)

func matches(words, args []string) bool {
	if n := len(words) - 1; n >= 0 && words[n] == "**" {
		return len(args) >= n && slices.Equal(words[:n], args[:n])
	}
	return slices.Equal(words, args)
}
