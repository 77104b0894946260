-- Decides on a batch of requests in one step.
-- KEYS     the counts, each once; all of one hash tag
-- ARGV[1]  the time in ms, or '' for this server's own
-- ARGV[2]  numbers, highest byte first: of each key the window in ms (5 bytes); then of each group of like
--          requests how many (2), the cost (5), the charges (1), and of each charge the key from 0, plus
--          128 in a dry run (1), and the limit (4)
-- Returns the time; then of each group how many are admitted, and of each charge the units that count,
-- the ms until one more is free, the ms until one refused request fits (0: none was), and in a
-- dry run how many of the admitted fitted.
-- A value is the newest slot (5), the width of a counter (1), the units (4), and the counters from the
-- oldest slot that holds a unit to the newest. Where a counter takes 4 bytes the units are left out and added
-- up, so that the largest value fits into 256 bytes of Redis's memory. Refused requests write nothing.
local byte, char, sub, rep, floor = string.byte, string.char, string.sub, string.rep, math.floor
local spec, now = ARGV[2], tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + floor(t[2] / 1000)
end

local function at(s, w, i)
  if w == 1 then return byte(s, i) end
  local v = 0
  for j = (i - 1) * w + 1, i * w do v = v * 256 + byte(s, j) end
  return v
end

local function pack(v, w)
  if w == 1 then return char(v) end
  local d = v % 256
  return pack((v - d) / 256, w - 1) .. char(d)
end

local function widen(s, from, to)
  local zero, out = rep('\0', to - from), ''
  for i = 1, #s, from do out = out .. zero .. sub(s, i, i + from - 1) end
  return out
end

-- past: the counters before the newest slot's, which is last
local function advance(raw, W)
  local q = floor((W + 59) / 60)
  local slot = floor(now / q)
  local st = {W = W, q = q, slot = slot, old = slot, w = 1, total = 0, past = '', last = 0}
  if not raw or #raw < 10 then return st end
  local a, b, c, d, e, w, f, g, h, i = byte(raw, 1, 10)
  local newest, head = (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e, w == 4 and 6 or 10
  local total, n = ((f * 256 + g) * 256 + h) * 256 + i, (#raw - head) / w
  if w < 1 or w > 4 or n < 1 or n ~= floor(n) or n > 61 then return st end
  if slot < newest then
    if newest - slot > 61 then return st end
    slot = newest
  end
  local s, old, skip = sub(raw, head + 1), newest - n + 1, 0
  if w == 4 then
    total = 0
    for j = 1, n do total = total + at(s, w, j) end
  end
  local dead = floor((now - W) / q) - old
  if dead >= n then return st end
  while skip < dead do
    skip = skip + 1
    total = total - at(s, w, skip)
  end
  while skip < n and at(s, w, skip + 1) == 0 do skip = skip + 1 end
  if total < 1 or skip == n then return st end
  st.slot, st.old, st.w, st.total = slot, old + skip, w, total
  if slot == newest then
    st.past, st.last = sub(s, skip * w + 1, -w - 1), at(s, w, n)
  else
    st.past = sub(s, skip * w + 1) .. rep('\0', (slot - newest - 1) * w)
  end
  return st
end

-- the ms until n of the units have ceased to count
local function frees(st, n)
  local k, past, w = st.old, st.past, st.w
  for i = 1, #past / w do
    n = n - at(past, w, i)
    if n < 1 then break end
    k = k + 1
  end
  local d = (k + 1) * st.q + st.W - now
  return d > 0 and d or 0
end

local p, S = 1, redis.call('MGET', unpack(KEYS))
for i = 1, #KEYS do
  local a, b, c, d, e = byte(spec, p, p + 4)
  S[i] = advance(S[i], (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e)
  p = p + 5
end

local out, o = {now}, 1
while p <= #spec do
  local a, b, c, d, e, f, g, m = byte(spec, p, p + 7)
  local n, cost = a * 256 + b, (((c * 256 + d) * 256 + e) * 256 + f) * 256 + g
  local admit, first = n, p + 8
  p = first + m * 5
  for j = first, p - 1, 5 do
    local k, x, y, z, v = byte(spec, j, j + 4)
    if k < 128 then
      local fit = floor((((x * 256 + y) * 256 + z) * 256 + v - S[k + 1].total) / cost)
      if fit < admit then admit = fit end
    end
  end
  if admit < 0 then admit = 0 end
  o = o + 1
  out[o] = admit
  for j = first, p - 1, 5 do
    local k, x, y, z, v = byte(spec, j, j + 4)
    local limit, dry, took = ((x * 256 + y) * 256 + z) * 256 + v, k > 127, admit
    local st = S[dry and k - 127 or k + 1]
    if dry then
      local fit = floor((limit - st.total) / cost)
      if fit < took then took = fit > 0 and fit or 0 end
    end
    if took > 0 then
      if st.total == 0 then st.old = st.slot end
      st.total, st.last, st.dirty = st.total + took * cost, st.last + took * cost, true
    end
    local total = st.total
    local over = total + cost - limit
    out[o + 1] = total
    out[o + 2] = total > 0 and frees(st, total > limit and total - limit + 1 or 1) or 0
    out[o + 3] = took < n and over > 0 and cost <= limit and frees(st, over) or 0
    o = o + 3
    if dry then
      o = o + 1
      out[o] = took
    end
  end
end

for i = 1, #KEYS do
  local st = S[i]
  if st.dirty then
    local w, slot, total, last = st.w, st.slot, st.total, st.last
    while last >= 256 ^ w do w = w + 1 end
    local past = w > st.w and widen(st.past, st.w, w) or st.past
    local units = w == 4 and '' or
      char(floor(total / 16777216), floor(total / 65536) % 256, floor(total / 256) % 256, total % 256)
    redis.call('SET', KEYS[i], char(floor(slot / 4294967296), floor(slot / 16777216) % 256, floor(slot / 65536) % 256,
      floor(slot / 256) % 256, slot % 256, w) .. units .. past .. pack(last, w),
      'PX', (slot + 1) * st.q + st.W - now + 1000)
  end
end
return out
