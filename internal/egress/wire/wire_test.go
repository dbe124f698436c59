package wire

import (
	"net/netip"
	"reflect"
	"testing"
)

func FuzzParse(f *testing.F) {
	p := Packet{
		Kind: Refused, ID: 7, Errno: 13, Blocking: true, Text: []string{"https", "example.com", ""},
		Want: netip.MustParseAddrPort("198.18.0.1:443"), From: netip.MustParseAddrPort("[::1]:5"),
	}
	f.Add(p.Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(p.Append(nil))
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("%+v became %+v: %v", p, again, err)
		}
	})
}
