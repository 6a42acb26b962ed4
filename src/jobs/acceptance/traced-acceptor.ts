/** Accepts events in a producer span of their request. Events carry that span to the job that ingests them. A group
 *  commit has no span of its own: it would belong to the traces of all its requests, or to none. */
import type { Event } from '../../model/events/event.ts';
import { eventAttributes, messagingAttributes } from '../../tracing/attributes.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { INGEST } from '../queues/queues.ts';
import { Acceptor, type AcceptorDeps } from './acceptor.ts';
import type { AcceptRequest } from './pending-event.ts';

export class TracedAcceptor extends Acceptor {
  readonly #tracing: Tracing;

  constructor(deps: AcceptorDeps, tracing: Tracing) {
    super(deps);
    this.#tracing = tracing;
  }

  override async accept(events: readonly Event[], request: AcceptRequest): Promise<string[]> {
    if (events.length === 0) return [];
    return this.#send(events, request, (traced) => super.accept(events, traced));
  }

  override async acceptWithId(event: Event, internalId: string, request: AcceptRequest, index = 0): Promise<string> {
    const [id] = await this.#send([event], request, async (traced) => [
      await super.acceptWithId(event, internalId, traced, index),
    ]);
    return id as string;
  }

  override async acceptWithIds(
    events: readonly { event: Event; internalId: string }[],
    request: AcceptRequest,
  ): Promise<string[]> {
    const sent = events.map(({ event }) => event);
    return this.#send(sent, request, (traced) => super.acceptWithIds(events, traced));
  }

  #send(
    events: readonly Event[],
    request: AcceptRequest,
    accept: (traced: AcceptRequest) => Promise<string[]>,
  ): Promise<string[]> {
    const attributes = () => ({
      ...messagingAttributes(INGEST, 'send', events.length),
      'tidegate.environment': request.env,
    });
    return this.#tracing.withSpan(`send ${INGEST}`, 'PRODUCER', attributes, async (span) => {
      const trace = span && this.#tracing.serializeSpan(span);
      const ids = await accept(trace ? { ...request, trace } : request);
      if (span && ids.length === 1) span.setAttributes(eventAttributes(ids[0] as string, (events[0] as Event).name));
      return ids;
    });
  }
}
