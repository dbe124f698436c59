package start

import (
	"slices"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/accessc/accessc/ir"
)

// environ builds the tool's environment: the variables that the policy forwards, overridden by
// those that the specification sets. The system wants it sorted by name, without regard to case
// (learn.microsoft.com, "CreateProcessW").
func (r *run) environ() ([]string, error) {
	root, err := windows.GetWindowsDirectory()
	if err != nil {
		return nil, err
	}
	places := strings.NewReplacer("${home}", r.spec.Home, "${tmp}", r.tmp, "${context}", r.context(), "${SystemRoot}", root)
	by := map[string]string{}
	view := envView(&r.launch, ir.Windows)
	for _, kv := range r.req.Environ {
		name, _, ok := strings.Cut(kv, "=")
		key := strings.ToUpper(name)
		if ok && name != "" && !ir.OwnVariable(key, r.spec.Home != "", ir.Windows) && view.Decide(ir.Forward{Name: name}).Allowed() {
			by[key] = kv
		}
	}
	has := func(name string) bool { return by[strings.ToUpper(name)] != "" }
	give(&r.launch, view, has, func(name, value string) { by[strings.ToUpper(name)] = name + "=" + value })
	for _, v := range r.spec.Variables {
		by[strings.ToUpper(v.Name)] = v.Name + "=" + places.Replace(v.Value)
	}
	var out []string
	for _, kv := range by {
		out = append(out, kv)
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(strings.ToUpper(a), strings.ToUpper(b)) })
	return out, nil
}
