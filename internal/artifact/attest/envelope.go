package attest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// payloadType is the payload type of in-toto statements
// (https://github.com/in-toto/attestation/blob/main/spec/v1/envelope.md).
const payloadType = "application/vnd.in-toto+json"

// Bounds of an envelope. The envelope of a build with 1,000 tools has less than 1 MB.
const (
	MaxEnvelope   = 16 << 20 // bytes
	maxSignatures = 64
)

// ErrForm is wrapped by every refusal of a text that is no attestation.
var ErrForm = errors.New("not a usable attestation")

// ErrSigned is wrapped by every refusal of an attestation for its signatures.
var ErrSigned = errors.New("not signed as required")

// Sign makes an envelope of a statement with a signature of each key.
// See decision D278.
func Sign(s *Statement, keys ...Private) ([]byte, error) {
	payload, err := s.marshal()
	if err != nil {
		return nil, err
	}
	var signers []dsse.Signer
	for _, k := range keys {
		signers = append(signers, signer{k})
	}
	by, err := dsse.NewEnvelopeSigner(signers...)
	if err != nil {
		return nil, err
	}
	e, err := by.SignPayload(context.Background(), payloadType, payload)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(e)
	return append(data, '\n'), err
}

// envelope is dsse.Envelope, for a reader that is as strict as its tags.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// Envelope is an attestation whose signatures are not checked yet.
type Envelope struct {
	read envelope
	said Statement
}

// Read reads an envelope, and the statement about a build in it.
func Read(data []byte) (*Envelope, error) { return read(data, BuildType) }

// ReadSummary reads an envelope, and the statement about tests in it.
func ReadSummary(data []byte) (*Envelope, error) { return read(data, SummaryType) }

// ReadProvenance reads an envelope, and the statement about a release of accessc in it.
func ReadProvenance(data []byte) (*Envelope, error) { return read(data, ProvenanceType) }

func read(data []byte, predicate string) (*Envelope, error) {
	if len(data) > MaxEnvelope {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrForm, MaxEnvelope)
	}
	var e Envelope
	if err := strictjson.Unmarshal(data, &e.read); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	switch n := len(e.read.Signatures); {
	case e.read.PayloadType != payloadType:
		return nil, fmt.Errorf("%w: found the payload type %.80q, expected %s", ErrForm,
			e.read.PayloadType, payloadType)
	case n == 0:
		return nil, fmt.Errorf("%w: it has no signature", ErrForm)
	case n > maxSignatures:
		return nil, fmt.Errorf("%w: it has more than %d signatures", ErrForm, maxSignatures)
	}
	for _, s := range e.read.Signatures {
		if _, err := decode(s.Sig); err != nil {
			return nil, fmt.Errorf("%w: a signature: %w", ErrForm, err)
		}
	}
	payload, err := decode(e.read.Payload)
	if err == nil {
		err = e.said.unmarshal(payload, predicate)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the statement: %w", ErrForm, err)
	}
	return &e, nil
}

// decode reads base64 in the only form that writers use: package dsse takes others, too.
func decode(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(data) != text {
		return nil, errors.New("not standard base64")
	}
	return data, nil
}

// Verify returns the statement if at least threshold of the keys have signed it, and the keys that have.
// Keys must differ. A signature that names its key is that key's or none.
func (e *Envelope) Verify(threshold int, keys ...Public) (*Statement, []Public, error) {
	if threshold < 1 || threshold > len(keys) {
		return nil, nil, fmt.Errorf("%w: %d signatures are required, and %d keys may sign", ErrSigned,
			threshold, len(keys))
	}
	by := map[string]Public{}
	var verifiers []dsse.Verifier
	for _, k := range keys {
		if _, twice := by[k.id]; twice {
			return nil, nil, fmt.Errorf("%w: a key is given twice: %s", ErrSigned, k.id)
		}
		by[k.id] = k
		verifiers = append(verifiers, verifier{k})
	}
	check, err := dsse.NewMultiEnvelopeVerifier(threshold, verifiers...)
	if err != nil {
		return nil, nil, err
	}
	whole := dsse.Envelope{PayloadType: e.read.PayloadType, Payload: e.read.Payload}
	for _, s := range e.read.Signatures {
		whole.Signatures = append(whole.Signatures, dsse.Signature(s))
	}
	accepted, err := check.Verify(context.Background(), &whole)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrSigned, e.unsigned(len(accepted), threshold, by))
	}
	var out []Public
	for _, a := range accepted {
		out = append(out, by[a.KeyID])
	}
	return &e.said, out, nil
}

// unsigned names the fault of the signatures.
func (e *Envelope) unsigned(found, threshold int, keys map[string]Public) string {
	if found > 0 {
		return fmt.Sprintf("%d of the keys that may sign have signed it, %d are required", found, threshold)
	}
	var others []string
	for _, s := range e.read.Signatures {
		if _, known := keys[s.KeyID]; known {
			return "the signature of " + s.KeyID +
				" is not one of this statement: the statement, the signature or the name of the key has been changed"
		}
		others = append(others, fmt.Sprintf("%.80q", s.KeyID))
	}
	return "no key that may sign has signed it; it names " + strings.Join(others[:min(len(others), 4)], ", ")
}

// Signers are the names of keys that the envelope gives itself, not checked.
func (e *Envelope) Signers() []string {
	var out []string
	for _, s := range e.read.Signatures {
		out = append(out, s.KeyID)
	}
	return out
}

// Serial is the serial of the statement, not checked.
func (e *Envelope) Serial() int { return e.said.Build.Serial }

// About reports whether the statement, not checked, is about the same files and policies as another.
func (e *Envelope) About(s *Statement) bool {
	a, b := e.said.Build, s.Build
	return slices.Equal(e.said.Subjects, s.Subjects) && a.Form == b.Form && a.Policy == b.Policy &&
		slices.Equal(a.Tools, b.Tools)
}

// Cosign adds a signature of each key that has none yet. Without same the envelope has another statement, or the
// statement in other bytes, and stays as it is.
func (e *Envelope) Cosign(s *Statement, keys ...Private) (data []byte, same bool, err error) {
	payload, err := s.marshal()
	if err != nil || base64.StdEncoding.EncodeToString(payload) != e.read.Payload {
		return nil, false, nil
	}
	out := e.read
	for _, k := range keys {
		if _, _, err := e.Verify(1, k.public); err == nil {
			continue
		}
		sig, err := signer{k}.Sign(context.Background(), dsse.PAE(payloadType, payload))
		if err != nil {
			return nil, true, err
		}
		out.Signatures = append(slices.Clone(out.Signatures),
			signature{k.public.id, base64.StdEncoding.EncodeToString(sig)})
	}
	data, err = json.Marshal(out)
	return append(data, '\n'), true, err
}
