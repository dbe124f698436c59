package kubernetes

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends"
	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/ir"
)

// special are the addresses that a rule about every host is not about, and the addresses that TCP has no use for:
// private, this host's, link-local, unspecified and multicast addresses, and IPv4 embedded in IPv6 (RFC 1918,
// 4193, 4291, 5771).
var special = []string{
	"0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4",
	"::/128", "::1/128", "::ffff:0:0/96", "64:ff9b::/96", "fc00::/7", "fe80::/10", "ff00::/8",
}

// bare reports whether a rule allows connections and says nothing about the requests that they carry.
func bare(r *ir.NetRule) bool {
	return r.Allow && !r.Listen && len(r.Path) == 0 && len(r.Methods) == 0 && !r.Inspect && r.Credential == nil
}

// denies reports whether a rule that denies could win over an allowing rule: it is about the same hosts, or about some
// of them.
func (c *conversion) denies(r *ir.NetRule) bool {
	return slices.ContainsFunc(c.tool.Net, func(o ir.NetRule) bool {
		return !o.Allow && !o.Listen && (o.Port == 0 || r.Port == 0 || o.Port == r.Port) && covers(r.Host, o.Host)
	})
}

func covers(a, b ir.Host) bool {
	switch {
	case a == b || a.Kind == ir.HostAny:
		return true
	case a.Kind == ir.HostSuffix && (b.Kind == ir.HostName || b.Kind == ir.HostSuffix):
		return strings.HasSuffix(b.Name, "."+a.Name)
	default:
		return false
	}
}

// opens reports whether a core policy can say a rule: a port of one address, or of all public ones.
func (c *conversion) opens(r *ir.NetRule) bool {
	if !bare(r) || r.Scheme != "" || r.Port == 0 || c.denies(r) {
		return false
	}
	if r.Host.Kind == ir.HostAny {
		return true
	}
	// An address inside IPv6 is another address on the wire, and an address with a zone is only of this host.
	a := r.Host.Addr
	return r.Host.Kind == ir.HostAddr && !a.IsLoopback() && !a.Is4In6() && a.Zone() == ""
}

// resolves reports whether every name may be asked for, as a rule about every host needs.
func (c *conversion) resolves() bool {
	return slices.ContainsFunc(c.tool.Net, func(r ir.NetRule) bool { return r.Host.Kind == ir.HostAny && c.opens(&r) })
}

// policy closes the network of the pod, except for the connections that a core policy can allow.
func (c *conversion) policy() networkPolicy {
	name := objectName(c.tool.Name)
	out := networkPolicy{object("networking.k8s.io/v1", "NetworkPolicy", name, nil),
		networkSpec{Pods: selector{label(c.tool)}, Types: []string{"Ingress", "Egress"}}}
	for i := range c.tool.Net {
		r := &c.tool.Net[i]
		switch {
		case c.accepts(r) && r.Port == 0:
			out.Spec.Ingress = append(out.Spec.Ingress, ingress{[]port{{"TCP", 1024, 65535}}})
		case c.accepts(r):
			out.Spec.Ingress = append(out.Spec.Ingress, ingress{[]port{{"TCP", r.Port, 0}}})
		case c.opens(r):
			out.Spec.Egress = append(out.Spec.Egress, egress{blocks(r.Host), []port{{"TCP", r.Port, 0}}})
		}
	}
	if c.resolves() {
		names := peer{Namespaces: &selector{map[string]string{"kubernetes.io/metadata.name": "kube-system"}},
			Pods: &selector{map[string]string{"k8s-app": "kube-dns"}}}
		out.Spec.Egress = append(out.Spec.Egress, egress{[]peer{names}, []port{{"UDP", 53, 0}, {"TCP", 53, 0}}})
	}
	return out
}

// blocks are the addresses of a host: one address, or all that are not special.
func blocks(h ir.Host) []peer {
	if h.Kind == ir.HostAddr {
		return []peer{{Block: &ipBlock{CIDR: netip.PrefixFrom(h.Addr, h.Addr.BitLen()).String()}}}
	}
	out := []peer{{Block: &ipBlock{CIDR: "0.0.0.0/0"}}, {Block: &ipBlock{CIDR: "::/0"}}}
	for _, s := range special {
		i := 0
		if strings.Contains(s, ":") {
			i = 1
		}
		out[i].Block.Except = append(out[i].Block.Except, s)
	}
	return out
}

// accepts reports whether a rule lets connections in at every address. A pod has addresses that no policy knows.
func (c *conversion) accepts(r *ir.NetRule) bool {
	return r.Listen && r.Allow && r.Host.Kind == ir.HostAny &&
		!slices.ContainsFunc(c.tool.Net, func(o ir.NetRule) bool {
			return o.Listen && !o.Allow && (o.Port == 0 || r.Port == 0 || o.Port == r.Port)
		})
}

// nameOfCilium matches the names that Cilium's schema accepts (matchName).
var nameOfCilium = expression.Once{Text: `^([-a-zA-Z0-9_]+[.])*[-a-zA-Z0-9_]+$`}

// names reports whether Cilium can say a rule: TLS with the host's name, HTTP with its header, or a stream.
func (c *conversion) names(r *ir.NetRule) bool {
	pattern := r.Host.Kind == ir.HostSuffix
	switch {
	case !bare(r) || !pattern && r.Host.Kind != ir.HostName || r.Host.Name == ir.Localhost || c.denies(r):
		return false
	case len(r.Host.Name) > 250 || !nameOfCilium.Get().MatchString(r.Host.Name):
		return false
	default:
		return len(c.carried(r)) > 0
	}
}

// carried are the ports of a rule, each with the traffic that passes there. Cilium has a single proxy for a port, so
// where some rule is about HTTP, none is about TLS.
func (c *conversion) carried(r *ir.NetRule) []ciliumPort {
	var out []ciliumPort
	for _, n := range portsOf(r) {
		p := ciliumPort{Ports: []portText{{strconv.Itoa(int(n)), "TCP"}}}
		switch {
		case r.Opaque || r.Scheme == ir.Stream:
		case isHTTP(r, n):
			p.Rules = &ciliumRules{HTTP: []httpRule{{hostHeader(r.Host, n)}}}
		case slices.ContainsFunc(c.tool.Net, func(o ir.NetRule) bool {
			return slices.Contains(portsOf(&o), n) && isHTTP(&o, n)
		}):
			continue
		default:
			select_ := pattern(r.Host)
			p.Servers = []string{select_.Name + select_.Pattern}
		}
		out = append(out, p)
	}
	return out
}

// isHTTP reports whether a rule is about HTTP without TLS at a port.
func isHTTP(r *ir.NetRule, n uint16) bool { return r.Scheme == "http" || r.Scheme == "" && n == 80 }

// portsOf are the ports that a rule is about, as far as Cilium can state the traffic that passes there.
func portsOf(r *ir.NetRule) []uint16 {
	known := r.Scheme == "http" || r.Scheme == "https" || r.Scheme == ""
	switch {
	case !known && r.Scheme != ir.Stream && !r.Opaque, r.Listen:
		return nil
	case r.Port != 0:
		return []uint16{r.Port}
	case ir.DefaultPort(r.Scheme) != 0:
		return []uint16{ir.DefaultPort(r.Scheme)}
	case r.Scheme == "" && !r.Opaque:
		return []uint16{443, 80}
	default:
		return nil
	}
}

// pattern selects the names of a host. From Cilium 1.18 on "**." is a label or more, before that less.
func pattern(h ir.Host) fqdn {
	if h.Kind == ir.HostSuffix {
		return fqdn{Pattern: "**." + h.Name}
	}
	return fqdn{Name: h.Name}
}

// hostHeader is an expression that Envoy matches a whole Host header with.
func hostHeader(h ir.Host, port uint16) string {
	out := strings.ReplaceAll(h.Name, ".", "[.]")
	if h.Kind == ir.HostSuffix {
		out = "([-a-zA-Z0-9_]+[.])+" + out
	}
	return out + "(:" + strconv.Itoa(int(port)) + ")?"
}

// cilium opens the hosts that rules name, and lets the pod ask for their addresses. An answer with a special address
// opens nothing, unless a rule names that address.
func (c *conversion) cilium() (ciliumPolicy, bool) {
	name := objectName(c.tool.Name)
	out := ciliumPolicy{object("cilium.io/v2", "CiliumNetworkPolicy", name, nil),
		ciliumSpec{Pods: selector{label(c.tool)}}}
	dns := &ciliumRules{}
	for _, r := range c.named {
		select_ := pattern(r.Host)
		if !slices.Contains(dns.DNS, select_) {
			dns.DNS = append(dns.DNS, select_)
		}
		out.Spec.Egress = append(out.Spec.Egress, ciliumEgress{Names: []fqdn{select_}, Ports: c.carried(r)})
	}
	servers := ciliumEgress{
		Endpoints: []selector{{map[string]string{"k8s:io.kubernetes.pod.namespace": "kube-system",
			"k8s:k8s-app": "kube-dns"}}},
		Ports: []ciliumPort{{Ports: []portText{{"53", "UDP"}, {"53", "TCP"}}, Rules: dns}},
	}
	out.Spec.Egress = append([]ciliumEgress{servers}, out.Spec.Egress...)
	out.Spec.Deny = []ciliumDeny{{c.closed()}}
	return out, len(c.named) > 0
}

// closed are the special addresses but for those that a rule opens. An exception of a block lies in it.
func (c *conversion) closed() []ipBlock {
	var out []ipBlock
	for _, s := range special {
		block, within := ipBlock{CIDR: s}, netip.MustParsePrefix(s)
		for i := range c.tool.Net {
			r := &c.tool.Net[i]
			if r.Host.Kind != ir.HostAddr || !c.opens(r) || !within.Contains(r.Host.Addr) {
				continue
			}
			one := netip.PrefixFrom(r.Host.Addr, r.Host.Addr.BitLen()).String()
			if !slices.Contains(block.Except, one) {
				block.Except = append(block.Except, one)
			}
		}
		out = append(out, block)
	}
	return out
}

// connection says how a rule about connections is held.
func (c *conversion) connection(r *ir.NetRule) ir.Held {
	here := r.Host.Kind == ir.HostAddr && r.Host.Addr.Unmap().IsLoopback() ||
		r.Host.Kind == ir.HostName && r.Host.Name == ir.Localhost
	switch {
	case here:
		return backends.When(!r.Allow, backends.Weaker(ir.GapNetDefault, whyLoopback))
	case !r.Allow:
		return ir.Because(ir.Assumed, "", whyPlugin, whyUnion)
	case c.opens(r) && r.Host.Kind == ir.HostAny:
		return backends.Join(backends.Stricter(whySpecial), ir.Because(ir.Assumed, "", whyPlugin, whyUnion))
	case c.opens(r):
		return ir.Because(ir.Assumed, "", whyPlugin, whyUnion)
	case c.names(r) && (r.Opaque || r.Scheme == ir.Stream):
		return ir.Because(ir.Assumed, "", whyCilium, whyUnion, whyKept)
	case c.names(r):
		less := r.Scheme == "" || len(c.carried(r)) < len(portsOf(r))
		return backends.Join(backends.When(less, backends.Stricter(whyForm)),
			ir.Because(ir.Assumed, "", whyCilium, whyUnion, whyKept))
	case r.Host.Kind == ir.HostName || r.Host.Kind == ir.HostSuffix:
		return backends.Stricter(whyRequests)
	default:
		return backends.Stricter(whyAddresses)
	}
}

// listener says how a rule about accepting connections is held.
func (c *conversion) listener(r *ir.NetRule) ir.Held {
	switch {
	case r.Host.Kind == ir.HostName || r.Host.Kind == ir.HostAddr && r.Host.Addr.Unmap().IsLoopback():
		return backends.When(!r.Allow, backends.Weaker(ir.GapNetListen, whyLoopback))
	case r.Allow && !c.accepts(r):
		return backends.Stricter(whyListen)
	default:
		return ir.Because(ir.Assumed, "", whyPlugin, whyUnion)
	}
}
