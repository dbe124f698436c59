package irjson

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/accessc/accessc/ir"
)

// errText is wrapped by every parser below, so that callers can tell a damaged document from an unreadable document.
var errText = errors.New("malformed policy text")

func parsePos(s string) (ir.Pos, error) {
	rest, col, ok1 := cutLast(s)
	file, line, ok2 := cutLast(rest)
	if !ok1 || !ok2 {
		return ir.Pos{}, fmt.Errorf("%w: position %q", errText, s)
	}
	return ir.Pos{File: file, Line: line, Col: col}, nil
}

func cutLast(s string) (head string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil && n >= 0
}

func formatPos(p ir.Pos) string {
	return p.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col)
}

// symbols are the roots that need no name.
var symbols = []ir.RootKind{ir.Workspace, ir.Home, ir.Temp}

// ParseLocation is the inverse of ir.Location.String.
func ParseLocation(s string) (ir.Location, error) {
	l, err := parsePlace(s)
	if err == nil && l.Path != "" && path.Clean("/"+l.Path) != "/"+l.Path {
		err = fmt.Errorf("%w: location %q is not canonical", errText, s)
	}
	return l, err
}

func parsePlace(s string) (ir.Location, error) {
	if rest, ok := strings.CutPrefix(s, "/"); ok {
		return ir.Sys(rest), nil
	}
	if rest, ok := strings.CutPrefix(s, "${external:"); ok {
		name, below, deeper := strings.Cut(rest, "}/") // which no name holds
		if deeper {
			return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}, Path: below}, nil
		}
		if name, ok := strings.CutSuffix(rest, "}"); ok {
			return ir.Location{Root: ir.Root{Kind: ir.External, Name: name}}, nil
		}
	}
	for _, k := range symbols {
		root := ir.Root{Kind: k}
		if s == root.String() {
			return ir.Location{Root: root}, nil
		}
		if rest, ok := strings.CutPrefix(s, root.String()+"/"); ok {
			return ir.Location{Root: root, Path: rest}, nil
		}
	}
	return ir.Location{}, fmt.Errorf("%w: location %q", errText, s)
}

func parseHost(s string) (ir.Host, error) {
	switch {
	case s == "*":
		return ir.Host{Kind: ir.HostAny}, nil
	case strings.HasPrefix(s, "*."):
		return ir.Host{Kind: ir.HostSuffix, Name: s[2:]}, nil
	case s == "":
		return ir.Host{}, fmt.Errorf("%w: empty host", errText)
	}
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}, nil
	}
	return ir.Host{Kind: ir.HostName, Name: s}, nil
}

func parseCaps(names []string) (ir.CapSet, error) {
	var s ir.CapSet
	for _, n := range names {
		c, ok := ir.ParseCapability(n)
		if !ok {
			return 0, fmt.Errorf("%w: capability %q", errText, n)
		}
		s = s.With(c)
	}
	return s, nil
}

func formatCaps(s ir.CapSet) []string {
	out := []string{}
	for _, c := range s.List() {
		out = append(out, c.String())
	}
	return out
}

// ParseSource is the inverse of ir.Source.String.
func ParseSource(s string) (ir.Source, error) {
	word, detail, _ := strings.Cut(s, ".")
	for _, k := range []ir.SourceKind{ir.SourceLocal, ir.SourceBuiltin, ir.SourceMCP} {
		if k.String() == word {
			return ir.Source{Kind: k, Detail: detail}, nil
		}
	}
	return ir.Source{}, fmt.Errorf("%w: source %q", errText, s)
}

func parseRisk(s string) (ir.Risk, error) {
	if r := ir.ParseRisk(s); r != 0 {
		return r, nil
	}
	return 0, fmt.Errorf("%w: risk %q", errText, s)
}

func parseResource(s string) (ir.Resource, error) {
	for _, r := range ir.Resources {
		if r.String() == s {
			return r, nil
		}
	}
	return 0, fmt.Errorf("%w: resource %q", errText, s)
}

func parseLimitKind(s string) (ir.LimitKind, error) {
	for _, k := range ir.LimitKinds {
		if k.String() == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%w: limit %q", errText, s)
}

// home is the home of a tool and whether others have it, too.
type home struct {
	kind   ir.HomeKind
	shared bool
}

func parseHome(s string) (home, error) {
	kind, shared, ok := ir.ParseHome(s)
	if !ok {
		return home{}, fmt.Errorf("%w: home %q", errText, s)
	}
	return home{kind, shared}, nil
}
