package egress

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/ir"
)

type failing struct{ with string }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("%s: %w", f.with, errInternal)
}

// TestShownByError: a server says in HTTP/2 why it ends a connection, and the error repeats it.
func TestShownByError(t *testing.T) {
	secret, err := credential.NewSecret([]byte("ghp_16C7e42F292c6912E7710c838347Ae178B4a"))
	if err != nil {
		t.Fatal(err)
	}
	in := &injection{Credential: &ir.Credential{As: "query", Name: "key"}, secret: secret, mask: secret.Mask()}
	for _, test := range []struct {
		text string
		same bool
	}{{"refused", true}, {"debug=" + string(secret.Value), false}} {
		in.next = failing{test.text}
		req, _ := http.NewRequest("GET", "https://example.com/", nil)
		_, err := in.RoundTrip(req)
		if errors.Is(err, errInternal) != test.same || strings.Contains(err.Error(), string(secret.Value)) {
			t.Error(err)
		}
		if req.URL.RawQuery != "" {
			t.Error("the tool's own request has the value")
		}
	}
}
