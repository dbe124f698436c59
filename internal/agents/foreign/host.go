package foreign

import (
	"net/netip"
	"strconv"
	"strings"
)

// Domain compares a host and a port with an entry: a name, "*.name" or "*", with a port or without.
func Domain(entry, host string, port uint16) bool {
	pattern, own := SplitPort(entry)
	if own != 0 && own != port {
		return false
	}
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	base, wildcard := strings.CutPrefix(pattern, "*.")
	switch {
	case pattern == "*":
		return true
	case wildcard:
		_, err := netip.ParseAddr(host)
		return err != nil && strings.HasSuffix(host, "."+base)
	}
	return host == pattern
}

// SplitPort splits an entry into its host, an IPv6 address without brackets, and its port, 0 for none.
func SplitPort(entry string) (host string, port uint16) {
	if i := strings.LastIndexByte(entry, ':'); i >= 0 && !strings.HasSuffix(entry, "]") &&
		(strings.HasPrefix(entry, "[") || strings.Count(entry, ":") == 1) {
		if n, err := strconv.ParseUint(entry[i+1:], 10, 16); err == nil && n > 0 && entry[i+1] != '0' {
			return strings.Trim(entry[:i], "[]"), uint16(n)
		}
	}
	return strings.Trim(entry, "[]"), 0
}
