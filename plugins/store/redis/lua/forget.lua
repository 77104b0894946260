-- KEYS all, ends, fresh; ARGV now, ids. Whoever calls has seen that these children have
-- no record. One noted lately stays: its record may be on its way.
for i = 2, #ARGV do
	local noted = redis.call('ZSCORE', KEYS[3], ARGV[i])
	if not noted or tonumber(noted) <= now - settled then
		redis.call('ZREM', KEYS[1], ARGV[i])
		redis.call('ZREM', KEYS[2], ARGV[i])
	end
end
local n = redis.call('ZCARD', KEYS[2])
if n > 0 and n == redis.call('ZCARD', KEYS[1]) then -- none is left that does not expire
	local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
	local stop = string.format('%.0f', tonumber(last[2]) + 2 * margin)
	redis.call('PEXPIREAT', KEYS[1], stop)
	redis.call('PEXPIREAT', KEYS[2], stop)
end
return 1
