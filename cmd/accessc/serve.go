package main

// serveCmd is "accessc serve".
type serveCmd struct {
	Socket string   `placeholder:"PATH" xor:"serve" required:"" help:"Serve clients on a unix socket that is made there, in a directory of yours alone. One line of JSON on standard output has the token that clients need."`
	Stdio  bool     `xor:"serve" required:"" help:"Serve the one client at standard input and output, and end with it."`
	Accept []string `placeholder:"GAP" help:"Start tools although this host has this gap, such as net.host. Repeatable."`
}

// Help implements kong's detailed help.
func (serveCmd) Help() string {
	return `Starts tools, answers questions and tells of refusals for programs in any language: JSON-RPC in lines, which
docs/hosts.md describes. Configuration is read again when it has changed. A tool ends with the client that has
started it.

  accessc serve --stdio             for the program that starts it; a pair of sockets in place of pipes carries descriptors
  accessc serve --socket PATH       for several programs; the first line of the output has the token

` + acceptHelp()
}
