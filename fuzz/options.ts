/** The options of scripts/fuzz. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Problem } from '../scripts/lib/problem.ts';

export const HELP = `scripts/fuzz [options]

  Attacks its own service (web, worker and Redis) with the inputs of fuzz/corpus, and then with generated cases.

  --seed <n>      seed of the generated cases (random)
  --cases <n>     number of generated cases (20000)
  --case <n>      only this case of the seed, to repeat a failure
  --no-corpus     skip fuzz/corpus
  --save          shrink failing cases and add them to fuzz/corpus/found.json
  --help          show this help`;

export interface Options {
  seed: number;
  cases: number;
  only: number | undefined;
  corpus: boolean;
  save: boolean;
  help: boolean;
}

const SEED_MAX = 2 ** 31;

/** @throws Problem that names the option */
export function readOptions(args: string[]): Options {
  const { seed, cases, case: only, ...rest } = parse(args);
  const whole = (name: string, text: string) => {
    if (!/^\d{1,9}$/.test(text)) throw new Problem(`--${name}: got "${text}"; expected a whole number`);
    return Number(text);
  };
  return {
    ...rest,
    seed: seed === undefined ? randomInt(SEED_MAX) % 1_000_000_000 : whole('seed', seed),
    cases: whole('cases', cases),
    only: only === undefined ? undefined : whole('case', only),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowNegative: true,
      options: {
        seed: { type: 'string' },
        cases: { type: 'string', default: '20000' },
        case: { type: 'string' },
        corpus: { type: 'boolean', default: true },
        save: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n\n${HELP}`);
  }
}
