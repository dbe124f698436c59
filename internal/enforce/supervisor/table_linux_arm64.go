package supervisor

// older answers nothing: arm64 has the newer form of every call only.
func older() map[uint32]handler { return map[uint32]handler{} }

// largeFile is O_LARGEFILE, which C libraries pass for programs that need none. Its constant in package unix is 0.
const largeFile = 0o400000

// olderMkdir stands for mkdir(2), which arm64 does not have.
const olderMkdir = -1
