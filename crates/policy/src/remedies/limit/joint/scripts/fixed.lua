-- The count is when the window began, and how many were counted in it.
local start, taken = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
start, taken = tonumber(start or 0), tonumber(taken or 0)
if is_spent then
  start, taken = spent_at, amount
end
if start > now then
  start = now
  keep_count(string.format('%.0f %.0f', start, taken), window)
end
local before = {start, taken}
if taken == 0 or now - start >= window then
  start, taken = now, 0
end
local is_allowed = taken < amount
if is_allowed then
  keep_count(string.format('%.0f %.0f', start, taken + 1), start + window - now)
end
return {is_allowed and 1 or 0, marker, now, before[1], before[2], 0}
