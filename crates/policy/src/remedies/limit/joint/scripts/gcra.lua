-- The count is when the next would come if all came evenly: whole microseconds, and parts of one, `amount` parts each.
-- ARGV 7 to 10: how far apart calls are, and in how long a burst comes again, each whole and in parts.
local step, step_parts = tonumber(ARGV[7]), tonumber(ARGV[8])
local most, most_parts = tonumber(ARGV[9]), tonumber(ARGV[10])
local function is_later(one, one_parts, other, other_parts)
  return one > other or (one == other and one_parts > other_parts)
end
local at, parts = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
at, parts = tonumber(at or 0), tonumber(parts or 0)
if spent_at > 0 and is_later(spent_at + most, most_parts, at, parts) then
  at, parts = spent_at + most, most_parts
end
-- A clock that is behind: no more than everything can be spent.
if is_later(at, parts, now + most, most_parts) then
  at, parts = now + most, most_parts
  keep_count(string.format('%.0f %.0f', at, parts), at + 1 - now)
end
local next_at, next_parts = at, parts
if next_at < now then
  next_at, next_parts = now, 0
end
next_at, next_parts = next_at + step, next_parts + step_parts
if next_parts >= amount then
  next_at, next_parts = next_at + 1, next_parts - amount
end
local is_allowed = not is_later(next_at, next_parts, now + most, most_parts)
if is_allowed then
  keep_count(string.format('%.0f %.0f', next_at, next_parts), next_at + 1 - now)
end
return {is_allowed and 1 or 0, marker, now, at, parts, 0}
