package egress

import (
	"context"
	"sync"
	"time"
)

// The bounds of the answers that are kept: a client without a proxy would keep them as well, and
// each connection by name would wait for the host's resolver once more.
const (
	keptFor   = 30 * time.Second
	keptNames = 4096
)

// A cache keeps the answers of a resolver for a short time. Addresses are judged at every
// connection, so an answer that is kept grants nothing.
type cache struct {
	resolve func(context.Context, string) (Found, error)
	mu      sync.Mutex
	names   map[string]kept
}

type kept struct {
	found Found
	until time.Time
}

func newCache(resolve func(context.Context, string) (Found, error)) *cache {
	return &cache{resolve: resolve, names: map[string]kept{}}
}

// lookup returns the result for a name. Errors are not kept.
func (c *cache) lookup(ctx context.Context, name string) (Found, error) {
	now := time.Now()
	c.mu.Lock()
	k, known := c.names[name]
	c.mu.Unlock()
	if known && now.Before(k.until) {
		return k.found, nil
	}
	found, err := c.resolve(ctx, name)
	if err != nil {
		return Found{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) >= keptNames {
		clear(c.names)
	}
	c.names[name] = kept{found, now.Add(keptFor)}
	return found, nil
}
