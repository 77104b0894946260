package bolt

// Files are the files that must be readable for the gateway alone: the state, where
// signing keys lie sealed, and the secret that seals them when none is configured.
func (b *Backend) Files() []string { return []string{b.handle.path, b.keeper.path} }
