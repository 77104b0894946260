package bolt

func writeUntilKilled() bool { return false }
