//go:build accessc_points

package egress

import "os"

// Steered has a supervisor steer a proxy.
func (p *Proxy) Steered(control *os.File) error {
	s := newService(control)
	s.proxy = p
	return s.steered(control)
}
