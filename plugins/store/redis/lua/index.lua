-- The children of a parent, a sorted set in which all scores are 0. An entry is the name of a child (index.go makes it)
-- and two times in seconds, five bytes each: until when the child is to be known, and when it was noted. The record of
-- one noted lately may be on its way.
local settled, margin, sweep, never = 600000, 60000, 64, 2 ^ 40 - 1

local function bytes(n)
	local b = {}
	for i = 5, 1, -1 do
		b[i] = string.char(n % 256)
		n = math.floor(n / 256)
	end
	return table.concat(b)
end

local function number(entry, from)
	local a, b, c, d, e = string.byte(entry, from, from + 4)
	return (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e
end

local function horizon(entry)
	return number(entry, #entry - 9)
end

local function noted(entry)
	return number(entry, #entry - 4)
end

-- find returns the entry of a child; there is one at most.
local function find(index, name)
	return redis.call('ZRANGEBYLEX', index, '[' .. name, '(' .. name .. string.rep('\255', 11))[1]
end

-- expire ends the index when none of its children needs to be known any more.
local function expire(index, last)
	redis.call('PEXPIREAT', index, string.format('%.0f', last * 1000 + 2 * margin))
end

-- dead lists which entries of a range may be forgotten.
local function dead(range, list)
	for _, entry in ipairs(range) do
		if horizon(entry) * 1000 <= now - margin then
			list[#list + 1] = entry
		end
	end
	return list
end

-- note is called before the record is written, or in the same script.
local function note(index, name, until_ms)
	local ends = redis.call('PEXPIRETIME', index)
	local last = math.ceil(until_ms / 1000)
	if until_ms == 0 or last > never then
		last = never
	end
	local known = find(index, name)
	if known then -- a Create that is refused must not end what is there
		last = math.max(last, horizon(known))
	end
	local entry = name .. bytes(last) .. bytes(math.floor(now / 1000))
	redis.call('ZADD', index, 0, entry)
	if known and known ~= entry then
		redis.call('ZREM', index, known)
	end
	if last == never then
		redis.call('PERSIST', index)
	elseif ends == -2 or ends >= 0 and ends < last * 1000 + 2 * margin then
		expire(index, last)
	end
	-- IDs are random, so each entry is behind a new one sooner or later.
	local behind = redis.call('ZRANGEBYLEX', index, '(' .. entry, '+', 'LIMIT', 0, sweep)
	local gone = dead(behind, {})
	if #behind < sweep then
		gone = dead(redis.call('ZRANGEBYLEX', index, '-', '(' .. entry, 'LIMIT', 0, sweep - #behind), gone)
	end
	if #gone > 0 then
		redis.call('ZREM', index, unpack(gone))
	end
end
