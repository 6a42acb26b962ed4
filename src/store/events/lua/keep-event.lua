-- Keeps an event for at least so long.
-- KEYS[1] its bucket (hash)  KEYS[2] its kept copy (string)
-- ARGV[1] its field in KEYS[1]  ARGV[2] how long it must stay (ms)
keep_event(KEYS[1], ARGV[1], KEYS[2], ARGV[2])
