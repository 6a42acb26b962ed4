/** Accepts events in a span of their request, which they carry on to the job that ingests them. A group commit has no span: it is in the
 *  traces of all its requests, or none. */
import type { Event } from '../../model/events/event.ts';
import { eventAttributes, messagingAttributes } from '../../tracing/attributes.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { INGEST } from '../queues/queues.ts';
import { Acceptor, type AcceptRequest } from './acceptor.ts';

export class TracedAcceptor extends Acceptor {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing, ...rest: ConstructorParameters<typeof Acceptor>) {
    super(...rest);
    this.#tracing = tracing;
  }

  override async accept(events: readonly Event[], arrival: AcceptRequest): Promise<string[]> {
    if (events.length === 0) return [];
    return this.#send(events, arrival, (traced) => super.accept(events, traced));
  }

  override async acceptOwn(event: Event, internalId: string, arrival: AcceptRequest): Promise<string> {
    const [carried] = await this.#send([event], arrival, async (traced) => [
      await super.acceptOwn(event, internalId, traced),
    ]);
    return carried as string;
  }

  #send(
    events: readonly Event[],
    arrival: AcceptRequest,
    accept: (traced: AcceptRequest) => Promise<string[]>,
  ): Promise<string[]> {
    const attributes = () => ({
      ...messagingAttributes(INGEST, 'send', events.length),
      'tidegate.environment': arrival.env,
    });
    return this.#tracing.withSpan(`send ${INGEST}`, 'PRODUCER', attributes, async (span) => {
      const trace = span && this.#tracing.serializeSpan(span);
      const ids = await accept(trace ? { ...arrival, trace } : arrival);
      if (span && ids.length === 1) span.setAttributes(eventAttributes(ids[0] as string, (events[0] as Event).name));
      return ids;
    });
  }
}
