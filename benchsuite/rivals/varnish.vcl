# The built-in rules, which tell the origin who asks; only the proxied row goes past the cache.
vcl 4.1;
backend default { .host = "{origin_host}"; .port = "{origin_port}"; }
sub vcl_recv {
  if (req.url == "/proxied") { return (pass); }
}
