/** Reconciles one webhook for a while: reads the provider's list page by page, then recovers what is missing, oldest
 *  first. The position is stored in Redis after each step, so any process continues where another one stopped. */
import { ServiceError } from '../../errors.ts';
import type { ProviderClient } from '../../functions/provider-client.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../model/values/time.ts';
import type { SentList } from '../../providers/sent-list.ts';
import type { Store } from '../../store/store.ts';
import type {
  CheckedSpan,
  ReconciliationPass,
  ReconciliationState,
} from '../../store/webhooks/reconciliation-state.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { ListReplaced } from '../../store/webhooks/webhook-reconciliations.ts';
import { LIST_INTERRUPTED, LIST_OF_OTHERS, listPage, type ReconciledWebhook } from './list-pages.ts';
import { ListProblem, ProviderList } from './provider-list.ts';
import { comparableSince, isDue, type RecoverDeps, recover } from './recover.ts';

/** Age at which requests are compared: requests that the provider has just sent may still be on their way. */
export const SETTLE_MS = MINUTE_MS;
/** Time that each pass compares again, because providers list some requests late. */
const OVERLAP_MS = 15 * MINUTE_MS;
const EVERY_MS = HOUR_MS;
/** How long the IDs of requests are kept: an older request cannot be compared. */
const KNOWN_MS = 7 * DAY_MS;
/** After this time, another webhook has its turn. */
const TURN_MS = 10_000;
const RECOVERED_AT_ONCE = 20;
const SERVICE_RETRY_MS = 30 * SECOND_MS;

export interface ReconcileDeps extends RecoverDeps, Pick<Store, 'webhookReconciliations' | 'webhooks'> {
  providerClient: Pick<ProviderClient, 'send'>;
}

/** The description of the list of a webhook's provider; undefined: it has none. */
export function sentListOf({ preset, reconciliation }: WebhookInUse): SentList | undefined {
  const { sent } = preset ?? {};
  return reconciliation && sent && !('none' in sent) ? sent : undefined;
}

export function isAsked({ asked, answered }: ReconciliationState): boolean {
  return asked !== undefined && asked.id !== answered;
}

type Changing = Pick<ReconcileDeps, 'webhookReconciliations'>;

/** Changes the state unless the webhook was deleted meanwhile, or got access to another list. @throws ListReplaced */
function change(
  { id, reconciliation }: ReconciledWebhook,
  fields: Partial<ReconciliationState>,
  { webhookReconciliations }: Changing,
): Promise<void> {
  return webhookReconciliations.change(id, fields, reconciliation?.since);
}

/** The state of the list that the webhook has access to.
 *  @returns undefined if this process does not know yet that the webhook is deleted, or has access to another list */
async function stateOf(
  { id, reconciliation }: ReconciledWebhook,
  { webhookReconciliations, webhooks }: ReconcileDeps,
): Promise<ReconciliationState | undefined> {
  const state = await webhookReconciliations.state(id);
  if (!reconciliation || state.since === reconciliation.since) return state;
  const stored = await webhooks.read(id);
  if (stored?.reconciliation?.since !== reconciliation.since) return undefined;
  await webhookReconciliations.begin(id, reconciliation.since);
  return webhookReconciliations.state(id);
}

/** A problem is stored, with the time of the next try. @throws if Redis does not answer how far the comparison came */
export async function reconcileWebhook(webhook: WebhookInUse, deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  const { webhookReconciliations: store, log } = deps;
  const { id } = webhook;
  const endsAt = performance.now() + TURN_MS;
  const found = await stateOf(webhook, deps);
  if (!found) return;
  let state = found;
  try {
    const list = openedList(webhook, deps);
    let pass = passToContinue(state) ?? (await begin(webhook, list.kept, state, deps));
    while (pass && !signal.aborted && performance.now() < endsAt) {
      const before: ReconciliationPass = pass;
      pass =
        before.phase === 'list'
          ? await listPage(webhook, before, list, deps)
          : await recoverSome(webhook, before, list, deps);
      if (pass) await change(webhook, { pass, ...(before.phase !== pass.phase && checkedBy(pass, state)) }, deps);
      else await finish(webhook, before, deps);
      if (pass && before.phase !== pass.phase) state = await store.state(id);
    }
  } catch (error) {
    if (error instanceof ListReplaced) return;
    const now = Date.now();
    if (error instanceof ListProblem) {
      const failures = (state.failures ?? 0) + 1;
      const dueAt = now + (error.retryMs ?? Math.min(2 ** failures * 30 * SECOND_MS, HOUR_MS));
      const problem = { at: now, reason: error.reason, message: error.message };
      return void (await change(webhook, { dueAt, failures, problem }, deps).catch(() => undefined));
    }
    const reason = error instanceof ServiceError ? error.code : 'internal';
    if (reason === 'internal')
      log.warn({ webhook: id, err: (error as Error).message }, 'a webhook could not be reconciled');
    const problem = {
      at: now,
      reason,
      message: reason === 'internal' ? 'see the log of the service' : (error as Error).message,
    };
    await change(webhook, { dueAt: now + SERVICE_RETRY_MS, problem }, deps).catch(() => undefined);
  }
}

/** The pass to continue; undefined: a new one begins. Whoever asks while a problem is shown gets a list that is read from its beginning. */
function passToContinue(state: ReconciliationState): ReconciliationPass | undefined {
  const { pass, problem, asked } = state;
  if (pass?.phase !== 'list' || !problem || problem.at < pass.startedAt) return pass;
  // A provider that limits requests has refused none: the next page is asked for when it said.
  return problem.reason !== 'rate_limited' && isAsked(state) && asked?.id !== pass.asked ? undefined : pass;
}

type OpenedList = ProviderList & { kept: number };

/** @throws ListProblem */
function openedList(webhook: WebhookInUse, { webhooks, providerClient }: ReconcileDeps): OpenedList {
  const { id, reconciliation, preset } = webhook;
  const list = sentListOf(webhook);
  if (!reconciliation || !list)
    throw new ListProblem('list_unknown', 'no list of what the provider sent is known', HOUR_MS);
  const [key] = webhooks.open(id, [reconciliation.key]) ?? [];
  if (key === undefined) {
    throw new ListProblem(
      'key_unreadable',
      'the stored key cannot be decrypted: set SECRET_KEY_FALLBACK, or save the key again',
      HOUR_MS,
    );
  }
  const account = { fields: reconciliation.account, key, api: reconciliation.api };
  const opened = new ProviderList({ client: providerClient, list, account, name: preset?.name ?? 'The provider' });
  return Object.assign(opened, { kept: list.keptDays * DAY_MS });
}

/** @returns undefined if there is nothing to compare yet */
async function begin(
  webhook: WebhookInUse,
  keptMs: number,
  state: ReconciliationState,
  deps: ReconcileDeps,
): Promise<ReconciliationPass | undefined> {
  const now = Date.now();
  const asked = isAsked(state) ? state.asked : undefined;
  const to = now - SETTLE_MS;
  const since = webhook.reconciliation?.since ?? now;
  const oldest = Math.max(now - KNOWN_MS, now - keptMs, comparableSince(webhook, now));
  const from = Math.max(oldest, Math.min(state.checked ? state.checked.to - OVERLAP_MS : since, asked?.since ?? since));
  if (from >= to) {
    // Nothing is old enough to be compared.
    const next = { dueAt: from + SETTLE_MS + SECOND_MS, answered: asked?.id ?? state.answered };
    await change(webhook, next, deps);
    await startIfAsked(webhook, deps);
    return undefined;
  }
  const { outage } = state;
  const pass: ReconciliationPass = {
    from,
    to,
    because: asked ? 'asked' : outage ? 'outage' : 'hour',
    asked: asked?.id,
    redeliver: asked?.redeliver,
    phase: 'list',
    startedAt: now,
    pages: 0,
    items: 0,
    matched: 0,
    missing: 0,
    invalid: 0,
    stuckPages: 0,
  };
  await change(webhook, { pass }, deps);
  return pass;
}

/** Extends the compared span by the span of a pass that has read the list to its end. */
function checkedBy(
  { from, to, incomplete }: ReconciliationPass,
  { checked }: ReconciliationState,
): { checked?: CheckedSpan } {
  if (incomplete) return {};
  const isOne = checked !== undefined && from <= checked.to && to >= checked.from;
  return { checked: isOne ? { from: Math.min(from, checked.from), to: Math.max(to, checked.to) } : { from, to } };
}

/** @returns undefined: the pass is done */
async function recoverSome(
  webhook: WebhookInUse,
  pass: ReconciliationPass,
  list: ProviderList,
  deps: ReconcileDeps,
): Promise<ReconciliationPass | undefined> {
  if (pass.incomplete?.reason === LIST_OF_OTHERS) return undefined;
  const span = { from: 0, to: pass.to, after: pass.recoveredTo, limit: RECOVERED_AT_ONCE };
  const some = await deps.webhookReconciliations.missing(webhook.id, span);
  for (const missing of some) {
    if (!isDue(missing, webhook, pass.asked !== undefined)) continue;
    await recover(missing, webhook, { list, redeliver: pass.redeliver === true }, deps);
  }
  const last = some.at(-1);
  return last && { ...pass, recoveredTo: { at: last.at, id: last.id } };
}

async function finish(webhook: WebhookInUse, pass: ReconciliationPass, deps: ReconcileDeps): Promise<void> {
  const { webhookReconciliations, log } = deps;
  const now = Date.now();
  const { because, items, missing } = pass;
  if (missing > 0) log.info({ webhook: webhook.id, because, items, missing }, 'requests of a webhook had not come');
  const known = await webhookReconciliations.trim(webhook.id, now);
  const { checked, answered, outage } = await webhookReconciliations.state(webhook.id);
  const { invalid, incomplete } = pass;
  // The next pass begins at once, with what was asked for. But a provider that refuses the next page of each list is asked once an hour.
  const beginsAgain = incomplete?.reason === LIST_INTERRUPTED && now - pass.startedAt >= EVERY_MS;
  const ignored = {
    at: now,
    reason: 'items_invalid',
    message: `${invalid} items of its list have no valid ID or time; they are ignored`,
  };
  const after = {
    pass: undefined,
    answered: beginsAgain ? answered : (pass.asked ?? answered),
    checked: checked && { from: Math.max(checked.from, known), to: checked.to },
    passedAt: now,
    dueAt: beginsAgain ? now : now + EVERY_MS,
    problem: incomplete ?? (invalid > 0 ? ignored : undefined),
    failures: 0,
    ...(outage && !incomplete && pass.to >= outage.to && { outage: undefined }),
  };
  await change(webhook, after, deps);
  await startIfAsked(webhook, deps);
}

/** A request made during a turn marks the webhook as due, and the turn may overwrite that mark. */
async function startIfAsked(webhook: ReconciledWebhook, deps: Changing): Promise<void> {
  const isDueNow = isAsked(await deps.webhookReconciliations.state(webhook.id));
  if (isDueNow) await change(webhook, { dueAt: Date.now() }, deps);
}
