/** `tidegate tail`: live events and runs. */
import type { Command } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { at } from '../list-options.ts';
import { liveUpdates } from '../live-updates.ts';
import { type Output, printable } from '../output.ts';
import { SourceNames } from '../source-names.ts';

/** The service's limit on events or runs in one message. */
const LISTED_MAX = 100;
/** Errors are looked up for at most this many failed runs in one message. */
const ERRORS_MAX = 20;
/** Time for which a run waits for its event, which another process may report later. */
const EVENT_WAIT_MS = 1_000;
/** Events that are remembered as printed. */
const PRINTED_MAX = 10_000;

interface Options {
  name?: string;
  function?: string;
  status?: string;
  data?: boolean;
}

const HELP = `
Without filters it prints events and runs. --name alone prints events; --function and --status alone print runs.

Examples:
  tidegate tail
  tidegate tail --name 'order/*' --data
  tidegate tail --status Failed --json`;

export function register(program: Command, context: Context): void {
  program
    .command('tail')
    .summary('follow events and runs as they happen')
    .description(
      'Prints events and runs as they happen, until Ctrl-C. When much happens at once, it counts what it leaves out.',
    )
    .option('--name <name>', 'events with this name, or with the beginning of several: order/*')
    .option('--function <id>', 'runs of this function, or of those with this beginning: shop-*')
    .option('--status <status>', 'runs that get this status, or one of several: Failed,Cancelled')
    .option('--data', 'with the data of the events')
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const tail = new Tail(context, options);
      const lost = (reason: string) => context.output().note(`${reason}. Connecting again …`);
      for await (const { kind, data } of liveUpdates(tail.api, context.signal, lost)) await tail.show(kind, data);
    });
}

class Tail {
  readonly api: ApiClient;
  readonly #output: Output;
  readonly #wantsEvent: (name: string) => boolean;
  readonly #wantsRun: (run: Json) => boolean;
  readonly #withData: boolean;
  readonly #wantsEvents: boolean;
  readonly #sources: SourceNames;
  /** IDs of the last events. */
  readonly #printed = new Set<string>();
  /** Runs whose event has not been printed. */
  #held: Json[] = [];
  #hellos = 0;

  constructor(context: Context, { name, function: functionId, status, data = false }: Options) {
    this.api = context.api();
    this.#output = context.output();
    this.#sources = new SourceNames(this.api);
    this.#withData = data;
    const statuses = status?.split(',');
    const ofRuns = functionId !== undefined || statuses !== undefined;
    const matchesFunction = matcher(functionId);
    this.#wantsEvents = name !== undefined || !ofRuns;
    this.#wantsEvent = name === undefined && ofRuns ? () => false : matcher(name);
    this.#wantsRun = (run) => matchesFunction(run.function_id) && (statuses?.includes(run.status) ?? true);
    if (name !== undefined && !ofRuns) this.#wantsRun = () => false;
  }

  async show(kind: string, data: Json): Promise<void> {
    if (kind === 'hello') this.#showHello();
    if (kind === 'events') await this.#showEvents(data);
    if (kind === 'runs') await this.#showRuns(data);
  }

  /** Prints the runs that have waited for their event. */
  async #release(isReady: (run: Json) => boolean): Promise<void> {
    const ready = this.#held.filter(isReady);
    this.#held = this.#held.filter((run) => !ready.includes(run));
    await this.#printRuns(ready);
  }

  #showHello(): void {
    const { url, environment } = this.api.settings;
    const what = `${environment ?? 'production'} at ${url}`;
    const again = this.#hellos++ === 0 ? '. Ctrl-C ends.' : ' again; updates may be missing.';
    this.#output.item({ kind: 'hello' }, () => this.#output.note(`Following ${what}${again}`));
  }

  async #showEvents({ count, events }: Json): Promise<void> {
    for (const event of events.filter(({ name }: Json) => this.#wantsEvent(name))) {
      const { data } = this.#withData ? (await this.api.get(at`/v1/events/${event.internal_id}`)).data : {};
      const from = this.#output.json ? '' : await this.#sources.of(event.source);
      const shown = { kind: 'event', ...event, ...(data !== undefined && { data }) };
      this.#output.item(shown, () => {
        const { internal_id, name, received_at } = event;
        this.#line(received_at, 'event', name, internal_id, from);
        if (data !== undefined) this.#output.line(printable(`  ${JSON.stringify(data)}`));
      });
    }
    for (const { internal_id } of events) this.#printed.add(internal_id);
    for (const id of this.#printed) if (this.#printed.size > PRINTED_MAX) this.#printed.delete(id);
    this.#countOmitted(count, events.length, 'events');
    await this.#release(({ event_id }) => this.#printed.has(event_id));
  }

  async #showRuns({ count, runs }: Json): Promise<void> {
    const wanted: Json[] = runs.filter((run: Json) => this.#wantsRun(run));
    const waits = (run: Json) => this.#wantsEvents && !this.#printed.has(run.event_id);
    const waiting = wanted.filter(waits);
    this.#held.push(...waiting);
    if (waiting.length > 0) setTimeout(() => void this.#release((run) => waiting.includes(run)), EVENT_WAIT_MS).unref();
    await this.#printRuns(wanted.filter((run) => !waits(run)));
    this.#countOmitted(count, runs.length, 'changes of runs');
  }

  async #printRuns(wanted: Json[]): Promise<void> {
    const withErrors = wanted.filter(({ status }) => status === 'Failed').length <= ERRORS_MAX;
    for (const run of wanted) {
      const error = run.status === 'Failed' && withErrors ? await this.#errorOf(run.run_id) : undefined;
      this.#output.item({ kind: 'run', ...run, ...(error && { error }) }, () => {
        const note = error ? `${error.name}: ${error.message}` : '';
        this.#line(new Date().toISOString(), 'run', run.function_id, run.run_id, run.status, note);
      });
    }
  }

  /** undefined: the run cannot be read now; the line shows what is known. */
  async #errorOf(runId: string): Promise<Json> {
    const answer = await this.api.get(at`/v1/runs/${runId}`).catch(() => undefined);
    return answer?.data.error;
  }

  #line(time: string, kind: string, name: string, id: string, state: string, note = ''): void {
    const output = this.#output;
    const cell = output.status(state);
    const status = typeof cell === 'object' && cell ? cell.paint(cell.text) : printable(state);
    const parts = [
      output.paint('gray', time.slice(11, 23)),
      kind.padEnd(5),
      id,
      status,
      output.paint('bold', printable(name)),
    ];
    output.line([...parts, printable(note)].join('  ').trimEnd().replaceAll('\n', ' '));
  }

  /** If the list is shorter, the rest are further changes of the same runs. */
  #countOmitted(all: number, listed: number, what: string): void {
    const count = all - listed;
    if (listed < LISTED_MAX || count === 0) return;
    this.#output.item({ kind: 'omitted', what, count }, () => this.#output.note(`… and ${count} more ${what}`));
  }
}

/** `order/*`: what begins so. */
function matcher(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  const beginning = pattern.slice(0, -1);
  return pattern.endsWith('*') ? (text) => text.startsWith(beginning) : (text) => text === pattern;
}
