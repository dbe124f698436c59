package egress

import (
	"io"
	"log"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOwnAddresses: the list is read again when it is old. It was that of the start, so a name led to
// an address that this host got during the run.
func TestOwnAddresses(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	o := &ownAddresses{at: time.Now()}
	if slices.Contains(o.now(), loopback) {
		t.Error("a new list is read again")
	}
	o.at = time.Now().Add(-2 * maxAge)
	if !slices.Contains(o.now(), loopback) {
		t.Errorf("an old list is kept: %v", o.now())
	}
}

// TestNothingIsLogged: bytes of hosts that net/http logs do not reach the caller's terminal. They
// may show a credential.
func TestNothingIsLogged(t *testing.T) {
	old := log.Writer()
	defer log.SetOutput(old)
	log.SetOutput(&strings.Builder{})
	_ = RunByToken(&struct {
		io.Reader
		io.Writer
	}{strings.NewReader(""), io.Discard}, strings.NewReader("{"))
	if log.Writer() != io.Discard {
		t.Error("the log is kept")
	}
}
