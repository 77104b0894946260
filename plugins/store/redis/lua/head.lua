-- What every script begins with. A record is a head of 53 characters, its parent and its
-- value: schema, version (16 hex), expiry and horizon (16 decimal, 0 is never), length
-- of the parent (4 hex). ARGV[1] is the time in milliseconds, or empty for that of Redis.
local now = tonumber(ARGV[1])
if not now then
	local t = redis.call('TIME')
	now = t[1] * 1000 + math.floor(t[2] / 1000)
end

local function head(key)
	local h = redis.call('GETRANGE', key, 0, 52)
	if h == '' then
		return nil
	end
	local expires, length = tonumber(string.sub(h, 18, 33)), tonumber(string.sub(h, 50, 53), 16)
	if #h < 53 or string.sub(h, 1, 1) ~= '1' or not expires or not length then
		error({err = 'GATEHOUSE a record is damaged, or was written by a newer gatehouse'})
	end
	local parent = ''
	if length > 0 then
		parent = redis.call('GETRANGE', key, 53, 52 + length)
	end
	return {
		version = string.sub(h, 2, 17),
		expires = expires,
		horizon = string.sub(h, 34, 49),
		length = string.sub(h, 50, 53),
		parent = parent,
	}
end

local function live(h)
	return h and (h.expires == 0 or now < h.expires)
end

-- covers says whether what lasts until a, a number, lasts at least until b.
local function covers(a, b)
	return a == 0 or (b ~= 0 and a >= b)
end

-- put writes a record, or removes what is expired already, and says which.
local function put(key, raw, expires)
	if expires == 0 then
		redis.call('SET', key, raw)
	elseif expires > now then
		redis.call('SET', key, raw, 'PXAT', string.format('%.0f', expires))
	else
		redis.call('DEL', key)
		return false
	end
	return true
end
