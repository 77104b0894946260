-- The feed of a watched kind. feed: its records by their number; ends: when each expires;
-- history: the last numbers by the version of what was created, so that a reader knows
-- whether the sequence it has read is still the one that goes on; sequence: the last
-- number and version.
local function announce(feed, ends, history, sequence, id, expires, version, channel)
	local n = redis.call('HINCRBY', sequence, 'n', 1)
	redis.call('HSET', sequence, 'v', version)
	redis.call('ZADD', feed, n, id)
	redis.call('ZADD', history, n, version)
	redis.call('ZREMRANGEBYRANK', history, 0, -4097)
	if expires == 0 then
		redis.call('ZREM', ends, id)
	else
		redis.call('ZADD', ends, string.format('%.0f', expires), id)
	end
	local dead = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.0f', now), 'LIMIT', 0, 64)
	if #dead > 0 then
		redis.call('ZREM', feed, unpack(dead))
		redis.call('ZREM', ends, unpack(dead))
	end
	-- Only a bell: a user who may not publish is served by the poll.
	redis.pcall('PUBLISH', channel, n)
end
