// Package gate is the room of protocols at which a policy is asked before a tool acts: servers of the Model Context
// Protocol (mcp), agents of the Agent Client Protocol (acp), programs that have tools started (serve), and the budget
// of a session (invocations). All of them are judged by package judge; lines pass through package relay, and package
// seat starts the program at whose lines it judges.
//
// Commands and hooks of agents (internal/agents) call it. A gate is no boundary: the kernel decides when the program
// acts. A message that cannot be read or judged is refused.
package gate
