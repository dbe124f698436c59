package egress

import (
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/accessc/accessc/internal/egress/credential"
	"github.com/accessc/accessc/ir"
)

// Reasons for refusing a request whose rule has a credential.
const (
	whyPlain    = "the rule's credential is sent over TLS alone; expected https"
	whyMessages = "the rule's credential could come back in a WebSocket, whose messages are not searched for it"
	whyNoValue  = "this run has no value for the rule's credential"
)

// errEncoded is an answer in which the value would not be found.
var errEncoded = errors.New("the server encodes an answer that may show the rule's credential, " +
	"although it was asked not to")

// errShown replaces an error whose text shows the value.
var errShown = errors.New("the request failed; the reason shows the rule's credential")

// Secrets are the values of a run's credentials, by their sources.
type Secrets struct {
	secrets map[string]credential.Secret
	mu      sync.Mutex
	masks   map[string]*credential.Mask
}

// NewSecrets takes the result of credential.All.
func NewSecrets(secrets map[string]credential.Secret) *Secrets {
	return &Secrets{secrets: secrets, masks: map[string]*credential.Mask{}}
}

// mask returns the mask for the answers to a credential's requests.
func (s *Secrets) mask(c *ir.Credential, secret credential.Secret) *credential.Mask {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Name + "\x00" + credential.Source(c)
	m := s.masks[key]
	if m == nil {
		m = secret.Mask(c.Name)
		s.masks[key] = m
	}
	return m
}

// An injection puts the credential of one rule into one request, and takes it out of the answer.
type injection struct {
	*ir.Credential
	secret credential.Secret
	mask   *credential.Mask
	next   http.RoundTripper
}

// injection is the credential of the rule that grants a request, nil for none. A run may have no secrets.
func (s *Secrets) injection(to ir.Endpoint, v ir.Verdict, r *http.Request) (in *injection, why string) {
	granting := rule(v)
	if granting == nil || granting.Credential == nil {
		return nil, ""
	}
	c := granting.Credential
	switch {
	case to.Scheme != schemeHTTPS || r.TLS == nil:
		return nil, whyPlain
	case len(r.Header["Upgrade"]) > 0:
		return nil, whyMessages
	case s == nil || len(s.secrets[credential.Source(c)].Value) == 0:
		return nil, whyNoValue
	}
	secret := s.secrets[credential.Source(c)]
	return &injection{Credential: c, secret: secret, mask: s.mask(c, secret)}, ""
}

// through makes a request pass the injection last, when no header of the tool can change it.
func (in *injection) through(f *httputil.ReverseProxy) *httputil.ReverseProxy {
	if in != nil {
		in.next, f.Transport = f.Transport, in
	}
	return f
}

// RoundTrip implements http.RoundTripper. It follows no redirect: the tool's next request is
// judged by itself.
func (in *injection) RoundTrip(r *http.Request) (*http.Response, error) {
	var carrier net.Conn
	trace := &httptrace.ClientTrace{
		Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
			in.mask.Header(h)
			return nil
		},
		GotConn: func(got httptrace.GotConnInfo) { carrier = got.Conn },
	}
	out := r.Clone(httptrace.WithClientTrace(r.Context(), trace))
	in.put(out)
	// In a compressed answer the value would not be found, nor in parts of an answer.
	out.Header.Set("Accept-Encoding", "identity")
	for _, name := range []string{"Range", "If-Range", "Request-Range", "Accept-Charset"} {
		out.Header.Del(name)
	}
	res, err := in.next.RoundTrip(out)
	switch {
	case err != nil && in.mask.Shows(err.Error()):
		return nil, errShown
	case err != nil:
		return nil, err
	}
	for _, e := range res.Header["Content-Encoding"] {
		if e != "" && !strings.EqualFold(e, "identity") {
			_ = res.Body.Close()
			return nil, errEncoded
		}
	}
	in.mask.Header(res.Header)
	in.mask.Header(res.Trailer) // the names that the server announces
	res.Body = in.mask.Reader(credential.Answer{
		Body: res.Body, Size: res.ContentLength, Hold: patience(carrier, carriageOf(r.Context()).via != nil),
		Ended: func() { in.mask.Header(res.Trailer) },
	})
	return res, nil
}

// Bounds of the time that the end of an answer without a length waits for more.
var (
	leastPatience = 200 * time.Millisecond
	mostPatience  = 10 * time.Second
	// unknownPatience is for a host behind another proxy, or where the system does not say how far it is.
	unknownPatience = time.Second
)

// patience is how long bytes that a server sends at once may come apart: a lost packet is sent again after the time
// that the kernel has for that, and the next flight needs a round trip.
func patience(carrier net.Conn, proxied bool) time.Duration {
	bare := carrying(carrier)
	if over, is := bare.(*timed); is {
		bare = carrying(over.Conn)
	}
	lost, trip, ok := distance(bare)
	if proxied || !ok {
		return max(unknownPatience, min(lost+2*trip, mostPatience))
	}
	return max(leastPatience, min(lost+2*trip, mostPatience))
}

// put writes the value where the rule says, whatever the tool has there: a tool that could send
// another value would act for another account, such as an attacker's.
func (in *injection) put(r *http.Request) {
	switch in.As {
	case "basic":
		basic := base64.StdEncoding.EncodeToString([]byte(in.Name + ":" + string(in.secret.Value)))
		r.Header["Authorization"] = []string{"Basic " + basic}
	case "query":
		r.URL.RawQuery = in.query(r.URL.RawQuery)
	default:
		name := http.CanonicalHeaderKey(in.Name)
		r.Header[name] = []string{in.header(name, r.Header[name])}
	}
}

// header is the value of a header: the tool's with the value for the stand-in, else the value.
// Authorization begins with a scheme (RFC 9110, 11.6.2), the scheme of tokens if the value has
// none (RFC 6750, 2.1).
func (in *injection) header(name string, have []string) string {
	value, standIn := string(in.secret.Value), string(in.secret.StandIn)
	if len(have) == 1 && strings.Contains(have[0], standIn) {
		return strings.ReplaceAll(have[0], standIn, value)
	}
	if name == "Authorization" && !strings.Contains(value, " ") {
		return "Bearer " + value
	}
	return value
}

// query puts the value into the place of the first parameter of its name, and leaves out others.
func (in *injection) query(raw string) string {
	mine, found := url.QueryEscape(in.Name)+"="+url.QueryEscape(string(in.secret.Value)), false
	var out []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err != nil || name != in.Name {
			out = append(out, part)
		} else if !found {
			out, found = append(out, mine), true
		}
	}
	switch {
	case found:
	case raw == "":
		return mine
	default:
		out = append(out, mine)
	}
	return strings.Join(out, "&")
}
