// Package importer writes policies from the settings of other programs. It reads the settings strictly,
// translates each entry or says why it does not carry over, compiles the result, and compares it with an
// evaluation of the settings that is written independently (package foreign): the result may permit nothing
// that the settings do not permit. It returns no text of which that does not hold.
package importer
