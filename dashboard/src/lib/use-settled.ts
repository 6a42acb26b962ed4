import { useEffect, useState } from 'react';

/** The value, once it has not changed for a while: for requests that follow typing. */
export function useSettled<Value>(value: Value, forMs = 200): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), forMs);
    return () => clearTimeout(timer);
  }, [value, forMs]);
  return settled;
}
