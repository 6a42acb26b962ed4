/** The environment of `tidegate shadow`: a branch in which all functions are paused. So events are ingested, triggers and expressions are decided, and
 *  no function is called: the decision `paused` says that a function would have run. */
import type { ApiClient, Json } from '../api-client.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { at } from '../list-options.ts';

/** With these, a function that is met by an event need not run on it; a pause comes before them. */
const FLOW_OPTIONS = ['batchEvents', 'rateLimit', 'idempotency', 'debounce', 'singleton'];

export interface Decided {
  /** IDs of the functions that would have run. */
  wouldRun: Set<string>;
  /** Of those among them that really ran: they were not paused when the event came. */
  ran: string[];
  /** Why others would not, by their ID. */
  reasons: Map<string, string>;
}

export class DryEnvironment {
  readonly api: ApiClient;
  readonly #limited = new Map<string, boolean>();

  constructor(api: ApiClient) {
    this.api = api;
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

  /** Pauses the functions that are not. @returns their apps, and how many it paused */
  async pauseAll(): Promise<{ apps: string[]; paused: number }> {
    const functions = await this.api.all('/v1/functions');
    const running = functions.filter(({ paused_at, archived }) => !paused_at && !archived);
    for (const { id } of running) await this.api.post(at`/v1/functions/${id}/pause`, { queued_runs: 'cancel' });
    return { apps: [...new Set(functions.map(({ app }) => app as string))], paused: running.length };
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
