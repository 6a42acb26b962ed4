/** The options of scripts/chaos. */
import { parseArgs } from 'node:util';
import { Problem } from '../scripts/lib/problem.ts';
import { KINDS } from './load/requests.ts';

export const HELP = `scripts/chaos [options]

  Starts two web and two worker processes, Redis, Postgres and apps, sends events, and injects faults: kills and stops processes, slows
  and fills Redis, kills and freezes Postgres. Then it checks for lost, duplicated, stuck and repeated work. Exits with code 1 if a result exceeds its limit.

  --cluster           on a Redis Cluster of three primaries with a replica each, with faults of such a cluster
  --without-archive   without Postgres, in production mode: Redis keeps everything
  --short             the form that scripts/test runs: each fault once in about two minutes, only apps in TypeScript
  --seed <n>          repeat the same faults in the same order (default: from the clock)
  --minutes <n>       how long to inject faults (5)
  --kills <n>         continue until this many processes were killed or terminated (0)
  --rate <n>          requests per second (10)
  --only <faults>     comma-separated names of faults; default: all. outbox,transaction: apps with a Postgres of their own die at each point between their
                      transactions and the service, and orders, events, runs and bookings are counted; with --kills, --languages,
                      --seed, --short, --record, --out and --quiet
  --send <kinds>      names of events, separated by semicolons, such as 'chaos/held;chaos/keyed'; default: all
  --languages <list>  apps: typescript,python,go (default: all; --short: typescript)
  --at-most <n>       stop injecting faults after this many minutes, even if --kills is not reached or a fault is left (three times --minutes)
  --out <file>        write the results to this file as JSON
  --record            write chaos/results/<date>.json, <date>-cluster.json or <date>-exactly-once.json, and the results in docs/reliability.md
  --logs <folder>     keep the logs of the processes, and keys of Redis that should have been archived
  --history <file>    keep what was sent, acknowledged, run and found at the end, as JSON lines
  --check <file>      check such a file again, and run nothing
  --quiet             print only the table
  --help              show this help`;

export interface Options {
  cluster: boolean;
  withoutArchive: boolean;
  short: boolean;
  seed: number;
  minutes: number;
  kills: number;
  atMostMinutes: number;
  rate: number;
  only: string[] | undefined;
  send: string[] | undefined;
  languages: string[];
  out: string | undefined;
  record: boolean;
  logs: string | undefined;
  history: string | undefined;
  check: string | undefined;
  quiet: boolean;
  help: boolean;
}

export const SHORT_MINUTES = 0.75;

export const usualAtMost = (minutes: number) => 3 * minutes;
/** Few, where each fault is injected once: a busy machine must be able to check them all. */
export const usualRate = (short: boolean, cluster: boolean) => (short ? (cluster ? 6 : 3) : 10);

/** @throws Problem that names the option */
export function readOptions(args: string[]): Options {
  const given = parse(args);
  const number = (name: 'seed' | 'minutes' | 'kills' | 'rate' | 'at-most', usual: number) => {
    const value = given[name] === undefined ? usual : Number(given[name]);
    if (!(value >= 0)) throw new Problem(`--${name}: got "${given[name]}"; expected a number`);
    return value;
  };
  const { cluster, short, only, send, languages, out, record, logs, history, check, quiet, help } = given;
  const minutes = number('minutes', short ? SHORT_MINUTES : 5);
  return {
    cluster,
    withoutArchive: given['without-archive'],
    short,
    seed: number('seed', Date.now() % 1_000_000),
    minutes,
    kills: number('kills', 0),
    atMostMinutes: number('at-most', usualAtMost(minutes)),
    rate: number('rate', usualRate(short, cluster)),
    only: only?.split(','),
    send: kindsOf(send),
    languages: (languages ?? (short ? 'typescript' : 'typescript,python,go')).split(','),
    out,
    record,
    logs,
    history,
    check,
    quiet,
    help,
  };
}

function kindsOf(send: string | undefined): string[] | undefined {
  const kinds = send?.split(';');
  const unknown = kinds?.find((name) => !(name in KINDS));
  if (unknown !== undefined)
    throw new Problem(`--send: got "${unknown}"; expected some of ${Object.keys(KINDS).join('; ')}`);
  return kinds;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        cluster: { type: 'boolean', default: false },
        'without-archive': { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string' },
        minutes: { type: 'string' },
        kills: { type: 'string' },
        rate: { type: 'string' },
        only: { type: 'string' },
        send: { type: 'string' },
        languages: { type: 'string' },
        'at-most': { type: 'string' },
        out: { type: 'string' },
        record: { type: 'boolean', default: false },
        logs: { type: 'string' },
        history: { type: 'string' },
        check: { type: 'string' },
        quiet: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n\n${HELP}`);
  }
}
