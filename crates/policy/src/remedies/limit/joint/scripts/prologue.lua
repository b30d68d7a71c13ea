-- What every count begins with: the time by the clock of Redis, and whether Redis still has what it was told.
--
-- KEYS: the count, the marker of its slot. ARGV: how long a spent quota takes to come back, in microseconds; the marker that the
-- caller saw last, or nothing; the caller's own; milliseconds that a marker is kept; a moment as of which the quota counts as
-- spent, or 0; calls; then what the algorithm takes.
--
-- All numbers are whole and below 2^53, where Lua's are exact; they are written by '%.0f', for tostring rounds them.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window, known, keep, amount = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[6])
-- Who found no marker, and since when whatever was before is lost: 0 if the one who found none knew of none either.
local marker, lost_at = string.match(redis.call('GET', KEYS[2]) or '', '^(%x+) (%d+)$')
lost_at = tonumber(lost_at or 0)
-- A clock that is behind the one that wrote, as after a failover: what is yet to come is now, once and for all. So nothing counts for too
-- short, and nobody waits for longer than a window.
if not marker or lost_at > now or (lost_at == 0 and known ~= '' and known ~= marker) then
  marker, lost_at = ARGV[3], (lost_at > now or known ~= '') and now or 0
  redis.call('SET', KEYS[2], string.format('%s %.0f', marker, lost_at), 'PX', ARGV[4])
elseif redis.call('PTTL', KEYS[2]) < keep / 2 then
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
local spent_at = math.min(math.max(lost_at, tonumber(ARGV[5])), now)
local is_spent = spent_at > 0 and now - spent_at < window
local function keep_count(count, micros)
  redis.call('SET', KEYS[1], count, 'PX', string.format('%.0f', math.ceil(micros / 1000) + 1))
end
