// Package adopt rewrites the files in which clients name MCP servers, so that each server is
// started through accessc, and back. It knows the two forms that there are, by the table that
// holds the servers: mcpServers (Claude, Cursor, Gemini and others), and servers, alone or in the
// settings under mcp (VS Code). Comments, formatting and every value that is not about starting a
// server stay as they are.
package adopt
