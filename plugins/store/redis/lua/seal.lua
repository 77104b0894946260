-- seal writes what is there already, or nothing, so that WAIT speaks of everything up to
-- it: in Valkey it speaks of what its own connection wrote last, and what was found here
-- may be of another one.
local function seal(key)
	local first = redis.call('GETRANGE', key, 0, 0)
	if first ~= '' then
		redis.call('SETRANGE', key, 0, first)
	else
		redis.call('SET', key, '')
		redis.call('DEL', key)
	end
end
