/** Searches of events and runs, a few at a time. */
import type { Archive } from '../archive/archive.ts';
import type { Run } from '../model/runs/run.ts';
import type { FoundEvent } from '../store/events/events.ts';
import type { Store } from '../store/store.ts';
import { EventSearch, type EventSearchQuery } from './event-search.ts';
import type { History } from './history.ts';
import { RunSearch, type RunSearchQuery } from './run-search.ts';
import { SearchLimiter } from './search-limiter.ts';
import type { SearchPage } from './search-merge.ts';

/** Time limit of the whole request. */
const TIMEOUT_MS = 5_000;

/** `principal`: who searches; absent: the service itself. */
type Timed<Query> = Omit<Query, 'timeoutMs'> & { timeoutMs?: number; principal?: string };

export class Searches {
  readonly #events: EventSearch;
  readonly #runs: RunSearch;
  readonly #limiter = new SearchLimiter();

  constructor(
    store: Pick<Store, 'eventLists' | 'eventCounts' | 'runLists'>,
    archive: Archive | undefined,
    history: Pick<History, 'events' | 'runLists' | 'listedRuns'>,
  ) {
    const { eventLists, eventCounts, runLists } = store;
    this.#events = new EventSearch({ eventLists, eventCounts, archive });
    this.#runs = new RunSearch({ runLists, history, archive });
  }

  /** @throws ServiceError searches_full */
  events(
    { timeoutMs = TIMEOUT_MS, principal, ...query }: Timed<EventSearchQuery>,
    nowMs: number,
  ): Promise<SearchPage<FoundEvent>> {
    return this.#limiter.run(query.env, principal, () => this.#events.search({ ...query, timeoutMs }, nowMs));
  }

  /** @throws ServiceError searches_full */
  runsOfEvent(
    eventId: string,
    { principal, ...query }: Omit<Timed<RunSearchQuery>, 'timeoutMs'>,
  ): Promise<SearchPage<Run>> {
    return this.#limiter.run(query.env, principal, () => this.#runs.searchOfEvent(eventId, query));
  }

  /** @throws ServiceError searches_full */
  runs(
    { timeoutMs = TIMEOUT_MS, principal, ...query }: Timed<RunSearchQuery>,
    nowMs: number,
  ): Promise<SearchPage<Run>> {
    return this.#limiter.run(query.env, principal, () => this.#runs.search({ ...query, timeoutMs }, nowMs));
  }
}
