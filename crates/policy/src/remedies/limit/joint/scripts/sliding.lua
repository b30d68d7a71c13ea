-- The count is a list of groups, the oldest first: when their first and their last were counted, and how many they are. No more than
-- 17 of them: up to sixteen calls are a group each; of more, those that are ARGV 7 apart or less are one, and count until their
-- last is a window ago.
local groups = {}
if is_spent then
  groups = {spent_at, spent_at, amount}
else
  local stored = redis.call('GET', KEYS[1])
  if stored then
    groups = cmsgpack.unpack(stored)
  end
end
local kept, taken, oldest, newest = {}, 0, 0, 0
local is_ahead = #groups > 0 and groups[#groups - 1] > now
for place = 1, #groups, 3 do
  local first, last, calls = math.min(groups[place], now), math.min(groups[place + 1], now), groups[place + 2]
  newest = last
  if now - last < window then
    oldest = taken == 0 and last or oldest
    taken = taken + calls
    local count = #kept
    kept[count + 1], kept[count + 2], kept[count + 3] = first, last, calls
  end
end
local is_allowed = taken < amount
if is_allowed then
  local count = #kept
  if count > 0 and now - kept[count - 2] <= tonumber(ARGV[7]) then
    kept[count - 1], kept[count] = now, kept[count] + 1
  else
    kept[count + 1], kept[count + 2], kept[count + 3] = now, now, 1
  end
end
if is_allowed or is_ahead then
  keep_count(cmsgpack.pack(kept), window)
end
return {is_allowed and 1 or 0, marker, now, newest, taken, oldest}
