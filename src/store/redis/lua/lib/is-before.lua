-- Whether a text is before another, by their bytes, as in sorted sets. `<` follows the locale that Redis was started with: in en_US, punctuation
-- hardly counts.
local function is_before(a, b)
  for i = 1, math.min(#a, #b) do
    local byte, other = string.byte(a, i), string.byte(b, i)
    if byte ~= other then
      return byte < other
    end
  end
  return #a < #b
end
