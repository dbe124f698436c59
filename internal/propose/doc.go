// Package propose is the room of what proposes rules: survey looks at a repository, learn puts the records of runs
// together, and allow plans the additions to a layer that permit recorded operations.
//
// Commands call it. A proposal is proved before it is shown: it permits the operations that it is for, and nothing
// sensitive or protected. Nothing is written that a person has not agreed to.
package propose
