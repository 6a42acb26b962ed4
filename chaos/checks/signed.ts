/** Compares the events of the webhook of a provider with its deliveries: each acknowledged one has one event, a forged one none. */
import type { Ledger } from '../load/ledger.ts';
import { FORGED, SIGNED, type SignedWebhook } from '../load/signed-webhook.ts';
import type { Service } from '../service.ts';

export interface SignedFindings {
  /** Deliveries without exactly one event. */
  notOnce: string[];
  /** Events from forged requests, and 200 as their response. */
  forged: string[];
}

export interface ListedEvent {
  internal_id: string;
  /** The ID of the delivery. */
  id?: string | null;
  verified?: boolean;
}

export async function checkSigned(service: Service, webhook: SignedWebhook, ledger: Ledger): Promise<SignedFindings> {
  const of = (name: string) =>
    service.list<ListedEvent>(`/v1/events?limit=100&exclude=data&name=${encodeURIComponent(name)}`);
  const acknowledged = [...ledger.events.values()].filter(({ name }) => name === SIGNED);
  return {
    notOnce: compareDeliveries(
      await of(SIGNED),
      acknowledged.map(({ internalId }) => internalId),
      webhook.acknowledged,
    ),
    forged: [
      ...webhook.accepted,
      ...(await of(FORGED)).map(({ internal_id }) => `event ${internal_id} of a forged request`),
    ],
  };
}

/** @param acknowledged internal IDs of the events that responses had
 *  @param deliveries the number of different ones that were acknowledged */
export function compareDeliveries(
  listed: readonly ListedEvent[],
  acknowledged: readonly string[],
  deliveries: number,
): string[] {
  const findings: string[] = [];
  for (const [id, events] of Map.groupBy(listed, ({ id }) => id ?? 'without an ID')) {
    if (events.length > 1 || id === 'without an ID') findings.push(`delivery ${id}: ${events.length} events`);
  }
  const known = new Set(listed.map(({ internal_id }) => internal_id));
  for (const id of acknowledged) if (!known.has(id)) findings.push(`event ${id} is not in the list`);
  for (const { internal_id, verified } of listed)
    if (verified !== true) findings.push(`event ${internal_id} is not verified`);
  if (listed.length !== deliveries)
    findings.push(`${deliveries} deliveries were acknowledged, ${listed.length} listed`);
  return findings;
}
