package mxc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ErrConfig is wrapped by every refusal of a configuration.
var ErrConfig = errors.New("not a usable MXC configuration")

// Parse reads a configuration that this package wrote.
func Parse(data []byte) (*Config, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var c Config
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: data after the document", ErrConfig)
	}
	if c.Version != Version || c.Comment.Format != Format || c.Comment.Version != FormatVersion {
		return nil, fmt.Errorf("%w: contract %q, %q %d", ErrConfig, c.Version, c.Comment.Format, c.Comment.Version)
	}
	return &c, nil
}
