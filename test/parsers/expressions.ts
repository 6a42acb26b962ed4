/** Worst-case expressions for the compiler. */
import { type Attack, fill } from './attacks.ts';

export function expressions(bytes: number): Attack[] {
  return [
    ['parentheses', `${'('.repeat(bytes / 2 - 4)}true${')'.repeat(bytes / 2 - 4)}`],
    ['parentheses that do not close', fill('(', bytes)],
    ['not', fill('!', bytes, '', 'true')],
    ['minus', fill('-', bytes, '', '1')],
    ['fields', fill('.a', bytes, 'event')],
    ['indices', fill('[0]', bytes, 'event')],
    ['sums', fill('+1', bytes, '1')],
    ['or', fill('||true', bytes, 'true')],
    ['conditions', fill('true?', bytes, '', ':1')],
    ['a list', fill('1,', bytes, '[', '1]')],
    ['lists in lists', '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)],
    ['maps in maps', fill('{"a":', bytes)],
    ['a map', fill('"a":1,', bytes, '{', '"b":1}')],
    ['a string', fill('a', bytes, '"', '" == ""')],
    ['escapes', fill('\\n', bytes, '"', '" == ""')],
    ['white space', fill(' ', bytes, '', 'true')],
    ['comments', fill('//\n', bytes, '', 'true')],
    ['digits', fill('9', bytes)],
    ['a name', fill('a', bytes)],
    ['calls', fill('size(', bytes)],
    ['comprehensions', fill('[1].all(a,', bytes)],
    ['bindings', fill('cel.bind(a,1,', bytes)],
    ['quotes', fill('"', bytes)],
    ['raw strings', fill("r'''", bytes)],
    ['bytes', fill('\0', bytes)],
  ];
}
