package token

// Loaded reports whether the revocations were fully loaded once, so that tokens can
// be judged.
func (r *Revocations) Loaded() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.loaded
}
