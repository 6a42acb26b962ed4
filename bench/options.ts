/** The options of scripts/bench. */
import { parseArgs } from 'node:util';
import { Problem } from '../scripts/lib/problem.ts';

export const HELP = `scripts/bench [options]

  Measures throughput, latency and memory next to references of the same run, and writes bench/results/<date>.json.

  --only <text>         measure only rows whose names contain this text; writes no file without --out
  --rounds <n>          rounds per workload, alternating with its references; results are medians (3)
  --seconds <n>         length of a round; some rows take a multiple of it (5)
  --soak-minutes <n>    length of the memory measurement under load; 0 skips it (10)
  --no-growth           skip the measurements on a full service
  --growth-scale <n>    how full: a share of 2,000,000 events, 100,000 jobs and 2,000 functions (1)
  --sleepers <n>        runs that sleep, for the measurements beside them; 0 skips them (1000000)
  --archive-events <n>  events in Postgres for the measurements of reads; 0 skips them (20000000)
  --out <file>          write the results to this file
  --check               exit with code 1 if a target is missed
  --peers               measure other engines and Tidegate with the same functions instead, and write bench/results/peers-<date>.json;
                        takes --rounds, --seconds, --out, and --only with a part of an engine's name
  --against <folder>    compare the functions of --peers with those of another checkout, installed, such as of an earlier commit, in
                        alternating rounds; takes --rounds, --seconds, and --only with a part of an engine's name; writes no file
  --help                show this help`;

export interface Options {
  only: string | undefined;
  rounds: number;
  seconds: number;
  soakMinutes: number;
  growth: boolean;
  growthScale: number;
  sleepers: number;
  archiveEvents: number;
  out: string | undefined;
  check: boolean;
  peers: boolean;
  /** Another checkout. */
  against: string | undefined;
  help: boolean;
}

/** @throws Problem that names the option */
export function readOptions(args: string[]): Options {
  const { only, out, growth, check, peers, against, help, ...numbers } = parse(args);
  const number = (name: keyof typeof numbers, least: number) => {
    const value = Number(numbers[name]);
    if (!(value >= least))
      throw new Problem(`--${name}: got "${numbers[name]}"; expected a number of at least ${least}`);
    return value;
  };
  return {
    only: only?.toLowerCase(),
    rounds: Math.round(number('rounds', 1)),
    seconds: Math.round(number('seconds', 1)),
    soakMinutes: number('soak-minutes', 0),
    growthScale: number('growth-scale', 0.001),
    sleepers: Math.round(number('sleepers', 0)),
    archiveEvents: Math.round(number('archive-events', 0)),
    growth,
    out,
    check,
    peers,
    against,
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
        sleepers: { type: 'string', default: '1000000' },
        'archive-events': { type: 'string', default: '20000000' },
        out: { type: 'string' },
        check: { type: 'boolean', default: false },
        peers: { type: 'boolean', default: false },
        against: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n\n${HELP}`);
  }
}
