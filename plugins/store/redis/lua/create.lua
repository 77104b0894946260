-- KEYS record[, index[, feed, ends of the feed, history, sequence]];
-- ARGV now, raw, expires, deadline, id, parent, horizon, version, channel, whether to seal, name in the index.
-- Returns 1 created, 0 there is one, 2 too late.
if live(head(KEYS[1])) then
	if ARGV[10] ~= '' then
		seal(KEYS[1])
	end
	return 0
end
if ARGV[4] ~= '' and now > tonumber(ARGV[4]) then
	return 2
end
local expires = tonumber(ARGV[3])
if KEYS[2] and ARGV[6] ~= '' and (expires == 0 or expires > now) then -- first: should it fail, nothing is hidden
	note(KEYS[2], ARGV[11], tonumber(ARGV[7]))
end
if put(KEYS[1], ARGV[2], expires) and KEYS[3] then
	announce(KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[5], expires, ARGV[8], ARGV[9])
end
return 1
