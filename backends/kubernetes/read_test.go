package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/text/strictjson"
	"github.com/accessc/accessc/ir"
)

var errObjects = errors.New("not a list that this package wrote")

// objects are the objects of a list.
type objects struct {
	ledger   ir.Ledger
	pod      podSpec
	labels   map[string]string
	policies []networkPolicy
	cilium   []ciliumPolicy
	template *templateSpec
}

// parse reads a list that this package wrote.
func parse(data []byte) (*objects, error) {
	var l struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := strictjson.Unmarshal(data, &l); err != nil || l.Kind != "List" {
		return nil, fmt.Errorf("%w: %w", errObjects, err)
	}
	out := &objects{}
	for _, item := range l.Items {
		if err := out.add(item); err != nil {
			return nil, fmt.Errorf("%w: %w", errObjects, err)
		}
	}
	return out, nil
}

func (o *objects) add(item json.RawMessage) error {
	var h struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(item, &h); err != nil {
		return err
	}
	switch h.Kind {
	case "ConfigMap":
		var c configMap
		var rows []backends.Row
		err := strictjson.Unmarshal(item, &c)
		for _, key := range slices.Sorted(maps.Keys(c.Data)) {
			if strings.HasPrefix(key, "ledger.") {
				rows = append(rows, backends.Row{})
				err = errors.Join(err, json.Unmarshal([]byte(c.Data[key]), &rows[len(rows)-1]))
			}
		}
		if err == nil {
			o.ledger, err = backends.Ledger(rows)
		}
		return err
	case "Pod":
		var p pod
		err := strictjson.Unmarshal(item, &p)
		o.pod, o.labels = p.Spec, p.Metadata.Labels
		return err
	case "SandboxTemplate":
		var t sandboxTemplate
		err := strictjson.Unmarshal(item, &t)
		o.template, o.pod, o.labels = &t.Spec, t.Spec.Template.Spec, t.Spec.Template.Metadata.Labels
		return err
	case "NetworkPolicy":
		var p networkPolicy
		err := strictjson.Unmarshal(item, &p)
		o.policies = append(o.policies, p)
		return err
	case "CiliumNetworkPolicy":
		var p ciliumPolicy
		err := strictjson.Unmarshal(item, &p)
		o.cilium = append(o.cilium, p)
		return err
	}
	return fmt.Errorf("kind %q", h.Kind)
}

// mountOf is the mount that decides about a path: the deepest mount on it or above it.
func (o *objects) mountOf(path string) (out mount, ok bool) {
	for _, m := range o.pod.Containers[0].Mounts {
		if ir.Within(path, m.Path) && len(m.Path) >= len(out.Path) {
			out, ok = m, true
		}
	}
	return out, ok
}

// reaches is the answer of the pod's mounts about a path.
func (o *objects) reaches(path string) (read, write bool) {
	m, ok := o.mountOf(path)
	return ok && m.Name != mask, ok && !m.ReadOnly
}

func (o *objects) selected(s selector) bool {
	for key, value := range s.Labels {
		if o.labels[key] != value {
			return false
		}
	}
	return true
}

// isolates reports whether a policy closes a direction, but for its rules.
func (o *objects) isolates(direction string) bool {
	return slices.ContainsFunc(o.policies, func(p networkPolicy) bool { return o.selected(p.Spec.Pods) && slices.Contains(p.Spec.Types, direction) })
}

// sends reports whether some core policy opens a port of an address. A block's exceptions are only of that block.
func (o *objects) sends(to netip.Addr, n uint16) bool {
	return !o.isolates("Egress") || slices.ContainsFunc(o.policies, func(p networkPolicy) bool {
		return o.selected(p.Spec.Pods) && slices.ContainsFunc(p.Spec.Egress, func(e egress) bool {
			return inPorts(e.Ports, n) && slices.ContainsFunc(e.To, func(p peer) bool { return p.Block != nil && p.Block.contains(to) })
		})
	})
}

func (b *ipBlock) contains(a netip.Addr) bool {
	return netip.MustParsePrefix(b.CIDR).Contains(a) && !slices.ContainsFunc(b.Except, func(s string) bool { return netip.MustParsePrefix(s).Contains(a) })
}

func inPorts(list []port, n uint16) bool {
	return slices.ContainsFunc(list, func(p port) bool { return p.Protocol == "TCP" && p.Port <= n && n <= max(p.Port, p.End) })
}

// receives reports whether connections from elsewhere arrive at a port.
func (o *objects) receives(n uint16) bool {
	return !o.isolates("Ingress") || slices.ContainsFunc(o.policies, func(p networkPolicy) bool {
		return o.selected(p.Spec.Pods) && slices.ContainsFunc(p.Spec.Ingress, func(i ingress) bool { return inPorts(i.Ports, n) })
	})
}

// asksAnything reports whether core policies open the cluster's name servers.
func (o *objects) asksAnything() bool {
	return slices.ContainsFunc(o.policies, func(p networkPolicy) bool {
		return slices.ContainsFunc(p.Spec.Egress, func(e egress) bool {
			return slices.ContainsFunc(e.To, func(p peer) bool { return p.Pods != nil && p.Pods.Labels["k8s-app"] == "kube-dns" })
		})
	})
}

// matches is Cilium's reading of a name or a pattern (pkg/fqdn/matchpattern of release 1.20.2): "**." is one label or
// more at the beginning, and "*" characters of one label.
func (f fqdn) matches(name string) bool {
	if f.Name != "" {
		return strings.EqualFold(f.Name, name)
	}
	return matchesPattern(f.Pattern, name)
}

const dnsChar = "[-a-zA-Z0-9_]"

func matchesPattern(pattern, name string) bool {
	expr, deep := strings.CutPrefix(strings.ToLower(pattern), "**.")
	expr = strings.ReplaceAll(strings.ReplaceAll(expr, ".", "[.]"), "*", dnsChar+"*")
	if deep {
		expr = "(" + dnsChar + "+[.])+" + expr
	}
	return regexp.MustCompile("^" + expr + "$").MatchString(strings.ToLower(name))
}

// reachesName reports whether Cilium lets a connection to a name pass, and whether whatever its bytes are. The name has
// to be resolved first; its address is public.
func (o *objects) reachesName(name string, n uint16, scheme string) (passes, blind bool) {
	resolved := false
	for _, p := range o.cilium {
		if !o.selected(p.Spec.Pods) {
			continue
		}
		for _, e := range p.Spec.Egress {
			for _, l := range e.Ports {
				if e.Endpoints != nil && l.Rules != nil {
					resolved = resolved || slices.ContainsFunc(l.Rules.DNS, func(f fqdn) bool { return f.matches(name) })
				}
				if slices.ContainsFunc(e.Names, func(f fqdn) bool { return f.matches(name) }) && slices.Contains(l.Ports, portText{strconv.Itoa(int(n)), "TCP"}) {
					all := l.Servers == nil && l.Rules == nil
					passes, blind = passes || all || l.carries(name, n, scheme), blind || all
				}
			}
		}
	}
	return passes && resolved, blind && resolved
}

func (l *ciliumPort) carries(name string, n uint16, scheme string) bool {
	switch scheme {
	case "https":
		return slices.ContainsFunc(l.Servers, func(s string) bool { return matchesPattern(s, name) })
	case "http":
		return l.Rules != nil && slices.ContainsFunc(l.Rules.HTTP, func(r httpRule) bool {
			expr := regexp.MustCompile("^(?:" + r.Host + ")$")
			return expr.MatchString(name) && expr.MatchString(name+":"+strconv.Itoa(int(n)))
		})
	default:
		return false
	}
}
