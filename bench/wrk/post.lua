-- Posts the content of the file named after `--`, repeatedly. After it may come a signature, for the header x-signature.
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["x-kind"] = "hook"

function init(args)
  local file = assert(io.open(args[1], "rb"))
  wrk.body = file:read("*a")
  if args[2] then
    wrk.headers["x-signature"] = args[2]
  end
  file:close()
end
