/** Ships webhook requests to the archive soon after they are logged. Each is on a list until it is archived, so that clock differences,
 *  crashes and concurrent archivers neither lose nor double any. Redis keeps the newest requests of each log while they are hot, as
 *  without an archive. */
import type { Archive } from '../../archive/archive.ts';
import type { RequestRow } from '../../archive/request-shipments.ts';
import { duty } from '../../duties/duty.ts';
import { timeOf } from '../../model/ids.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import {
  type ExaminedLog,
  idsFrom,
  type StoredRequest,
  type UnarchivedRequests,
} from '../../store/webhooks/unarchived-requests.ts';
import { LOG_SHIPPING, type LogShippingDeps, shippingRounds } from './log-shipping.ts';

/** Maximum number of webhooks per round, and of requests per webhook, so that no webhook delays the others. */
const WEBHOOKS_AT_ONCE = 50;
const REQUESTS_AT_ONCE = 200;
const BYTES_AT_ONCE = 1_048_576;
/** Maximum bytes per transaction; a single webhook may exceed it. */
const SHIPMENT_BYTES = 8 * 1_048_576;
/** Maximum number of rounds per call. */
const ROUNDS_MAX = 20;
/** Number of requests of a log compared with the archive at once. */
const COMPARED_AT_ONCE = 1_000;
/** Interval at which idle logs are checked: a quarter of HOT_HOURS, within these bounds. */
const LOOK_AGAIN_MS = { min: 1_000, max: 600_000 };

export interface WebhookRequestShippingDeps {
  unarchivedRequests: UnarchivedRequests;
  archive: Pick<Archive, 'requestShipments' | 'requests' | 'hotMs'>;
  /** Setting RETENTION_DAYS. */
  retentionDays: number;
}

export const webhookRequestShipping = duty<WebhookRequestShippingDeps & LogShippingDeps>({
  ...LOG_SHIPPING,
  name: 'archive-requests',
  about: 'Moves the requests of webhooks to the archive',
  scope: 'partition',
  rounds: (deps) =>
    shippingRounds('requests of webhooks', deps, ({ partition }) => shipWebhookRequests(deps, partition)),
});

/** Ships the requests of a partition, up to a few hundred megabytes.
 *  @returns number of shipped requests
 *  @throws ServiceError archive_unavailable */
export async function shipWebhookRequests(deps: WebhookRequestShippingDeps, partition: number): Promise<number> {
  const { unarchivedRequests, archive } = deps;
  await reportRemovals(deps);
  if (!unarchivedRequests.isOn) return 0;
  await unarchivedRequests.listAll(partition, Date.now());
  const lookAgainMs = Math.min(Math.max(archive.hotMs / 4, LOOK_AGAIN_MS.min), LOOK_AGAIN_MS.max);
  let shipped = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const due = await unarchivedRequests.due(partition, Date.now(), WEBHOOKS_AT_ONCE);
    if (due.length === 0) break;
    shipped += await shipLogs(due, lookAgainMs, deps);
  }
  return shipped;
}

async function shipLogs(due: readonly string[], lookAgainMs: number, deps: WebhookRequestShippingDeps) {
  let shipped = 0;
  let batch = new Batch();
  for (const webhookId of due) {
    const found = await deps.unarchivedRequests.read(webhookId, { limit: REQUESTS_AT_ONCE, maxBytes: BYTES_AT_ONCE });
    if (found.requests.length + found.gone.length === 0) {
      await compare(webhookId, lookAgainMs, deps);
      continue;
    }
    batch.add(webhookId, found);
    if (batch.bytes < SHIPMENT_BYTES) continue;
    shipped += await shipBatch(batch, lookAgainMs, deps);
    batch = new Batch();
  }
  return shipped + (await shipBatch(batch, lookAgainMs, deps));
}

class Batch {
  readonly rows: RequestRow[] = [];
  /** Webhook ID → IDs of requests that are not pending any more: they will be archived, or have expired. */
  readonly ids = new Map<string, string[]>();
  bytes = 0;

  add(webhookId: string, { requests, gone }: { requests: readonly StoredRequest[]; gone: readonly string[] }): void {
    this.ids.set(webhookId, [...requests.map(({ summary }) => summary.id), ...gone]);
    for (const request of requests) {
      this.rows.push(toRow(webhookId, request));
      this.bytes += request.summaryText.length + request.request.length + (request.body?.length ?? 0);
    }
  }
}

async function shipBatch({ rows, ids }: Batch, lookAgainMs: number, deps: WebhookRequestShippingDeps): Promise<number> {
  const { unarchivedRequests, archive, retentionDays } = deps;
  await archive.requestShipments.ship(rows, retentionDays);
  for (const [webhookId, archived] of ids) {
    await unarchivedRequests.note(webhookId, { archived, nowMs: Date.now(), lookAgainMs });
  }
  return rows.length;
}

function toRow(webhookId: string, { summary, summaryText, request, body }: StoredRequest): RequestRow {
  const { id, outcome, status, eventName, verification } = summary;
  const result = verification?.result;
  const columns = { id, at: timeOf(id), webhookId, outcome, verification: result, status, eventName };
  return { ...columns, summary: summaryText, request, body };
}

/** Finds requests of a log that are missing from the list, for example because they are older than the archive, and drops requests that are no
 *  longer hot. */
async function compare(webhookId: string, lookAgainMs: number, deps: WebhookRequestShippingDeps): Promise<void> {
  const { unarchivedRequests, archive } = deps;
  const { all, unarchived } = await unarchivedRequests.ids(webhookId);
  const listed = new Set(unarchived);
  const others = all.filter((id) => !listed.has(id));
  const looked: Required<Pick<ExaminedLog, 'missing' | 'drop'>> = { missing: [], drop: [] };
  for (const some of chunksOf(others, COMPARED_AT_ONCE)) {
    const present = await archive.requests.present(webhookId, some);
    const hotFrom = idsFrom(Date.now() - archive.hotMs);
    looked.missing = [...looked.missing, ...some.filter((id) => !present.has(id))];
    looked.drop = [...looked.drop, ...some.filter((id) => present.has(id) && id < hotFrom)];
  }
  await unarchivedRequests.note(webhookId, { ...looked, nowMs: Date.now(), lookAgainMs });
}

/** Deletions of webhooks do not wait for the archive. */
async function reportRemovals({ unarchivedRequests, archive }: WebhookRequestShippingDeps): Promise<void> {
  const removals = await unarchivedRequests.removals();
  if (removals.size === 0) return;
  await archive.requests.remove(removals);
  await unarchivedRequests.forgetRemovals([...removals.keys()]);
}
