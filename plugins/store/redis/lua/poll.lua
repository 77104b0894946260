-- KEYS feed, history, sequence, a key that is never there; ARGV now, last number, its
-- version or empty, limit. Returns the number and version to go on from and the IDs;
-- false if the sequence is another than the one that was read.

-- A replica that was a primary, and of which this connection does not know, must not be
-- taken for one: what it says may be old for ever. This writes nothing.
local refused = redis.pcall('DEL', KEYS[4])
if type(refused) == 'table' and refused.err and string.find(refused.err, 'READONLY', 1, true) then
	return refused
end
local state = redis.call('HMGET', KEYS[3], 'n', 'v')
local newest, version = tonumber(state[1] or 0), state[2] or ''
local last, limit = tonumber(ARGV[2]), tonumber(ARGV[4])
if last > newest then
	return false
end
if ARGV[3] ~= '' then
	local at = redis.call('ZSCORE', KEYS[2], ARGV[3])
	if not at or tonumber(at) ~= last then
		return false
	end
end
local page = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'WITHSCORES', 'LIMIT', 0, limit)
local ids = {}
for i = 1, #page, 2 do
	ids[#ids + 1] = page[i]
end
if #ids < limit then
	return {string.format('%.0f', newest), version, ids}
end
last = page[#page]
version = redis.call('ZRANGEBYSCORE', KEYS[2], last, last, 'LIMIT', 0, 1)[1] or ''
return {last, version, ids}
