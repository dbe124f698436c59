// Package ruleset decides whether an agent's operation is allowed, denied, or for a person to
// decide. A Set is an ordered list of rules; the first that matches wins.
//
// Operations that execute a command line are taken apart by package shell. The verdicts of the
// parts are joined: a line is denied if a visible part is denied, and allowed only if every part
// is allowed. Everything that is not understood is unknown.
//
// Rules that deny are advice: a line has many ways to say the same, and only some are recognised.
// Rules that allow are exact: they cover the words that they spell out.
package ruleset
