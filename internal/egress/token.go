package egress

import (
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
)

// Numbers of passwords in SOCKS5 (RFC 1929).
const (
	socksPassword        = 2
	socksPasswordVersion = 1
	socksPasswordRight   = 0
	socksPasswordWrong   = 1
)

// whyNoToken is the answer to programs that are not the run's.
const whyNoToken = "this is the proxy of another program"

func (r *run) knows(token string) bool {
	return r.config.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(r.config.Token)) == 1
}

// passes reports whether a request is the tool's, and answers it if it is not.
func (s *requests) passes(w http.ResponseWriter, r *http.Request, c *client) bool {
	if !c.stranger {
		return true
	}
	values := r.Header["Proxy-Authorization"]
	said := http.Request{Header: http.Header{"Authorization": values}}
	if _, token, ok := said.BasicAuth(); ok && len(values) == 1 && s.knows(token) {
		return true
	}
	w.Header().Set("Proxy-Authenticate", `Basic realm="accessc"`)
	w.Header().Set("Connection", "close")
	fail(w, whyNoToken, http.StatusProxyAuthRequired)
	return false
}

// socksToken reads the name and the password of a client.
func (g *greeter) socksToken(c *client) error {
	var parts [2]string
	var version [1]byte
	if _, err := io.ReadFull(c, version[:]); err != nil || version[0] != socksPasswordVersion {
		return io.ErrUnexpectedEOF
	}
	for i := range parts {
		var size [1]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return err
		}
		text := make([]byte, size[0])
		if _, err := io.ReadFull(c, text); err != nil {
			return err
		}
		parts[i] = string(text)
	}
	if !g.knows(parts[1]) {
		_, _ = c.Write([]byte{socksPasswordVersion, socksPasswordWrong})
		return errors.New(whyNoToken)
	}
	_, err := c.Write([]byte{socksPasswordVersion, socksPasswordRight})
	return err
}
