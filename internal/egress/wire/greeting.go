package wire

import (
	"net/url"
	"strconv"
)

// A Greeting is the first message of a proxy to a loader that leaves no supervisor behind: one line of
// JSON on its control socket.
type Greeting struct {
	// Port is on 127.0.0.1. Clients are known by the token there, which is letters and digits.
	Port  uint16 `json:"port,omitempty"`
	Token string `json:"token,omitempty"`
	// Error says why there is no proxy.
	Error string `json:"error,omitempty"`
}

// User is the name that goes with a token.
const User = "accessc"

// URL is the proxy as variables of clients name it.
func (g Greeting) URL() *url.URL {
	return &url.URL{Scheme: "http", User: url.UserPassword(User, g.Token),
		Host: "127.0.0.1:" + strconv.Itoa(int(g.Port))}
}
