package main

import (
	"github.com/accessc/accessc/internal/enforce/direct"
	"github.com/accessc/accessc/internal/review/serving"
)

// Run implements the command.
func (c *serveCmd) Run(g *globals) error {
	if err := direct.CheckAccept(c.Accept); err != nil {
		return err
	}
	h, err := serving.Open(g.config(), c.Accept, programVersion(), g.style(g.stdout), g.stderr)
	if err != nil {
		return g.refused(err)
	}
	defer h.Close()
	if c.Stdio {
		h.Stdio()
		return nil
	}
	return h.Listen(c.Socket, g.stdout)
}
