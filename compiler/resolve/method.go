package resolve

import (
	"errors"
	"fmt"
	"strings"
)

// Method checks a method of a rule. Methods are told apart by case (RFC 9110, 9.1).
func Method(s string) error {
	switch {
	case s == "" || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "":
		return fmt.Errorf("found %q, expected a method such as GET", s)
	case s == "TRACE" || s == "TRACK":
		return fmt.Errorf("found %s: its answer holds the whole request, credentials included, so none passes", s)
	case s == "CONNECT":
		return errors.New("found CONNECT, which asks a proxy for a connection and is no request to a host")
	}
	return nil
}
