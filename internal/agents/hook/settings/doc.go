// Package settings puts the hook of accessc into the settings of agents, takes it out again, and
// finds out whether an agent obeys it.
//
// The forms of settings, and where they were read:
//
//   - Claude Code: the schema in the program of @anthropic-ai/claude-code-linux-x64 2.1.330; its
//     CHANGELOG has args, the form without a shell, in 2.1.139, and onFailure in 2.1.295.
//   - Codex: developers.openai.com/codex/hooks, and the strings of @openai/codex 0.169.0: the root
//     takes description and hooks alone, and a hook runs once the user has trusted it.
//   - Copilot CLI: docs.github.com/en/copilot/reference/hooks-reference of November 2026. A matcher
//     is anchored, so "*" is none; without one a hook is asked about every tool.
//   - Cursor: cursor.com/docs/hooks and /docs/reference/third-party-hooks of November 2026.
//   - Gemini CLI: docs/hooks/reference.md in @google/gemini-cli 0.61.0; limits are milliseconds.
//   - opencode: index.d.ts in @opencode-ai/plugin 1.18.33, and opencode.ai/docs/plugins; tried with
//     opencode 1.18.33 and a model of our own on 23 November 2026.
//   - Windsurf: docs.windsurf.com/windsurf/cascade/hooks of November 2026.
package settings
