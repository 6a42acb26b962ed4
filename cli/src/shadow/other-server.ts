/** The other server of `tidegate shadow`: its events and runs, read with the REST API of the protocol (docs/rest.md). */
import type { ApiClient, Json, Reply } from '../api-client.ts';
import { at } from '../list-options.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';

/** Page size that every server of the protocol supports. */
const PAGE = 50;
/** Maximum per read; beyond it, the oldest events are left out. */
const EVENTS_MAX = 10_000;
/** An event may be listed a little after events that were received later. */
const OVERLAP_MS = 30_000;
/** Events of the server itself. */
const INTERNAL = /^inngest\//;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export interface OtherEvent {
  internalId: string;
  name: string;
  /** JSON text of the event to send here: its deduplication ID is the internal ID of the other server. */
  text: string;
}

export class OtherServer {
  readonly #api: ApiClient;
  /** Internal IDs with the times of their receipt. */
  readonly #seen = new Map<string, number>();
  #sinceMs: number;
  /** Key: the IDs of the other server, if it numbers functions. */
  #functionIds = new Map<string, string>();

  constructor(api: ApiClient, sinceMs: number) {
    this.#api = api;
    this.#sinceMs = sinceMs;
  }

  /** The events received since the last read, oldest first. */
  async newEvents(): Promise<{ events: OtherEvent[]; isTruncated: boolean }> {
    const query = { received_after: new Date(this.#sinceMs).toISOString(), limit: PAGE };
    const listed: Json[] = [];
    let cursor: string | undefined;
    do {
      const reply = await this.#api.get('/v1/events', { ...query, cursor });
      const page = listOf(reply);
      listed.push(...page);
      // Not every server of the protocol returns a cursor: the last ID also works as one.
      cursor = reply.metadata?.cursor ?? (page.length === PAGE ? page.at(-1).internal_id : undefined);
    } while (cursor && listed.length < EVENTS_MAX);
    const found = listed.filter(({ internal_id, name }) => !this.#seen.has(internal_id) && !INTERNAL.test(name));
    const events: OtherEvent[] = [];
    for (const event of found.reverse()) events.push(await this.#whole(event));
    this.#remember(found);
    return { events, isTruncated: cursor !== undefined };
  }

  /** Results of the functions that ran on the event, by function ID. @param apps apps whose functions may have other IDs there */
  async outcomesOf(internalId: string, apps: readonly string[]): Promise<Map<string, Outcome>> {
    const runs = listOf(await this.#api.get(at`/v1/events/${internalId}/runs`));
    if (runs.some(({ function_id: id }) => UUID.test(id) && !this.#functionIds.has(id)))
      await this.#readFunctions(apps);
    const named = runs.map((run) => ({
      ...run,
      function_id: this.#functionIds.get(run.function_id) ?? run.function_id,
    }));
    return outcomesOf(named);
  }

  async #whole(listed: Json): Promise<OtherEvent> {
    const { internal_id, name } = listed;
    // A large event is listed without its data.
    const { data, ts, user, v } =
      listed.data === undefined ? (await this.#api.get(at`/v1/events/${internal_id}`)).data : listed;
    const text = JSON.stringify({
      name,
      data,
      id: internal_id,
      ...(ts && { ts }),
      ...(user && { user }),
      ...(v && { v }),
    });
    return { internalId: internal_id, name, text };
  }

  #remember(events: readonly Json[]): void {
    for (const { internal_id, received_at } of events) this.#seen.set(internal_id, Date.parse(received_at));
    const last = Math.max(...this.#seen.values());
    this.#sinceMs = Math.max(this.#sinceMs, last - OVERLAP_MS);
    for (const [id, receivedMs] of this.#seen) if (receivedMs < this.#sinceMs) this.#seen.delete(id);
  }

  async #readFunctions(apps: readonly string[]): Promise<void> {
    for (const app of apps) {
      for (const fn of listOf(await this.#api.get(at`/v1/apps/${app}/functions`))) {
        const slug = fn.slug ?? fn.Slug;
        if (slug) this.#functionIds.set(fn.id ?? fn.ID, slug);
      }
    }
  }
}

/** Some servers of the protocol answer with the list alone. */
function listOf({ body, data }: Reply): Json[] {
  return Array.isArray(body) ? body : (data ?? []);
}
