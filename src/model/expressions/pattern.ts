/** Patterns of `matches()`: RE2, which takes linear time. JavaScript's RegExp takes exponential time for `^(a+)+$`. */
import { RE2JS } from 're2js';

const MAX_LENGTH = 256;
/** Maximum number of instructions per pattern, each of which may run for each character. */
const MAX_SIZE = 300;
/** Fuel for one instruction and one character, in the worst case. */
const UNITS_PER_STEP = 1;

export interface Pattern {
  matches(text: string): boolean;
  /** Fuel per character, in the worst case. */
  unitsPerCharacter: number;
}

/** @throws Error with a readable message */
export function compilePattern(source: string): Pattern {
  if (source.length > MAX_LENGTH) {
    throw new Error(`the pattern has ${source.length} characters; at most ${MAX_LENGTH} are allowed`);
  }
  // Checked before compiling, which is slow for nested repetitions.
  const estimate = estimateSize(source);
  if (estimate > MAX_SIZE) throw tooLarge(estimate);
  const compiled = compile(source);
  const size = compiled.programSize();
  if (size > MAX_SIZE) throw tooLarge(size);
  return { matches: (text) => compiled.test(text), unitsPerCharacter: size * UNITS_PER_STEP };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new Error(`the pattern is not RE2 (https://github.com/google/re2/wiki/Syntax): ${(error as Error).message}`);
  }
}

function tooLarge(size: number): Error {
  return new Error(
    `the pattern has the size ${size}; at most ${MAX_SIZE} is allowed; use fewer or smaller repetitions`,
  );
}

/** Estimates the number of instructions: characters, multiplied by repetitions. */
function estimateSize(source: string): number {
  const groups = [{ size: 0, last: 0 }];
  const top = () => groups.at(-1) as { size: number; last: number };
  const add = (size: number) => {
    top().size += size;
    top().last = size;
  };
  const token = /\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|.)|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu;
  for (const [text, min, comma, max] of source.matchAll(token)) {
    if (min !== undefined) {
      // `{2,}` compiles to two copies and a loop.
      const times = Math.max(1, Number(comma && !max ? min : max || min));
      add(top().last * (times - 1));
      top().last *= times;
    } else if (text === '(') groups.push({ size: 1, last: 0 });
    else if (text === ')' && groups.length > 1) add((groups.pop() as { size: number }).size + 1);
    else if (text === '?' || text === '*' || text === '+') top().size += 1;
    else add(1);
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}
