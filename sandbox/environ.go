package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends/landlock"
	"github.com/accessc/accessc/ir"
)

// ContextVariable names the file that holds the tool's Context.
const ContextVariable = ir.ContextVariable

// environ builds the tool's environment: what the policy forwards, and the
// variables that point to directories of the tool's own.
func environ(s *landlock.Spec, host []string, tmp, context string) []string {
	view := envView(s)
	var out []string
	for _, kv := range host {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" && !ir.OwnVariable(name, s.Home != "") && view.Decide(ir.Forward{Name: name}).Allowed() {
			out = append(out, kv)
		}
	}
	own := map[string]string{
		"TMPDIR": tmp, "TEMP": tmp, "TMP": tmp, "XDG_RUNTIME_DIR": tmp, ContextVariable: context,
		"HOME":            s.Home,
		"XDG_CONFIG_HOME": filepath.Join(s.Home, ".config"),
		"XDG_CACHE_HOME":  filepath.Join(s.Home, ".cache"),
		"XDG_DATA_HOME":   filepath.Join(s.Home, ".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(s.Home, ".local", "state"),
	}
	for name, value := range own {
		if ir.OwnVariable(name, s.Home != "") && view.Decide(ir.Forward{Name: name}).Allowed() {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// envView is the environment part of a policy, as the artifact carries it.
func envView(s *landlock.Spec) *ir.View {
	var rules []ir.EnvRule
	for _, v := range s.Environment {
		rules = append(rules, ir.EnvRule{Name: v.Name, Prefix: v.Prefix, Read: v.Read})
	}
	home := ir.HomePrivate
	if s.Home == "" {
		home = ir.HomeReal
	}
	return ir.EnvView(rules, home, ir.Linux)
}

func lookupEnv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
