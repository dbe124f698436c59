package credential

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// A Secret is a value and the text that a tool has in its place. It formats as neither.
type Secret struct {
	Value, StandIn []byte
}

// Format implements fmt.Formatter.
func (Secret) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("(secret)")) }

// Wipe clears the value.
func (s Secret) Wipe() { clear(s.Value) }

// NewSecret makes a stand-in of the shape of a value: of its length and its classes of
// characters, with the prefix by which services mark kinds of tokens, and a token of JSON where
// the value is a token. Clients check such shapes. See decision D116.
func NewSecret(value []byte) (Secret, error) {
	out := Secret{Value: value, StandIn: bytes.Clone(value)}
	secret := out.StandIn[mark(value):]
	if head, payload, signature := jwt(value); head > 0 {
		claims, err := claims(value[head+1 : payload])
		if err != nil {
			return Secret{}, err
		}
		copy(out.StandIn[head+1:payload], claims)
		secret = out.StandIn[signature:]
	}
	if err := scramble(secret); err != nil {
		return Secret{}, err
	}
	if bytes.Equal(out.StandIn, value) {
		return Secret{}, errors.New("found no letter or digit in the value")
	}
	return out, nil
}

// minRandom is the number of bytes behind a prefix that stays as it is, and maxMark the length of
// the prefix.
const (
	minRandom = 16
	maxMark   = 12
)

// mark returns the length of the prefix that names the kind of a token, such as
// github_pat_: small letters up to a separator.
func mark(value []byte) (n int) {
	for i, c := range value[:min(len(value), maxMark)] {
		if c == '_' || c == '-' {
			n = i + 1
		} else if c < 'a' || c > 'z' {
			break
		}
	}
	if len(value)-n < minRandom {
		return 0
	}
	return n
}

// classes are the characters of which each is replaced by another of its kind.
var classes = []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"}

// scramble replaces letters and digits by random letters and digits. The rest stays, so that
// encodings of the result are as long as encodings of the value.
func scramble(b []byte) error {
	random := make([]byte, len(b))
	if _, err := rand.Read(random); err != nil {
		return err
	}
	n := 0
	for i, c := range b {
		for _, class := range classes {
			if bytes.IndexByte([]byte(class), c) >= 0 {
				b[i] = class[int(random[i])%len(class)]
				n++
			}
		}
	}
	if n < minValue {
		return fmt.Errorf("found fewer than %d letters and digits in the value", minValue)
	}
	return nil
}

// jwt returns where the parts of a JSON Web Token end and begin (RFC 7519, 3), zero if the value
// is none.
func jwt(value []byte) (head, payload, signature int) {
	parts := bytes.Split(value, []byte("."))
	if len(parts) != 3 || len(parts[2]) < minRandom {
		return 0, 0, 0
	}
	for _, p := range parts[:2] {
		text, err := base64.RawURLEncoding.DecodeString(string(p))
		var object map[string]json.RawMessage
		if err != nil || json.Unmarshal(text, &object) != nil {
			return 0, 0, 0
		}
		clear(text)
	}
	head = len(parts[0])
	payload = head + 1 + len(parts[1])
	return head, payload, payload + 1
}

// claims replaces the payload of a token by a payload of the same length that has the times of
// the original, which clients check, and none of its other claims.
func claims(payload []byte) ([]byte, error) {
	text, err := base64.RawURLEncoding.DecodeString(string(payload))
	if err != nil {
		return nil, err
	}
	defer clear(text)
	var old map[string]json.RawMessage
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	out := []byte("{")
	for _, name := range []string{"exp", "iat", "nbf"} {
		at, err := strconv.ParseInt(string(old[name]), 10, 64)
		entry := fmt.Sprintf(`%q:%d,`, name, at)
		if err == nil && len(out)+len(entry)+len(`"_":""}`) <= len(text) {
			out = append(out, entry...)
		}
	}
	if fill := len(text) - len(out) - len(`"_":""}`); fill >= 0 {
		filler := bytes.Repeat([]byte("a"), fill)
		if fill >= minValue {
			if err := scramble(filler); err != nil {
				return nil, err
			}
		}
		out = fmt.Appendf(out, `"_":"%s"}`, filler)
	} else {
		out = append(bytes.Repeat([]byte(" "), len(text)-len("{}")), "{}"...)
	}
	return []byte(base64.RawURLEncoding.EncodeToString(out)), nil
}
