// Package mcp judges the messages between a client and a server of the Model Context Protocol:
// which tools are listed, and which may be called, how often and on which paths. Everything else
// passes as it is.
//
// The server is confined besides (package start). The package decides about calls before the
// server has them; of the acts of the server it sees nothing.
package mcp
