// Package seat is the place between a client and the program that it talks to, which is started confined (an MCP
// server) or as it is (an agent): it starts the program, has the lines judged by the policy of a tool or of a
// session's directory, and writes the audit log, which that policy must not permit to change.
package seat
