// Package action judges the actions of an agent in one directory: command lines, and operations on
// files and addresses. A ruleset and the policy of a tool are asked, and the stricter answer
// counts.
package action
