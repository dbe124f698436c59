// Package serve speaks the protocol by which programs in any language have tools started and
// questions answered: JSON-RPC 2.0, one message in a line, over a unix socket or standard input and output. docs/hosts.md
// has the protocol, and its examples are tests.
//
// The package knows the protocol alone: what it reads, how much of it, in which order it answers, and to
// whom. A Host answers questions and starts tools. What a client sends is read by one strict parser; a
// client that sends too much, or takes no answers, stops itself and no other.
//
// Who may connect is decided here as well. A tool is a process of the same user, and its supervisor
// connects sockets in its place, so neither a user nor a process number tells a client from a tool.
// A client on a socket has to know a secret that the server tells the program that has started it.
// See decision D238.
package serve
