package attest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

func hashOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

func sample() *Statement {
	return &Statement{
		Subjects: []Subject{{"manifest.json", hashOf("a")}, {"fmt/landlock.json", hashOf("b")}},
		Build: &Build{
			Accessc: "1.0", Form: "portable", Policy: hashOf("c"), Project: "<shop>", Serial: 7,
			Tools: []Tool{{"fmt", "local", hashOf("d")}, {"web", "mcp.web.search", ""}},
		},
	}
}

func pemOf(t testing.TB, kind string, key any) []byte {
	t.Helper()
	var der []byte
	var err error
	if kind == "PUBLIC KEY" {
		der, err = x509.MarshalPKIXPublicKey(key)
	} else {
		der, err = x509.MarshalPKCS8PrivateKey(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// newKey makes a key, Ed25519 or ECDSA on P-256, and reads it as a file has it.
func newKey(t testing.TB, curve elliptic.Curve) Private {
	t.Helper()
	var key crypto.Signer
	var err error
	if curve == nil {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	} else {
		key, err = ecdsa.GenerateKey(curve, rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePrivate(pemOf(t, "PRIVATE KEY", key))
	if err != nil {
		t.Fatal(err)
	}
	if public, err := ParsePublic(pemOf(t, "PUBLIC KEY", key.Public())); err != nil || public.ID() != p.Public().ID() {
		t.Fatalf("the public key is %v, %v", public, err)
	}
	return p
}

func sign(t testing.TB, s *Statement, keys ...Private) []byte {
	t.Helper()
	data, err := Sign(s, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// verify reads and checks.
func verify(data []byte, threshold int, keys ...Public) (*Statement, []Public, error) {
	e, err := Read(data)
	if err != nil {
		return nil, nil, err
	}
	return e.Verify(threshold, keys...)
}

func TestSigned(t *testing.T) {
	a, b := newKey(t, nil), newKey(t, elliptic.P256())
	for _, keys := range [][]Private{{a}, {b}, {a, b}} {
		data := sign(t, sample(), keys...)
		said, by, err := verify(data, len(keys), a.Public(), b.Public())
		if err != nil || !reflect.DeepEqual(said, sample()) || len(by) != len(keys) {
			t.Errorf("%d keys: %+v, %v, %v", len(keys), said, by, err)
		}
	}
	e, err := Read(sign(t, sample(), a))
	if err != nil {
		t.Fatal(err)
	}
	data, same, err := e.Cosign(sample(), a, b)
	if err != nil || !same {
		t.Fatal(same, err)
	}
	if _, by, err := verify(data, 2, a.Public(), b.Public()); err != nil || len(by) != 2 {
		t.Errorf("signed by a second: %v, %v", by, err)
	}
	other := sample()
	other.Build.Project = ""
	if _, same, err := e.Cosign(other, b); same || err != nil {
		t.Errorf("another statement was signed with the first: %v", err)
	}
}

// TestTruncated: no beginning of an attestation is one.
func TestTruncated(t *testing.T) {
	a := newKey(t, nil)
	data := bytes.TrimSuffix(sign(t, sample(), a), []byte("\n"))
	for n := range data {
		if _, _, err := verify(data[:n], 1, a.Public()); !errors.Is(err, ErrForm) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	payload, _ := base64.StdEncoding.DecodeString(field(t, data).Payload)
	for n := range payload {
		e := field(t, data)
		e.Payload = base64.StdEncoding.EncodeToString(payload[:n])
		if _, _, err := verify(marshal(t, e), 1, a.Public()); err == nil {
			t.Fatalf("%d of %d bytes of the statement", n, len(payload))
		}
	}
}

// TestChanged: whatever byte is changed, there is no attestation, or it says the same and is signed by the same key.
func TestChanged(t *testing.T) {
	for _, key := range []Private{newKey(t, nil), newKey(t, elliptic.P256())} {
		data := sign(t, sample(), key)
		n := 0
		for i := range data {
			for _, to := range []byte{data[i] ^ 1, data[i] ^ 0x20, '"', 0} {
				changed := bytes.Clone(data)
				changed[i] = to
				said, by, err := verify(changed, 1, key.Public())
				if err != nil {
					n++
				} else if !reflect.DeepEqual(said, sample()) || len(by) != 1 || by[0].ID() != key.Public().ID() {
					t.Fatalf("byte %d, %q for %q: %+v", i, to, data[i], said)
				}
			}
		}
		if n < 3*len(data) {
			t.Errorf("%d changes of %d were refused", n, 4*len(data))
		}
	}
}

func field(t testing.TB, data []byte) dsse.Envelope {
	t.Helper()
	var e dsse.Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestForged has the forgeries that an attacker makes of envelopes that others have signed.
func TestForged(t *testing.T) {
	a, b, mine := newKey(t, nil), newKey(t, elliptic.P256()), newKey(t, nil)
	good, ofMine := field(t, sign(t, sample(), a, b)), field(t, sign(t, sample(), mine))
	other := sample()
	other.Build.Serial = 8
	newer := field(t, sign(t, other, mine))
	text := string(sign(t, sample(), a, b))
	payload, _ := base64.StdEncoding.DecodeString(good.Payload)
	with := func(change func(*dsse.Envelope)) []byte {
		e := good
		e.Signatures = append([]dsse.Signature(nil), good.Signatures...)
		change(&e)
		return marshal(t, e)
	}
	statement := func(old, new string) []byte {
		return with(func(e *dsse.Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(payload), old, new, 1)))
		})
	}
	for name, c := range map[string]struct {
		data      []byte
		threshold int
		want      string
	}{
		"another key":                  {marshal(t, ofMine), 1, "no key that may sign has signed it"},
		"another key by a good name":   {with(func(e *dsse.Envelope) { e.Signatures[0].Sig = ofMine.Signatures[0].Sig }), 2, "1 of the keys"},
		"a good signature, no name":    {with(func(e *dsse.Envelope) { e.Signatures = ofMine.Signatures; e.Signatures[0].KeyID = "" }), 1, "no key that may sign"},
		"names exchanged":              {with(func(e *dsse.Envelope) { s := e.Signatures; s[0].KeyID, s[1].KeyID = s[1].KeyID, s[0].KeyID }), 1, "is not one of this statement"},
		"signatures of another":        {with(func(e *dsse.Envelope) { e.Payload = newer.Payload }), 1, "is not one of this statement"},
		"one signature twice":          {with(func(e *dsse.Envelope) { e.Signatures[1] = e.Signatures[0] }), 2, "1 of the keys"},
		"one signature twice, no name": {with(func(e *dsse.Envelope) { e.Signatures[1] = e.Signatures[0]; e.Signatures[1].KeyID = "" }), 2, "1 of the keys"},
		"no signature":                 {with(func(e *dsse.Envelope) { e.Signatures = nil }), 1, "it has no signature"},
		"empty signatures":             {with(func(e *dsse.Envelope) { e.Signatures[0].Sig, e.Signatures[1].Sig = "", "" }), 1, "is not one of this statement"},
		"65 signatures": {with(func(e *dsse.Envelope) {
			for len(e.Signatures) < 65 {
				e.Signatures = append(e.Signatures, e.Signatures[0])
			}
		}), 1, "more than 64 signatures"},
		"other payload type":  {with(func(e *dsse.Envelope) { e.PayloadType = "application/json" }), 1, "found the payload type"},
		"no payload type":     {with(func(e *dsse.Envelope) { e.PayloadType = "" }), 1, "found the payload type"},
		"URL base64":          {with(func(e *dsse.Envelope) { e.Payload = base64.URLEncoding.EncodeToString(append(payload, "???>>>"...)) }), 1, "not standard base64"},
		"base64 in two lines": {with(func(e *dsse.Envelope) { e.Payload = e.Payload[:8] + "\n" + e.Payload[8:] }), 1, "not standard base64"},
		"loose base64 bits": {with(func(e *dsse.Envelope) {
			e.Signatures[0].Sig = strings.Replace(e.Signatures[0].Sig, "g==", "h==", 1)
			e.Signatures[0].Sig += "="
		}), 1, "not standard base64"},
		"a member twice":        {[]byte(strings.Replace(text, `{"payloadType"`, `{"payload":"e30=","payloadType"`, 1)), 1, "twice"},
		"a member in capitals":  {[]byte(strings.Replace(text, `{"payloadType"`, `{"Payload":"e30=","payloadType"`, 1)), 1, "Payload"},
		"a member more":         {[]byte(strings.Replace(text, `{"payloadType"`, `{"alg":"none","payloadType"`, 1)), 1, "alg"},
		"a document more":       {[]byte(text + text), 1, "more than one"},
		"a subject twice":       {statement(`"name":"fmt/landlock.json"`, `"name":"manifest.json"`), 1, "twice"},
		"a digest twice":        {statement(`"digest":{`, `"digest":{"sha256":"`+strings.Repeat("0", 64)+`",`), 1, "twice"},
		"a digest of no use":    {statement(`"digest":{"sha256"`, `"digest":{"md5"`), 1, "exactly one SHA-256"},
		"a predicate twice":     {statement(`"serial":7`, `"serial":7,"serial":9`), 1, "twice"},
		"another predicate":     {statement(BuildType, "https://slsa.dev/provenance/v1"), 1, "found the predicate"},
		"another statement":     {statement(statementType, "https://in-toto.io/Statement/v0.1"), 1, "found the type"},
		"no serial":             {statement(`"serial":7`, `"serial":0`), 1, "found the serial 0"},
		"a serial that is text": {statement(`"serial":7`, `"serial":"7"`), 1, "predicate"},
		"a path that leaves":    {statement(`fmt/landlock.json`, `../fmt/landlock.json`), 1, "no name of a file"},
		"a path to the root":    {statement(`fmt/landlock.json`, `/fmt/landlock.json`), 1, "no name of a file"},
		"a form of no build":    {statement(`"form":"portable"`, `"form":"any"`), 1, "found the form"},
		"no subject": {with(func(e *dsse.Envelope) {
			e.Payload = base64.StdEncoding.EncodeToString([]byte(`{"_type":"` + statementType + `","subject":[]}`))
		}), 1, "about no file"},
		"too large": {append([]byte(text), bytes.Repeat([]byte(" "), MaxEnvelope)...), 1, "larger than"},
		"too deep":  {[]byte(strings.Repeat("[", 1000)), 1, "more than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			said, by, err := verify(c.data, c.threshold, a.Public(), b.Public())
			if err == nil || said != nil || by != nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrForm) && !errors.Is(err, ErrSigned) {
				t.Errorf("got %v, %v, expected %q", by, err, c.want)
			}
		})
	}
}

// TestThreshold: as many different keys as required, of those that may sign.
func TestThreshold(t *testing.T) {
	a, b, c := newKey(t, nil), newKey(t, elliptic.P256()), newKey(t, nil)
	data := sign(t, sample(), a, b)
	for _, x := range []struct {
		threshold int
		keys      []Public
		ok        bool
	}{
		{1, []Public{a.Public()}, true}, {2, []Public{a.Public(), b.Public()}, true}, {2, []Public{a.Public(), b.Public(), c.Public()}, true},
		{2, []Public{a.Public(), c.Public()}, false}, {3, []Public{a.Public(), b.Public(), c.Public()}, false}, {1, []Public{c.Public()}, false},
		{0, []Public{a.Public()}, false}, {-1, []Public{a.Public()}, false}, {2, []Public{a.Public()}, false}, {1, nil, false},
		{2, []Public{a.Public(), a.Public()}, false},
	} {
		if _, _, err := verify(data, x.threshold, x.keys...); (err == nil) != x.ok || err != nil && !errors.Is(err, ErrSigned) {
			t.Errorf("%d of %d: %v", x.threshold, len(x.keys), err)
		}
	}
}

// TestAlgorithm: a key checks signatures of its own algorithm alone. The public key of one as text is no
// secret that another could take for a key.
func TestAlgorithm(t *testing.T) {
	a, b := newKey(t, nil), newKey(t, elliptic.P256())
	for _, x := range [][2]Private{{a, b}, {b, a}} {
		e := field(t, sign(t, sample(), x[0]))
		e.Signatures[0].KeyID = x[1].Public().ID()
		if _, _, err := verify(marshal(t, e), 1, x[1].Public()); !errors.Is(err, ErrSigned) {
			t.Errorf("got %v", err)
		}
	}
}

func TestKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := pemOf(t, "PRIVATE KEY", ed)
	public := pemOf(t, "PUBLIC KEY", ed.Public())
	block := func(kind string) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte("x")}) }
	for _, c := range []struct {
		data []byte
		want string
	}{
		{pemOf(t, "PRIVATE KEY", rsaKey), "rsa"}, {pemOf(t, "PRIVATE KEY", p384), "P-384"}, {public, "found a public key"},
		{block("ENCRYPTED PRIVATE KEY"), "encrypted"}, {block("EC PRIVATE KEY"), "PKCS #8"}, {block("CERTIFICATE"), "CERTIFICATE"},
		{block("PRIVATE KEY"), "not a PKCS #8 key"}, {append(bytes.Clone(good), good...), "more than one"}, {nil, "not a PEM file"},
		{good[:len(good)/2], "not a PEM file"}, {append(bytes.Clone(good), make([]byte, MaxKey)...), "larger"},
	} {
		if _, err := ParsePrivate(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("private: got %v, expected %q", err, c.want)
		}
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{pemOf(t, "PUBLIC KEY", rsaKey.Public()), "rsa"}, {pemOf(t, "PUBLIC KEY", p384.Public()), "P-384"}, {good, "found a private key"},
		{block("CERTIFICATE"), "CERTIFICATE"}, {block("PUBLIC KEY"), "not a PKIX key"}, {append(bytes.Clone(public), public...), "more than one"}, {nil, "not a PEM file"},
	} {
		if _, err := ParsePublic(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("public: got %v, expected %q", err, c.want)
		}
	}
}

// FuzzRead: no text makes the reader fail otherwise than by an error, and a statement that it
// reads is signed by the key and no other.
func FuzzRead(f *testing.F) {
	a := newKey(f, nil)
	data := sign(f, sample(), a)
	f.Add(data)
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"","sig":""}]}`))
	public := a.Public()
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Read(data)
		if err != nil {
			if !errors.Is(err, ErrForm) {
				t.Fatal(err)
			}
			return
		}
		if said, _, err := e.Verify(1, public); err == nil && !reflect.DeepEqual(said, sample()) {
			t.Fatalf("signed: %+v", said)
		}
	})
}

func summary() *Statement {
	return &Statement{
		Subjects: []Subject{{"fmt/policy", hashOf("a")}},
		Summary: &Summary{
			Accessc: "1.0", Time: time.Unix(1_700_000_000, 0).UTC(), Project: "shop", Host: Host{System: "linux", Architecture: "amd64", Kernel: "6.12", ABI: 6},
			Cases: []Case{{Tool: "fmt", Expect: "deny", Question: "read .env", Policy: "deny", Kernel: "deny", Errno: "EACCES", Holds: true}},
		},
	}
}

// TestSummary: a summary is read as it was signed, its result is that of its cases, and it is no statement about a build.
func TestSummary(t *testing.T) {
	a := newKey(t, nil)
	data := sign(t, summary(), a)
	e, err := ReadSummary(data)
	if err != nil {
		t.Fatal(err)
	}
	if said, _, err := e.Verify(1, a.Public()); err != nil || !reflect.DeepEqual(said, summary()) {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := Read(data); !errors.Is(err, ErrForm) {
		t.Errorf("it was read as a statement about a build: %v", err)
	}
	if _, err := ReadSummary(sign(t, sample(), a)); !errors.Is(err, ErrForm) {
		t.Errorf("a build was read as a summary: %v", err)
	}
	failed := summary()
	failed.Summary.Cases[0].Holds = false
	unasked := summary()
	unasked.Summary.Cases[0].Kernel = ""
	for _, s := range []*Statement{failed, unasked} {
		if s.Summary.Passed() {
			t.Errorf("passed: %+v", s.Summary.Cases)
		}
		// A signer's other program may write a result that the cases do not give.
		e := field(t, sign(t, s, a))
		payload, _ := base64.StdEncoding.DecodeString(e.Payload)
		for old, new := range map[string]string{`"FAILED","verifiedLevels":["FAILED"]`: `"PASSED","verifiedLevels":["` + summaryLevel + `"]`, `["FAILED"]`: `[]`} {
			text := strings.Replace(string(payload), old, new, 1)
			if text == string(payload) {
				t.Fatalf("found no %s in %s", old, payload)
			}
			e.Payload = base64.StdEncoding.EncodeToString([]byte(text))
			if _, err := ReadSummary(marshal(t, e)); !errors.Is(err, ErrForm) {
				t.Errorf("%s was read: %v", text, err)
			}
		}
	}
	for old, new := range map[string]string{
		`"accessc:shop"`: `"pkg:shop"`, summaryVerifier + `"`: `https://other.example"`, "2023-11-14T22:13:20Z": "yesterday",
		`/kernel-tests/v1`: `/kernel-tests/v2`, `"accessc_cases"`: `"cases"`,
	} {
		e := field(t, data)
		payload, _ := base64.StdEncoding.DecodeString(e.Payload)
		text := strings.Replace(string(payload), old, new, 1)
		if text == string(payload) {
			t.Fatalf("found no %s in %s", old, payload)
		}
		e.Payload = base64.StdEncoding.EncodeToString([]byte(text))
		if _, err := ReadSummary(marshal(t, e)); !errors.Is(err, ErrForm) {
			t.Errorf("%s was read: %v", text, err)
		}
	}
}
