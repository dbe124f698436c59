package egress

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

// TestCache: an answer is asked for once, an error each time, and the number of names is bounded.
func TestCache(t *testing.T) {
	asked := map[string]int{}
	c := newCache(func(_ context.Context, name string) (Found, error) {
		if asked[name]++; name == "missing" {
			return Found{}, errors.New("no such host")
		}
		return Found{Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}, nil
	})
	for range 3 {
		if got, err := c.lookup(t.Context(), "here"); err != nil || len(got.Addrs) != 1 {
			t.Fatal(got, err)
		}
		if _, err := c.lookup(t.Context(), "missing"); err == nil {
			t.Fatal("found a name that is missing")
		}
	}
	if asked["here"] != 1 || asked["missing"] != 3 {
		t.Errorf("asked %v", asked)
	}
	for i := range 2 * keptNames {
		_, _ = c.lookup(t.Context(), fmt.Sprint(i))
	}
	if len(c.names) > keptNames {
		t.Errorf("%d names are kept", len(c.names))
	}
}
