package attest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/accessc/accessc/internal/text/strictjson"
)

// Seal makes an envelope of a payload of a type that is no statement, with the signature of a key.
func Seal(kind string, payload []byte, key Private) ([]byte, error) {
	by, err := dsse.NewEnvelopeSigner(signer{key})
	if err != nil {
		return nil, err
	}
	e, err := by.SignPayload(context.Background(), kind, payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// Unseal returns the payload of an envelope that Seal has made, and the key among some that has signed it.
func Unseal(kind string, data []byte, keys ...Public) ([]byte, Public, error) {
	var e envelope
	if err := strictjson.Unmarshal(data, &e); err != nil {
		return nil, Public{}, fmt.Errorf("%w: %w", ErrForm, err)
	}
	payload, err := decode(e.Payload)
	if err != nil || e.PayloadType != kind || len(e.Signatures) != 1 {
		return nil, Public{}, fmt.Errorf("%w: expected a payload of type %s with one signature", ErrForm, kind)
	}
	sig, err := base64.StdEncoding.Strict().DecodeString(e.Signatures[0].Sig)
	if err != nil {
		return nil, Public{}, fmt.Errorf("%w: a signature: %w", ErrForm, err)
	}
	signed := dsse.PAE(kind, payload)
	for _, k := range keys {
		if k.id == e.Signatures[0].KeyID && (verifier{k}).Verify(context.Background(), signed, sig) == nil {
			return payload, k, nil
		}
	}
	return nil, Public{}, fmt.Errorf("%w: no key that may sign has signed it", ErrSigned)
}
