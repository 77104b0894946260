-- KEYS all, ends, fresh; ARGV now, id, horizon. Returns the time.
note(KEYS[1], KEYS[2], KEYS[3], ARGV[2], tonumber(ARGV[3]))
return string.format('%.0f', now)
