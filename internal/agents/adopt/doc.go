// Package adopt rewrites the files in which clients name MCP servers, so that each server is
// started through accessc, and back. It knows the tables of servers by their places: mcpServers
// (Claude, Cursor, Gemini and others), also by project (Claude Code's own file), servers, alone or in
// the settings under mcp (VS Code), and mcp_servers in TOML (Codex). A file may have several. Comments,
// formatting and every value that is not about starting a server stay as they are, and an entry that would move
// accessc's own configuration stays whole.
package adopt
