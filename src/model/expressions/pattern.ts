/** Patterns of `matches()`: RE2, whose time grows with the text and never faster. JavaScript's own would take for ever on `^(a+)+$`. */
import { RE2JS } from 're2js';

const MAX_LENGTH = 256;
/** Instructions that a pattern may compile to: each may cost a look at each character. */
const MAX_SIZE = 300;
/** Units of fuel (fuel.ts) that one instruction costs with one character, at worst. */
const UNITS_PER_LOOK = 1;

export interface Pattern {
  matches(text: string): boolean;
  /** Units that matching costs per character, at worst. */
  unitsPerCharacter: number;
}

/** @throws Error that says what is wrong with the pattern */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_LENGTH) {
    throw new Error(`the pattern has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
  }
  // Before it is compiled: that alone takes long when repeats multiply.
  const estimate = sizeOf(source);
  if (estimate > MAX_SIZE) throw tooLarge(estimate);
  const compiled = compile(source);
  const size = compiled.programSize();
  if (size > MAX_SIZE) throw tooLarge(size);
  return { matches: (text) => compiled.test(text), unitsPerCharacter: size * UNITS_PER_LOOK };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new Error(`the pattern is not RE2 (https://github.com/google/re2/wiki/Syntax): ${(error as Error).message}`);
  }
}

function tooLarge(size: number): Error {
  return new Error(`the pattern has the size ${size}; at most ${MAX_SIZE} is allowed; use fewer or smaller repeats`);
}

/** About how many instructions the pattern compiles to: its characters, repeats multiplied. */
function sizeOf(source: string): number {
  const groups = [{ size: 0, last: 0 }];
  const top = () => groups.at(-1) as { size: number; last: number };
  const add = (size: number) => {
    top().size += size;
    top().last = size;
  };
  const token = /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|.)|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu;
  for (const [text, least, comma, most] of source.matchAll(token)) {
    if (least !== undefined) {
      // `{2,}` is two and a loop.
      const times = Math.max(1, Number(comma && !most ? least : most || least));
      add(top().last * (times - 1));
      top().last *= times;
    } else if (text === '(') groups.push({ size: 1, last: 0 });
    else if (text === ')' && groups.length > 1) add((groups.pop() as { size: number }).size + 1);
    else if (text === '?' || text === '*' || text === '+') top().size += 1;
    else add(1);
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}
