package explain

import "testing"

// TestSize: what a layer says as 200MB is not 200000000 bytes to a reader, and what is said
// in powers of two does not become a long number of powers of ten.
func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		200e6: "200MB", 2e9: "2GB", 1 << 30: "1GiB", 512 << 20: "512MiB", 1024: "1KiB", 1000: "1KB", 0: "0 bytes",
		1024000: "1024KB", 1536: "1536 bytes", 1e12: "1TB", 3 << 40: "3TiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: found %s, expected %s", n, got, want)
		}
	}
}
