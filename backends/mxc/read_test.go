package mxc

import (
	"errors"
	"fmt"

	"github.com/accessc/accessc/internal/text/strictjson"
)

var errConfig = errors.New("not a usable MXC configuration")

// parse reads a configuration that this package wrote.
func parse(data []byte) (*Config, error) {
	var c Config
	if err := strictjson.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", errConfig, err)
	}
	if c.Version != Version || c.Comment.Format != format || c.Comment.Version != formatVersion {
		return nil, fmt.Errorf("%w: contract %q, %q %d", errConfig, c.Version, c.Comment.Format, c.Comment.Version)
	}
	return &c, nil
}
