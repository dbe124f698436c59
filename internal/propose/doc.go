// Package propose is the room of what proposes rules, from evidence to text: survey looks at a repository, learn records
// runs and puts them together, allow reads what they need, decides on which directories rules are proposed
// (allow/directories.go) and plans the additions to a layer, and denials reports on the last run of a tool.
//
// Commands call it. A proposal is proved before it is shown: it permits the operations that it is for, and nothing
// sensitive or protected. Nothing is written that a person has not agreed to.
package propose
