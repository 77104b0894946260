-- KEYS index; ARGV now, name, horizon. Returns the time.
note(KEYS[1], ARGV[2], tonumber(ARGV[3]))
return string.format('%.0f', now)
