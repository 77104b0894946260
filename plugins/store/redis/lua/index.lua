-- The children of a parent. all: every child, in the order of the IDs; ends: when those
-- that expire may be forgotten; fresh: those noted lately, whose record may be on its way.
local settled, margin, sweep = 600000, 60000, 64

-- note is called before the record is written, or in the same script.
local function note(all, ends, fresh, id, horizon)
	local ttl = redis.call('PTTL', all)
	local lasts = redis.call('ZSCORE', all, id) and not redis.call('ZSCORE', ends, id)
	redis.call('ZADD', all, 0, id)
	if horizon == 0 then
		redis.call('ZREM', ends, id)
		redis.call('PERSIST', all)
	elseif not lasts then -- else a child that does not expire may be there still
		redis.call('ZADD', ends, 'GT', string.format('%.0f', horizon), id)
		local stop = string.format('%.0f', horizon + 2 * margin)
		if ttl == -2 then
			redis.call('PEXPIREAT', all, stop)
		else
			redis.call('PEXPIREAT', all, stop, 'GT') -- never on a key that has no end
		end
	end
	redis.call('ZADD', fresh, string.format('%.0f', now), id)
	redis.call('ZREMRANGEBYSCORE', fresh, '-inf', string.format('%.0f', now - settled))
	redis.call('PEXPIRE', fresh, 2 * settled)
	local dead = redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.0f', now - margin), 'LIMIT', 0, sweep)
	if #dead > 0 then
		redis.call('ZREM', all, unpack(dead))
		redis.call('ZREM', ends, unpack(dead))
	end
	local stop = redis.call('PEXPIRETIME', all)
	if stop == -1 then
		redis.call('PERSIST', ends)
	else
		redis.call('PEXPIREAT', ends, string.format('%.0f', stop))
	end
end
