package attest

import (
	"strings"
	"testing"
)

// TestOneDigest: a file of a statement has a SHA-256 and no other digest, which another reader might take.
func TestOneDigest(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for _, tt := range []struct {
		digest map[string]string
		good   bool
	}{
		{map[string]string{"sha256": sum}, true}, {map[string]string{"sha256": sum, "sha512": sum + sum}, false},
		{map[string]string{"sha256": sum, "sha1": ""}, false},
		{map[string]string{"sha512": sum + sum}, false}, {map[string]string{"sha256": strings.ToUpper(sum)},
			false}, {nil, false},
	} {
		if _, err := (subject{Name: "a", Digest: tt.digest}).hash(); (err == nil) != tt.good {
			t.Errorf("%v: %v", tt.digest, err)
		}
	}
}
