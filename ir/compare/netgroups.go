package compare

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// group is a set of lanes that is a product: some schemes by some methods on some ports.
type group struct {
	schemes, methods, ports string
	sample                  lane
}

// groups cuts the lanes of a label into products: schemes that differ by the same methods on
// the same ports belong together, and of these the methods that differ on the same ports. A
// stream is told apart from requests, and has no method.
func (g grid) groups(label string) []group {
	perScheme := len(g.methods) * len(g.ports)
	schemes := alike(label, perScheme, func(i int) bool { return g.schemes[i] == ir.Stream })
	var out []group
	for _, of := range schemes {
		bits := label[of[0]*perScheme : (of[0]+1)*perScheme]
		for _, by := range alike(bits, len(g.ports), func(int) bool { return false }) {
			row := bits[by[0]*len(g.ports) : (by[0]+1)*len(g.ports)]
			out = append(out, group{
				schemes: g.schemeText(of), methods: g.methodText(by), ports: g.portText(row),
				sample: g.example(of, by, row),
			})
		}
	}
	return out
}

// alike joins the parts of a label that are equal and not blank, by their numbers. Those that
// are apart stay so.
func alike(label string, size int, apart func(int) bool) [][]int {
	var out [][]int
	part := func(i int) string { return label[i*size : (i+1)*size] }
	for i := range len(label) / size {
		if strings.TrimSpace(part(i)) == "" {
			continue
		}
		same := func(o []int) bool { return part(o[0]) == part(i) && !apart(i) && !apart(o[0]) }
		if at := slices.IndexFunc(out, same); at >= 0 {
			out[at] = append(out[at], i)
		} else {
			out = append(out, []int{i})
		}
	}
	return out
}

// example prefers https, and a method that no rule names.
func (g grid) example(schemes, methods []int, ports string) lane {
	out := lane{g.schemes[schemes[0]], g.methods[methods[0]], g.ports[strings.IndexAny(ports, "+-")]}
	if slices.Contains(methods, len(g.methods)-1) {
		out.method = ""
	}
	if slices.Contains(schemes, slices.Index(g.schemes, "https")) {
		out.scheme = "https"
	}
	return out
}

// schemeText is empty for all schemes of requests.
func (g grid) schemeText(of []int) string {
	requests := len(g.schemes)
	if slices.Contains(g.schemes, ir.Stream) {
		requests--
	}
	var names []string
	for _, i := range of {
		if g.schemes[i] == "" {
			names = append(names, "any other scheme")
		} else {
			names = append(names, g.schemes[i])
		}
	}
	if len(of) == requests && names[0] != ir.Stream {
		return ""
	}
	return strings.Join(names, ", ")
}

// methodText is empty for all methods.
func (g grid) methodText(of []int) string {
	var in, out []string
	for i, m := range g.methods[:len(g.methods)-1] {
		if slices.Contains(of, i) {
			in = append(in, m)
		} else {
			out = append(out, m)
		}
	}
	switch {
	case len(of) == len(g.methods):
		return ""
	case slices.Contains(of, len(g.methods)-1):
		return "any method but " + strings.Join(out, ", ")
	default:
		return strings.Join(in, ", ") + " alone"
	}
}

// portText is empty for all ports.
func (g grid) portText(bits string) string {
	if strings.TrimLeft(bits, "+-") == "" {
		return ""
	}
	var in, out []string
	last := len(g.ports) - 1
	for i, p := range g.ports[:last] {
		if bits[i] == ' ' {
			out = append(out, strconv.Itoa(int(p)))
		} else {
			in = append(in, strconv.Itoa(int(p)))
		}
	}
	if bits[last] != ' ' {
		return "any port but " + strings.Join(out, ", ")
	}
	return "port " + strings.Join(in, ", ")
}

// text writes a group in words.
func (g group) text(host hostCell, path []string) string {
	out := host.String()
	if len(path) > 0 {
		out += "/" + strings.Join(path, "/")
	}
	if g.schemes != "" {
		out += " by " + g.schemes
	}
	if g.ports == "" {
		out += ", any port"
	} else {
		out += ", " + g.ports
	}
	if g.methods != "" {
		out += ", " + g.methods
	}
	return out
}

// spell writes a target as accessc can takes it, by a scheme that no rule names where it has
// none.
func (g grid) spell(op ir.Connect) string {
	to := op.To
	scheme, port, path := to.Scheme, "", "/"+strings.Join(to.Path, "/")
	if scheme == "" {
		scheme = fresh("other", g.schemes)
	}
	if scheme == ir.Stream {
		path = ""
	}
	if ir.DefaultPort(scheme) != to.Port {
		port = ":" + strconv.Itoa(int(to.Port))
	}
	words := []string{"connect", op.Method, scheme + "://" + to.Host.String() + port + path}
	return spell(slices.DeleteFunc(words, func(w string) bool { return w == "" })...)
}
