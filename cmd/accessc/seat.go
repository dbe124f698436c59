package main

import (
	"errors"

	"github.com/accessc/accessc/internal/gate/relay"
	"github.com/accessc/accessc/internal/gate/seat"
)

// sessionID is the value of --session. An empty one, such as that of a variable which is not set, is
// an error: it would count nothing.
type sessionID string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *sessionID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("found an empty ID, which would count nothing; leave the flag out if that is meant")
	}
	*s = sessionID(text)
	return nil
}

// sit carries lines between a client and the program of a seat, and ends as the program did.
func sit(s *seat.Seat, fromClient, fromServer relay.Decide) error {
	status, err := s.Run(fromClient, fromServer)
	switch {
	case err != nil:
		return notStarted(err)
	case status != 0:
		return exit(status)
	}
	return nil
}
