//go:build unix

package start

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/ir"
)

// environ builds the tool's environment on a system: the variables that the policy forwards,
// and those that point to directories of the tool's own.
func environ(l *backends.Launch, system ir.Platform, host []string, tmp, context string) []string {
	return forwarded(l, envView(l, system), system, host, tmp, context)
}

// forwarded is environ by the view that envView makes.
func forwarded(l *backends.Launch, view *ir.View, system ir.Platform, host []string, tmp, context string) []string {
	return completed(l, view, system, letThrough(l, view, system, host), tmp, context)
}

// letThrough are the variables of the host that the policy forwards.
func letThrough(l *backends.Launch, view *ir.View, system ir.Platform, host []string) (out []string) {
	for _, kv := range host {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" && !ir.OwnVariable(name, l.Home != "", system) && view.Decide(ir.Forward{Name: name}).Allowed() {
			out = append(out, kv)
		}
	}
	return out
}

// completed adds the variables of the run to those that were passed.
func completed(l *backends.Launch, view *ir.View, system ir.Platform, passed []string, tmp, context string) []string {
	out := slices.Clone(passed)
	own := map[string]string{
		"TMPDIR": tmp, "TEMP": tmp, "TMP": tmp, "XDG_RUNTIME_DIR": tmp, ContextVariable: context,
		ir.DarwinSuffix:   filepath.Base(tmp),
		"HOME":            l.Home,
		"XDG_CONFIG_HOME": filepath.Join(l.Home, ".config"),
		"XDG_CACHE_HOME":  filepath.Join(l.Home, ".cache"),
		"XDG_DATA_HOME":   filepath.Join(l.Home, ".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(l.Home, ".local", "state"),
	}
	for name, value := range own {
		if ir.OwnVariable(name, l.Home != "", system) && view.Decide(ir.Forward{Name: name}).Allowed() {
			out = append(out, name+"="+value)
		}
	}
	has := func(name string) bool { _, ok := lookupEnv(out, name); return ok }
	give(l, view, has, func(name, value string) { out = append(out, name+"="+value) })
	slices.Sort(out)
	return out
}

func lookupEnv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
