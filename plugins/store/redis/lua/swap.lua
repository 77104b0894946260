-- KEYS record, ends of the feed or the record again[, index]; ARGV now, version, new version,
-- expires, value, parent, horizon, id, whether to seal, name in the index. Returns a code and the parent:
-- 0 not found, 1 another version, 2 the index must be told a longer life first, 3 done.
local h = head(KEYS[1])
local found = live(h)
if not found or h.version ~= ARGV[2] then
	if ARGV[9] ~= '' then
		seal(KEYS[1])
	end
	return {found and 1 or 0, ''}
end
local expires, horizon = tonumber(ARGV[4]), h.horizon
if h.parent ~= '' and not covers(tonumber(horizon), expires) then
	if ARGV[7] == '' or ARGV[6] ~= h.parent then
		return {2, h.parent}
	end
	horizon = ARGV[7]
	if KEYS[3] then
		note(KEYS[3], ARGV[10], tonumber(horizon))
	end
end
put(KEYS[1], '1' .. ARGV[3] .. ARGV[4] .. horizon .. h.length .. h.parent .. ARGV[5], expires)
if KEYS[2] ~= KEYS[1] then
	if expires == 0 then
		redis.call('ZREM', KEYS[2], ARGV[8])
	else
		redis.call('ZADD', KEYS[2], ARGV[4], ARGV[8])
	end
end
return {3, h.parent}
