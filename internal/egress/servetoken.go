package egress

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log"

	"github.com/accessc/accessc/internal/egress/wire"
	"github.com/accessc/accessc/ir"
)

// RunByToken is the proxy process of a run on macOS, where no supervisor announces connections.
func RunByToken(control io.ReadWriter, setup io.Reader) error {
	log.SetOutput(io.Discard) // net/http prints bytes of hosts, which may show a credential
	var s wire.Setup
	err := json.NewDecoder(setup).Decode(&s)
	if err == nil {
		var config Config
		if config, err = NewConfig(&s, ir.Darwin); err == nil {
			err = ServeByToken(control, config)
		}
	}
	if err != nil {
		_ = json.NewEncoder(control).Encode(wire.Greeting{Error: err.Error()})
	}
	return err
}

// ServeByToken runs a proxy until the other end of the control socket closes. Every process of the
// machine can connect to its port, so a connection shows a random token first.
// See decision D117.
func ServeByToken(control io.ReadWriter, config Config) error {
	config.Token = rand.Text()
	p, err := Start(config)
	if err != nil {
		return err
	}
	defer p.Close()
	at, _ := p.Listener(false)
	if err := json.NewEncoder(control).Encode(wire.Greeting{Port: at.Port(), Token: config.Token}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, control)
	return err
}
