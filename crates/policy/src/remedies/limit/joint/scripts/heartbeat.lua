-- Says that an instance is there, and how many were seen lately.
--
-- KEYS: the instances. ARGV: the instance; how long ago counts as lately, in microseconds and in milliseconds.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - tonumber(ARGV[2])))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {now, redis.call('ZCARD', KEYS[1])}
