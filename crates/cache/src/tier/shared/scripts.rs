//! Scripts: what must happen in Redis at once, in Lua. Each touches the keys of one slot only.

/// Takes the lock of a key, if nobody has it, and tells what is stored either way.
///
/// `KEYS`: lock, then what to look up; `ARGV`: milliseconds, token. Answers `ours`, `taken` or `unshared`; the fence; and
/// what was looked up. The fence is the moment by the server's clock, so that who fetched later may replace what was
/// fetched earlier, and never the other way round.
pub(crate) const CLAIM: &str = "\
local now = redis.call('TIME')
local fence = string.format('%010d%06d', now[1], now[2])
local found = redis.call('MGET', unpack(KEYS, 2))
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) then
  return {'ours', fence, found}
end
if redis.call('GET', KEYS[1]) == 'unshared' then
  return {'unshared', fence, found}
end
return {'taken', fence, found}";

/// Keeps a lock for longer, where we still have it.
///
/// `KEYS`: lock; `ARGV`: token, milliseconds.
pub(crate) const HOLD: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1";

/// Stores an answer, unless one fetched later is there, and gives the lock back. A fence that is yet to come is nobody's
/// (a clock was wrong, or somebody else wrote there) and keeps nobody from storing.
///
/// `KEYS`: answer, lock, names of its variants; `ARGV`: fence, milliseconds it is of use, record, names (or empty), the
/// lock's token (or empty).
pub(crate) const STORE: &str = "\
local there = tonumber(redis.call('GETRANGE', KEYS[1], 0, 15))
local now = redis.call('TIME')
local stored = 0
if not there or there <= tonumber(ARGV[1]) or there > now[1] * 1000000 + now[2] then
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
  if ARGV[4] ~= '' then
    redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[2])
  end
  stored = 1
end
if redis.call('GET', KEYS[2]) == ARGV[5] then
  redis.call('DEL', KEYS[2])
end
return stored";

/// Gives the lock back, where we still have it.
///
/// `KEYS`: lock; `ARGV`: token, for how many milliseconds the others need not wait for one another (or 0).
pub(crate) const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
  if ARGV[2] == '0' then
    redis.call('DEL', KEYS[1])
  else
    redis.call('SET', KEYS[1], 'unshared', 'PX', ARGV[2])
  end
end
return 1";

/// Forgets an answer that was fetched no later than the one that replaces it and is not stored.
///
/// `KEYS`: answers; `ARGV`: fence.
pub(crate) const REMOVE: &str = "\
for _, key in ipairs(KEYS) do
  local there = redis.call('GETRANGE', key, 0, 15)
  if there ~= '' and (not tonumber(there) or tonumber(there) <= tonumber(ARGV[1])) then
    redis.call('DEL', key)
  end
end
return 1";

/// Enters the stream of purges, or begins it. It begins anew, too, where what was heard of it is missing: a server took
/// over that had not got all of it, and who did not hear of what is missing has to know that something is.
///
/// `KEYS`: stream, generation; `ARGV`: the generation if it begins now, the one that the caller knows, and the place of
/// what it heard last. Answers the generation, the first entry's place, and 1 if nothing was dropped before that.
pub(crate) const ENTER: &str = "\
local function has(first, last)
  return #redis.call('XRANGE', KEYS[1], first, last, 'COUNT', 1) > 0
end
local generation = redis.call('GET', KEYS[2])
local goes_on = generation and has('-', '+')
if goes_on and generation == ARGV[2] and has('-', ARGV[3]) and not has(ARGV[3], ARGV[3]) then
  goes_on = false
end
if not goes_on then
  generation = ARGV[1]
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[2], generation)
  redis.call('XADD', KEYS[1], '*', 'generation', generation)
end
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
return {generation, first[1], #first[2] == 2 and 1 or 0}";

/// Tells of a purge, in the life of the stream that the teller knows.
///
/// `KEYS`: stream, generation; `ARGV`: generation, how many are kept, then names and values. Answers the place, or nil
/// where it is another life.
pub(crate) const TELL: &str = "\
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('XLEN', KEYS[1]) == 0 then
  return false
end
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'generation', ARGV[1], unpack(ARGV, 3))";

/// Says that its sender has told everything, in the life of the stream that it knows. By the command that tells of purges,
/// so that whoever may not do the one is not heard of by the other.
///
/// `KEYS`: stream, generation, heartbeats; `ARGV`: generation, how many are kept, who, and 1 if it is the last. Answers the
/// place, or nil where it is another life.
pub(crate) const BEAT: &str = "\
if redis.call('GET', KEYS[2]) ~= ARGV[1] or redis.call('XLEN', KEYS[1]) == 0 then
  return false
end
return redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[2], '*', 'from', ARGV[3], 'last', ARGV[4])";

/// The server's clock, asked on the connection that leads to this key: seconds and microseconds.
pub(crate) const NOW: &str = "return redis.call('TIME')";
