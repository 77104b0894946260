-- KEYS index, and all, ends and fresh of an earlier release; ARGV now, and the name and the ID of each child. Whoever
-- calls has seen that these children have no record. One noted lately stays: its record may be on its way.
local few = 512
local earlier = redis.call('EXISTS', KEYS[2]) == 1
for i = 2, #ARGV, 2 do
	local entry = find(KEYS[1], ARGV[i])
	if entry and noted(entry) * 1000 <= now - settled then
		redis.call('ZREM', KEYS[1], entry)
	end
	if earlier then
		local at = redis.call('ZSCORE', KEYS[4], ARGV[i + 1])
		if not at or tonumber(at) <= now - settled then
			redis.call('ZREM', KEYS[2], ARGV[i + 1])
			redis.call('ZREM', KEYS[3], ARGV[i + 1])
		end
	end
end
if redis.call('PEXPIRETIME', KEYS[1]) == -1 and redis.call('ZCARD', KEYS[1]) <= few then
	local last = 0
	for _, entry in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
		last = math.max(last, horizon(entry))
		if last == never then
			break
		end
	end
	if last ~= never then -- none is left that does not expire
		expire(KEYS[1], last)
	end
end
return 1
