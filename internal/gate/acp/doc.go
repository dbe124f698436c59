// Package acp judges the messages between a client and an agent of the Agent Client Protocol:
// it answers the agent's requests for permission where the policy of the session's directory
// decides, refuses files and terminals that the policy denies, and passes everything else on as
// it is.
//
// It is a place where a policy is asked, and no boundary: an agent acts without asking as it
// pleases. A sandbox around the agent is one (package start).
package acp
