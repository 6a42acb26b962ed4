/** The options of scripts/bench. */
import { parseArgs } from 'node:util';
import { Problem } from '../scripts/lib/problem.ts';

export const HELP = `scripts/bench [options]

  Measures how fast the service is, beside references of the same run, and writes bench/results/<date>.json.

  --only <part>         only the rows whose names contain this; nothing is written without --out
  --rounds <n>          rounds of each measure, alternating with those of its references; medians are told (3)
  --seconds <n>         length of one round; some rows take a multiple of it (5)
  --soak-minutes <n>    length of the load under which memory is watched; 0 leaves that out (10)
  --no-growth           leaves out the rates on a full service
  --growth-scale <n>    how full: a share of 2,000,000 events, 100,000 jobs and 2,000 functions (1)
  --out <file>          where to write the results
  --check               exit code 1 when a target is not reached
  --help                this`;

export interface Options {
  only: string | undefined;
  rounds: number;
  seconds: number;
  soakMinutes: number;
  growth: boolean;
  growthScale: number;
  out: string | undefined;
  check: boolean;
  help: boolean;
}

/** @throws Problem that names the option */
export function readOptions(args: string[]): Options {
  const { only, out, growth, check, help, ...numbers } = parse(args);
  const number = (name: keyof typeof numbers, least: number) => {
    const value = Number(numbers[name]);
    if (!(value >= least))
      throw new Problem(`--${name} takes a number of at least ${least}, and got "${numbers[name]}"`);
    return value;
  };
  return {
    only: only?.toLowerCase(),
    rounds: Math.round(number('rounds', 1)),
    seconds: Math.round(number('seconds', 1)),
    soakMinutes: number('soak-minutes', 0),
    growthScale: number('growth-scale', 0.001),
    growth,
    out,
    check,
    help,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowNegative: true,
      options: {
        only: { type: 'string' },
        rounds: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '5' },
        'soak-minutes': { type: 'string', default: '10' },
        growth: { type: 'boolean', default: true },
        'growth-scale': { type: 'string', default: '1' },
        out: { type: 'string' },
        check: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n\n${HELP}`);
  }
}
