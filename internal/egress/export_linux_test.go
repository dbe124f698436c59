package egress

import (
	"os"
	"time"

	"github.com/accessc/accessc/ir"
)

// SteeredUncut has a supervisor steer a proxy where a connection rests on grants that does not end.
func (p *Proxy) SteeredUncut(control *os.File) error {
	stuck := &use{judge: func(Policy) ir.Verdict { return ir.Verdict{} }, cut: func() {}, ended: make(chan struct{})}
	p.judge.lent.uses[stuck], p.judge.lent.patience = struct{}{}, time.Millisecond
	s := newService(control)
	s.proxy = p
	return s.steered(control)
}
