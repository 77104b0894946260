-- KEYS record[, feed, ends of the feed]; ARGV now, id, whether to seal. Returns the parent.
local parent = ''
if redis.call('STRLEN', KEYS[1]) >= 53 then
	parent = head(KEYS[1]).parent
end
if redis.call('DEL', KEYS[1]) == 0 and ARGV[3] ~= '' then
	seal(KEYS[1])
end
if KEYS[2] then
	redis.call('ZREM', KEYS[2], ARGV[2])
	redis.call('ZREM', KEYS[3], ARGV[2])
end
return parent
