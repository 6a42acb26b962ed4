/** `tidegate shadow`: sends events of another server of the protocol here, too. Only functions that the user names are called here. The runs of
 *  the other server are compared with the runs that would have started here, or with their results here. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiClient } from '../api-client.ts';
import type { Context } from '../context.ts';
import { EXIT, usageError } from '../exit-codes.ts';
import { duration, pointInTime } from '../input.ts';
import { chunksOf, sendEvents } from '../send-events.ts';
import { compare, type Forwarded } from '../shadow/compare.ts';
import { DryEnvironment } from '../shadow/dry-environment.ts';
import { OtherServer } from '../shadow/other-server.ts';
import { Results } from '../shadow/results.ts';

const ENVIRONMENT = 'shadow';
const LOOK_MS = 2_000;

interface ShadowOptions {
  from: string;
  fromKey?: string;
  since?: string;
  settle: number;
  call: string[];
  wait: number;
  app?: string;
  once?: boolean;
}

export function register(program: Command, context: Context): void {
  program
    .command('shadow')
    .summary('compare with another server, in an environment where nothing is called')
    .description(
      'Forwards the events of another server of the protocol into a branch environment here (--env; default: shadow), in which\n' +
        'it pauses all functions, so that none is called. Compares which functions ran there with those that would run here.\n' +
        'Functions that may run twice are called with --call, and then also how their runs end is compared: status and output.\n' +
        'Goes on until Ctrl-C; with --once it ends, and exits with 7 if there are differences.',
    )
    .requiredOption('--from <url>', 'address of the other server', httpAddress)
    .option('--from-key <key>', 'its signing or API key (better: SHADOW_FROM_KEY)')
    .option('--since <time>', 'begin with the events since: ISO 8601, or how long ago: 10m, 2h', pointInTime)
    .option('--settle <duration>', 'how long after an event to compare, so that its runs have begun', duration, 10_000)
    .option('--call <ids>', 'functions that may run here too, separated by commas; compares how they end', ids, [])
    .option('--wait <duration>', 'how long to wait for an event and the ends of its runs', duration, 60_000)
    .option('--app <name>', 'compare the functions of this app alone')
    .option('--once', 'compare the events until now, and end')
    .action((options: ShadowOptions) => shadow(options, context));
}

async function shadow(options: ShadowOptions, context: Context): Promise<void> {
  const { signal, variables } = context;
  const settings = context.settings();
  const here = new DryEnvironment(
    new ApiClient({ ...settings, environment: settings.environment ?? ENVIRONMENT }, signal),
    options.call,
  );
  const apiKey = options.fromKey ?? (variables.SHADOW_FROM_KEY || undefined);
  const other = { url: options.from, urlFrom: '--from', apiKey, eventKey: undefined, environment: undefined };
  const there = new OtherServer(new ApiClient(other, signal), Date.parse(options.since ?? pointInTime('10m')));
  await here.check();
  const results = new Results(context.output());
  let waiting: Forwarded[] = [];
  try {
    for (let isFirst = true; isFirst || !options.once || waiting.length > 0; isFirst = false) {
      if (!isFirst) await sleep(LOOK_MS, undefined, { signal });
      // Done before any event: a function that was registered meanwhile must not be called.
      const { apps, paused } = await here.prepare();
      if (paused > 0) results.note(`Paused ${paused} functions in ${here.api.settings.environment}`);
      if (isFirst || !options.once) waiting.push(...(await forward(there, here, results)));
      const sides = { there, here, apps, onlyApp: options.app };
      const left: Forwarded[] = [];
      for (const event of waiting) {
        const ageMs = Date.now() - event.forwardedMs;
        const mayWait = ageMs < options.settle + options.wait;
        const decided = ageMs < options.settle ? undefined : await here.decided(event.hereId);
        const compared = decided && (await compare(event, decided, sides));
        if (mayWait && (!compared || compared.unfinished.length > 0)) left.push(event);
        else if (compared) results.add(event, compared);
        else results.addLate(event);
      }
      waiting = left;
    }
  } finally {
    results.end();
  }
  if (results.areDifferent) context.exitCode = EXIT.different;
}

async function forward(there: OtherServer, here: DryEnvironment, results: Results): Promise<Forwarded[]> {
  const { events, isTruncated } = await there.newEvents();
  if (isTruncated) results.note('There are too many events for one look: the oldest are left out');
  const { ids } = await sendEvents(here.api, chunksOf(events.map(({ text }) => text)));
  const forwardedMs = Date.now();
  return events.map((event, i) => ({ ...event, hereId: ids[i] as string, forwardedMs }));
}

function ids(text: string, before: string[]): string[] {
  return [...before, ...text.split(',').filter((id) => id !== '')];
}

function httpAddress(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw usageError(
      `--from is not an http(s) address: ${JSON.stringify(text)}`,
      'Give one such as https://api.inngest.com',
    );
  }
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, '');
}
