-- Decides on a batch of requests in one step.
-- KEYS     the counts, each once; all of one hash tag
-- ARGV[1]  the time in ms, or '' for this server's own
-- ARGV[2]  numbers, highest byte first: of each key the window in ms (5 bytes), and where clients choose the
--          subject, which sets the highest bit, the keys from 0 of its bucket (1) and of the population (1), and
--          how many callers may have a key of their own (4); then of each group of like requests how many (2),
--          the cost (5), the charges (1), how many more may be leased (2), and of each charge the key from 0, plus 128 in a dry run (1), and
--          the limit (4)
-- ARGV[3]  units that were charged and not used: the key from 0 (1), the slot (5), the units (4)
-- Returns the time; then of each group how many are admitted with those that are leased, and of each charge the units that count,
-- the ms until one more is free, the ms until one refused request fits (0: none was), in a
-- dry run how many of the admitted fitted, and where clients choose the subject 1 if it shared a bucket, else 0.
-- The population of a policy counts its callers that have a key of their own: one unit each, in the newest slot
-- of the caller's key, so that it ceases to count when the key does.
-- A lease charges requests that may come before the slot ends, if all that were asked for are admitted, and at most
-- half of each limit is in use afterwards.
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
  st.slot, st.old, st.w, st.total, st.newest = slot, old + skip, w, total, newest
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

-- S: of each key its counts, or, until they are needed, the value of one that is a bucket or a population
local p, S, windows = 1, redis.call('MGET', unpack(KEYS)), {}
for i = 1, #KEYS do
  local a, b, c, d, e, f, g, w, x, y, z = byte(spec, p, p + 10)
  local W = ((((a % 128) * 256 + b) * 256 + c) * 256 + d) * 256 + e
  p = p + 5
  if not windows[i] then S[i] = advance(S[i], W) end
  if a > 127 then
    local st = S[i]
    st.bucket, st.population, st.cap, p = f + 1, g + 1, ((w * 256 + x) * 256 + y) * 256 + z, p + 6
    windows[f + 1], windows[g + 1] = W, W
  end
end

local function counts(i)
  if type(S[i]) ~= 'table' then S[i] = advance(S[i], windows[i]) end
  return S[i]
end

-- where a caller is counted who has no live key, and whether others are, too: in its bucket, if there are too many
-- keys; else in a key of its own that begins with the bucket's counts, among which may be the caller's
local function settle(st)
  local b = counts(st.bucket)
  if counts(st.population).total >= st.cap then return b, 1 end
  if b.total == 0 then return st, 0 end
  return {W = b.W, q = b.q, slot = b.slot, old = b.old, w = b.w, total = b.total, past = b.past, last = b.last,
    bucket = st.bucket, population = st.population, cap = st.cap}, 1
end

-- counts a caller's key in the slot to which it adds, and no more in the one to which it added before
local function enroll(st)
  local from = st.newest
  if from == st.slot then return end
  local p = counts(st.population)
  local past, w = p.past, p.w
  local i = from and from - p.old + 1 or 0
  local v = i > 0 and i <= #past / w and at(past, w, i) or 0
  if v > 0 then
    p.past, p.total = sub(past, 1, (i - 1) * w) .. pack(v - 1, w) .. sub(past, i * w + 1), p.total - 1
  end
  if p.total == 0 then p.old, p.past = p.slot, '' end
  p.total, p.last, p.dirty = p.total + 1, p.last + 1, true
  st.newest = st.slot
end

local function giveBack(st, slot, units)
  local past, w = st.past, st.w
  local i, v = slot - st.old + 1, st.last
  if slot ~= st.slot then v = i > 0 and i <= #past / w and at(past, w, i) or 0 end
  if v < units then return end
  if slot == st.slot then
    st.last = v - units
  else
    st.past = sub(past, 1, (i - 1) * w) .. pack(v - units, w) .. sub(past, i * w + 1)
  end
  st.total, st.dirty = st.total - units, true
  if st.total == 0 then st.old, st.past = st.slot, '' end
end

for j = 1, #ARGV[3], 10 do
  local k, a, b, c, d, e, x, y, z, v = byte(ARGV[3], j, j + 9)
  local st = S[k + 1]
  if st.bucket and st.total == 0 then st = counts(st.bucket) end -- where a caller without a key was counted
  giveBack(st, (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e, ((x * 256 + y) * 256 + z) * 256 + v)
  if st.population and st.total == 0 and st.newest then
    giveBack(counts(st.population), st.newest, 1)
    st.newest = nil
  end
end

local out, o, T, shared = {now}, 1, {}, {}
while p <= #spec do
  local a, b, c, d, e, f, g, m, h, i = byte(spec, p, p + 9)
  local n, cost, lease = a * 256 + b, (((c * 256 + d) * 256 + e) * 256 + f) * 256 + g, h * 256 + i
  local admit, first = n, p + 10
  p = first + m * 5
  for j = first, p - 1, 5 do
    local k, x, y, z, v = byte(spec, j, j + 4)
    local st = S[k % 128 + 1]
    T[j], shared[j] = st, st.bucket and 0
    if st.bucket and st.total == 0 then
      st, shared[j] = settle(st)
      T[j] = st
    end
    if k < 128 then
      local fit = floor((((x * 256 + y) * 256 + z) * 256 + v - st.total) / cost)
      if fit < admit then admit = fit end
    end
  end
  if admit < 0 then admit = 0 end
  if lease > 0 and admit == n then
    for j = first, p - 1, 5 do
      local _, x, y, z, v = byte(spec, j, j + 4)
      local st = T[j]
      local far = floor(((((x * 256 + y) * 256 + z) * 256 + v) / 2 - st.total) / cost) - n
      if st.slot ~= floor(now / st.q) then far = 0 end
      if far < lease then lease = far end
    end
    if lease > 0 then admit = n + lease end
  end
  o = o + 1
  out[o] = admit
  for j = first, p - 1, 5 do
    local k, x, y, z, v = byte(spec, j, j + 4)
    local limit, dry, took = ((x * 256 + y) * 256 + z) * 256 + v, k > 127, admit
    local st = T[j]
    if dry then
      local fit = floor((limit - st.total) / cost)
      if fit < took then took = fit > 0 and fit or 0 end
    end
    if took > 0 then
      if st.population then
        enroll(st)
        S[k % 128 + 1] = st
      end
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
    if shared[j] then
      o = o + 1
      out[o] = shared[j]
    end
  end
end

for i = 1, #KEYS do
  local st = S[i]
  if type(st) == 'table' and st.dirty and st.total == 0 then
    redis.call('DEL', KEYS[i])
  elseif type(st) == 'table' and st.dirty then
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
