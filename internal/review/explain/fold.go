package explain

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/text/plural"
	"github.com/accessc/accessc/ir"
	"github.com/accessc/accessc/ir/compare"
)

// anyHost is the region of all hosts.
const anyHost = "*"

// reach is a region of hosts by schemes on the ports that these have.
type reach struct {
	host    string
	schemes []string
}

// reachOf reads the region of a difference. A difference with other ports, with methods or of several hosts stands
// for itself.
func reachOf(d compare.Difference) (reach, bool) {
	host, by, ok := strings.Cut(d.Where, " by ")
	schemes, port, last := strings.Cut(by, ", port ")
	r := reach{host, strings.Split(schemes, ", ")}
	ports := func(scheme string) bool { return strconv.Itoa(int(ir.DefaultPort(scheme))) != port }
	grant := d.Kind == compare.Grant && d.Resource == ir.Net && len(d.Regions)+len(d.Platforms) == 0
	return r, ok && last && grant && !slices.ContainsFunc(r.schemes, ports)
}

// folded joins the changes of a rule on all hosts: a difference for each scheme of each host that could be reached
// before. It returns how many were joined.
// See decision D467.
func folded(ds []compare.Difference) (out []compare.Difference, joined int) {
	key := func(d compare.Difference) string { return mark(d) + d.What + "\n" + because(d) }
	groups := map[string][]compare.Difference{}
	for _, d := range ds {
		if _, ok := reachOf(d); ok {
			groups[key(d)] = append(groups[key(d)], d)
		}
	}
	every := func(d compare.Difference) bool { r, _ := reachOf(d); return r.host == anyHost }
	for _, d := range ds {
		group := groups[key(d)]
		_, ok := reachOf(d)
		switch {
		case !ok || len(group) == 1 || !slices.ContainsFunc(group, every):
			out = append(out, d)
		case d.Where == group[0].Where:
			out = append(out, joint(group))
			joined += len(group)
		}
	}
	return out, joined
}

// joint is the difference that a group of them amounts to. Its example is by HTTPS, if any is.
func joint(group []compare.Difference) compare.Difference {
	var out compare.Difference
	var schemes, except, hosts []string
	for _, d := range group {
		r, _ := reachOf(d)
		schemes = append(schemes, r.schemes...)
		if r.host != anyHost {
			hosts = append(hosts, r.host)
			continue
		}
		except = append(except, d.Except...)
		if out.Where == "" || slices.Contains(r.schemes, "https") {
			out = d
		}
	}
	for _, list := range []*[]string{&schemes, &except, &hosts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	out.Except = slices.DeleteFunc(except, func(host string) bool { return slices.Contains(hosts, host) })
	out.Where = anyHost + " by " + strings.Join(schemes, ", ")
	if len(hosts) > 0 {
		out.Where += ", " + plural.Count(len(hosts), "host") + " in part"
	}
	out.Where += " (" + strconv.Itoa(len(group)) + " regions)"
	return out
}
