-- @include redis/lua/lib/add-jobs.lua
-- @include runs/lua/lib/create-runs.lua
-- KEYS, ARGV: as lib/create-runs.lua has them. The arguments before and after the runs are positional: this runs for events that
--       trigger a function.
-- Returns what create_runs returns.
return create_runs(KEYS, ARGV)
