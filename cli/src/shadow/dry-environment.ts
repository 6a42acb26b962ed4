/** The environment of `tidegate shadow`: a branch in which all functions are paused except the functions that the user named. So events are ingested, and
 *  triggers and expressions are evaluated, but no other function is called: the decision `paused` says that a function would have run. */
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { at } from '../list-options.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';

/** With these options, a function whose trigger matches an event may still not run on it; a pause is checked before them. */
const FLOW_OPTIONS = ['batchEvents', 'rateLimit', 'idempotency', 'debounce', 'singleton'];

export interface Decided {
  /** IDs of the functions that would have run. */
  wouldRun: Set<string>;
  /** The functions that really ran, because they were not paused when the event was received. */
  ran: string[];
  /** Why others would not, by their ID. */
  reasons: Map<string, string>;
}

export class DryEnvironment {
  readonly api: ApiClient;
  readonly #called: ReadonlySet<string>;
  readonly #limited = new Map<string, boolean>();

  /** @param called IDs of the functions that are called */
  constructor(api: ApiClient, called: readonly string[] = []) {
    this.api = api;
    this.#called = new Set(called);
  }

  calls(functionId: string): boolean {
    return this.#called.has(functionId);
  }

  /** @throws CliError for an environment that others may use: its functions are going to be paused */
  async check(): Promise<void> {
    const name = this.api.settings.environment as string;
    const found = await this.api.get(at`/v1/environments/${name}`).catch((error: unknown) => {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound) throw error;
    });
    if (!found) {
      const hint = `Register the app there first: start it with INNGEST_ENV=${name} (SERVICE_ENV with the clients of Tidegate)`;
      throw new CliError(`There is no environment ${name}`, { exitCode: EXIT.notFound, hint });
    }
    if (found.data.kind !== 'branch') {
      throw usageError(
        `${name} is not a branch environment`,
        'All its functions would be paused: use a branch of its own',
      );
    }
  }

  /** Pauses all functions except those to call, which it resumes. @returns the apps, and how many functions it paused
   *  @throws CliError for a function to call that does not exist or has a schedule */
  async prepare(): Promise<{ apps: string[]; paused: number }> {
    const functions = (await this.api.all('/v1/functions')).filter(({ archived }) => !archived);
    for (const id of this.#called)
      rejectCall(
        id,
        functions.find((fn) => fn.id === id),
      );
    const running = functions.filter(({ id, paused_at }) => !paused_at && !this.calls(id));
    for (const { id } of running) await this.api.post(at`/v1/functions/${id}/pause`, { queued_runs: 'cancel' });
    const resumed = functions.filter(({ id, paused_at }) => paused_at && this.calls(id));
    for (const { id } of resumed) await this.api.post(at`/v1/functions/${id}/resume`);
    return { apps: [...new Set(functions.map(({ app }) => app as string))], paused: running.length };
  }

  /** How the functions that were called ended. */
  async outcomesOf(internalId: string): Promise<Map<string, Outcome>> {
    return outcomesOf(await this.api.all(at`/v1/events/${internalId}/runs`));
  }

  /** undefined: the event is being ingested. */
  async decided(internalId: string): Promise<Decided | undefined> {
    const decisions = await this.api.all(at`/v1/events/${internalId}/decisions`);
    if (decisions.some(({ outcome }) => outcome === 'pending')) return undefined;
    const idsOf = (is: (decision: Json) => boolean) =>
      decisions.filter(is).map(({ function_id }) => function_id as string);
    const ran = idsOf(({ outcome }) => outcome === 'ran');
    return {
      wouldRun: new Set([...ran, ...idsOf(({ reason }) => reason === 'paused')]),
      ran,
      reasons: new Map(decisions.map(({ function_id, reason, outcome }) => [function_id, reason ?? outcome])),
    };
  }

  /** Whether the function may skip an event, or run once on several. */
  async isLimited(functionId: string): Promise<boolean> {
    const known = this.#limited.get(functionId);
    if (known !== undefined) return known;
    const { data } = await this.api.get(at`/v1/functions/${functionId}`);
    const isLimited = FLOW_OPTIONS.some((option) => data.configuration[option] !== undefined);
    this.#limited.set(functionId, isLimited);
    return isLimited;
  }
}

/** A schedule would run both here and at the other server. @throws CliError */
function rejectCall(id: string, fn: Json | undefined): void {
  if (!fn) throw usageError(`--call: there is no function ${id}`, 'tidegate functions list --env shadow lists them');
  if (!fn.triggers.some(({ cron }: Json) => cron)) return;
  throw usageError(`--call: ${id} has a schedule, which would run it here too`, 'Leave it out: it stays paused');
}
