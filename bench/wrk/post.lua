-- Posts the content of the file named after `--`, repeatedly.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-kind"] = "hook"

function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.body = file:read("*a")
  file:close()
end
