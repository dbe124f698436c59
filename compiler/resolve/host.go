package resolve

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/accessc/accessc/internal/process/once"
	"github.com/accessc/accessc/ir"
)

// profile maps names as lookups do (UTS 46, non-transitional). Underscores are let
// through: they occur in service names, and a name with an underscore reaches no other host.
func profile() *idna.Profile {
	return profileOnce.Get(func() *idna.Profile {
		return idna.New(
			idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.VerifyDNSLength(true),
			idna.BidiRule(),
		)
	})
}

var profileOnce once.Value[*idna.Profile]

// maxHost bounds the input of the mapping, in bytes: a name of 253 ASCII characters (RFC 1035,
// section 2.3.4) has no longer spelling. The mapping's cost grows with the square.
const maxHost = 253 * utf8.UTFMax

// Host parses a host name or address into its canonical form.
func Host(s string) (ir.Host, error) {
	switch {
	case s == "":
		return ir.Host{}, errors.New("found an empty host")
	case len(s) > maxHost:
		return ir.Host{}, errors.New("found a host that is longer than DNS takes")
	case strings.HasPrefix(s, "["):
		return bracketed(s)
	case strings.Contains(s, "*"):
		return ir.Host{}, errors.New(`found "*" inside a host`)
	case strings.Contains(s, ":"):
		if _, err := netip.ParseAddr(s); err == nil {
			return ir.Host{}, errors.New("found an IPv6 address without brackets, expected [" + s + "]")
		}
		return ir.Host{}, errors.New(`found ":" in a host; a port has a field of its own`)
	}
	return name(s)
}

// HostPattern parses the host of a rule, which may also be "*" or "*.name".
func HostPattern(s string) (ir.Host, error) {
	if s == "*" {
		return ir.Host{Kind: ir.HostAny}, nil
	}
	suffix, ok := strings.CutPrefix(s, "*.")
	if !ok {
		if strings.Contains(s, "*") {
			return ir.Host{}, errors.New(`found "*" inside a host, expected "*" alone or "*." in front of a name`)
		}
		return Host(s)
	}
	h, err := Host(suffix)
	switch {
	case err != nil:
		return ir.Host{}, err
	case h.Kind != ir.HostName:
		return ir.Host{}, errors.New(`found "*." in front of an address`)
	}
	return ir.Host{Kind: ir.HostSuffix, Name: h.Name}, nil
}

func bracketed(s string) (ir.Host, error) {
	inner, ok := strings.CutSuffix(s[1:], "]")
	a, err := netip.ParseAddr(inner)
	if !ok || err != nil || !a.Is6() || a.Zone() != "" {
		return ir.Host{}, errors.New("found brackets around something that is not an IPv6 address")
	}
	return ir.Host{Kind: ir.HostAddr, Addr: a.Unmap()}, nil
}

func name(s string) (ir.Host, error) {
	if !utf8.ValidString(s) {
		return ir.Host{}, errors.New("found a name that is not UTF-8")
	}
	trimmed := strings.TrimSuffix(s, ".")
	ascii, err := profile().ToASCII(trimmed)
	if err != nil {
		return ir.Host{}, fmt.Errorf("found a name that DNS does not take (%s)",
			strings.TrimPrefix(err.Error(), "idna: "))
	}
	ascii = strings.ToLower(ascii)
	for i := range len(ascii) {
		if c := ascii[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return ir.Host{}, fmt.Errorf("found %q in a host", rune(c))
		}
	}
	if a, err := netip.ParseAddr(ascii); err == nil {
		return ir.Host{Kind: ir.HostAddr, Addr: a}, nil
	}
	if numeric(ascii) {
		return ir.Host{}, errors.New("found a number that is not an IPv4 address in its canonical form, " +
			"expected a.b.c.d")
	}
	return ir.Host{Kind: ir.HostName, Name: ascii}, nil
}

// numeric reports whether programs would read a name as some spelling of an IPv4
// address (https://url.spec.whatwg.org/#ends-in-a-number-checker): such spellings
// reach an address that no rule on a name is about.
func numeric(ascii string) bool {
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
