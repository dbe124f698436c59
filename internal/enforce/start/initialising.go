package start

// initialising is true if the packages of the program are still being initialised.
var initialising bool

// Initialising says that the packages of the program are still being initialised, and that this process ends
// before they are.
func Initialising() { initialising = true }
