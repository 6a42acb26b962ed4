/** `tidegate shadow`: events of another server of the protocol go here too, nothing is called here, and what would have run is compared. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiClient } from '../api-client.ts';
import type { Context } from '../context.ts';
import { EXIT, usageError } from '../exit-codes.ts';
import { duration, pointInTime } from '../input.ts';
import { type Output, printable } from '../output.ts';
import { chunksOf, sendEvents } from '../send-events.ts';
import { type Compared, compare, type Forwarded } from '../shadow/compare.ts';
import { DryEnvironment } from '../shadow/dry-environment.ts';
import { OtherServer } from '../shadow/other-server.ts';

const ENVIRONMENT = 'shadow';
const LOOK_MS = 2_000;
/** An event that is not ingested by then is not compared. */
const PATIENCE_MS = 60_000;

interface ShadowOptions {
  from: string;
  fromKey?: string;
  since?: string;
  settle: number;
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
        'Goes on until Ctrl-C; with --once it ends, and exits with 7 if there are differences.',
    )
    .requiredOption('--from <url>', 'address of the other server', httpAddress)
    .option('--from-key <key>', 'its signing or API key (better: SHADOW_FROM_KEY)')
    .option('--since <time>', 'begin with the events since: ISO 8601, or how long ago: 10m, 2h', pointInTime)
    .option('--settle <duration>', 'how long after an event to compare, so that its runs have begun', duration, 10_000)
    .option('--app <name>', 'compare the functions of this app alone')
    .option('--once', 'compare the events until now, and end')
    .action((options: ShadowOptions) => shadow(options, context));
}

async function shadow(options: ShadowOptions, context: Context): Promise<void> {
  const { signal, variables } = context;
  const settings = context.settings();
  const here = new DryEnvironment(
    new ApiClient({ ...settings, environment: settings.environment ?? ENVIRONMENT }, signal),
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
      // Before any event: a function that was registered meanwhile must not be called.
      const { apps, paused } = await here.pauseAll();
      if (paused > 0) results.note(`Paused ${paused} functions in ${here.api.settings.environment}`);
      if (isFirst || !options.once) waiting.push(...(await forward(there, here, results)));
      const sides = { there, here, apps, onlyApp: options.app };
      const left: Forwarded[] = [];
      for (const event of waiting) {
        const ageMs = Date.now() - event.forwardedMs;
        const decided = ageMs < options.settle ? undefined : await here.decided(event.hereId);
        if (decided) results.add(event, await compare(event, decided, sides));
        else if (ageMs < options.settle + PATIENCE_MS) left.push(event);
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

/** Prints each difference, and the counts at the end. */
class Results {
  readonly #output: Output;
  readonly #counts = { events: 0, alike: 0, different: 0, differences: 0, not_compared: 0 };

  constructor(output: Output) {
    this.#output = output;
  }

  get areDifferent(): boolean {
    return this.#counts.different > 0;
  }

  note(text: string): void {
    this.#output.note(printable(text));
  }

  add({ internalId, hereId, name }: Forwarded, { differences, notCompared, ran }: Compared): void {
    this.#counts.events++;
    this.#counts[differences.length > 0 ? 'different' : 'alike']++;
    this.#counts.differences += differences.length;
    this.#counts.not_compared += notCompared.length;
    for (const difference of differences) {
      const { function_id, where, reason } = difference;
      const item = { kind: 'difference', event_name: name, there_id: internalId, here_id: hereId, ...difference };
      const text = where === 'there' ? `ran there, would not run here: ${reason}` : 'would run here, did not run there';
      this.#output.item(item, () => this.#output.line(printable(`${internalId}  ${name}  ${function_id}  ${text}`)));
    }
    for (const id of ran) this.note(`${internalId}  ${name}  ${id} was called: it was not paused when the event came`);
  }

  addLate({ internalId, name }: Forwarded): void {
    this.#counts.events++;
    this.#counts.not_compared++;
    this.note(`${internalId}  ${name}  is not compared: it is not ingested here yet`);
  }

  end(): void {
    const { events, alike, different, differences, not_compared } = this.#counts;
    this.#output.item({ kind: 'summary', ...this.#counts }, () =>
      this.#output.line(
        `${events} events: ${alike} alike, ${different} different (${differences} differences), ${not_compared} not compared`,
      ),
    );
  }
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
