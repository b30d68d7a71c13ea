-- Ten thousand keys, all of them equally often and not in order. Written out beforehand: that costs the client little.
dofile(os.getenv("BENCH_REPORT"))
local requests = {}
local at = 0
init = function()
  for key = 0, 9999 do requests[key] = wrk.format("GET", "/key/" .. key) end
end
request = function()
  at = (at + 7919) % 10000
  return requests[at]
end
