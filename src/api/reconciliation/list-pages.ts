/** Reads a provider's list page by page, newest first, and compares each page with the received requests. Reading
 *  stops at an endless or circular list, and at a page that the provider no longer has; the pass records that. */
import { DAY_MS, iso } from '../../model/values/time.ts';
import type { SentPage } from '../../providers/sent-requests.ts';
import type { Store } from '../../store/store.ts';
import type { ReconciliationPass } from '../../store/webhooks/reconciliation-state.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { ListProblem, type ProviderList } from './provider-list.ts';

/** `ms`: IDs of received requests are kept for a day longer than they are compared. What an older pass lists may have come. */
export const PASS_BOUNDS = { pages: 2_000, stuckPages: 200, ms: DAY_MS };

/** Minimum number of requests that show that a list is of another endpoint: with fewer, all of them may be late retries of older
 *  requests. */
const OTHERS_MIN = 3;
/** Reason of a pass whose list is that of another endpoint or account. No request of such a list is recovered. */
export const LIST_OF_OTHERS = 'list_of_others';
/** Reason of a pass whose list cannot be continued where it stopped. */
export const LIST_INTERRUPTED = 'list_interrupted';
const LIST_OF_OTHERS_MESSAGE =
  'nothing that came in this time is in its list: is it the list of another endpoint or account?';

/** The webhook, and since when it has access to this list. */
export type ReconciledWebhook = Pick<WebhookInUse, 'id' | 'reconciliation'>;

export type ListPagesDeps = Pick<Store, 'webhookReconciliations'>;

/** Reads one page.
 *  @returns the pass afterwards @throws ListProblem; ListReplaced */
export async function listPage(
  webhook: ReconciledWebhook,
  pass: ReconciliationPass,
  list: Pick<ProviderList, 'types' | 'page'>,
  { webhookReconciliations }: ListPagesDeps,
  bounds = PASS_BOUNDS,
): Promise<ReconciliationPass> {
  const ended = (at: ReconciliationPass, reason?: string, message = '') =>
    endOfList(webhook.id, at, reason === undefined ? undefined : { reason, message }, { webhookReconciliations });
  if (Date.now() - pass.startedAt > bounds.ms) {
    return ended(
      pass,
      LIST_INTERRUPTED,
      'its list was not read to its end within a day; it is read from its beginning',
    );
  }
  if (pass.types === undefined) {
    const types = await list.types();
    return { ...pass, types: types ? [...types] : null };
  }
  const { from, to, cursor } = pass;
  let page: SentPage;
  try {
    page = await list.page({ from, to }, cursor, pass.types ? new Set(pass.types) : undefined);
  } catch (error) {
    // The provider has forgotten the item or the cursor at which its list continues. It refuses each repetition.
    if (cursor === undefined || !(error instanceof ListProblem && error.isRefusal)) throw error;
    return ended(
      pass,
      LIST_INTERRUPTED,
      `${error.message} when asked for page ${pass.pages + 1}; its list is read from its beginning`,
    );
  }
  const within = page.items.filter(({ at }) => at >= from && at <= to);
  const { matched, added, left } = await webhookReconciliations.recordSent(
    webhook.id,
    within,
    webhook.reconciliation?.since,
  );
  const isOlder = page.oldestAt !== undefined && (pass.oldestAt === undefined || page.oldestAt < pass.oldestAt);
  const after: ReconciliationPass = {
    ...pass,
    pages: pass.pages + 1,
    items: pass.items + within.length,
    matched: pass.matched + matched,
    missing: pass.missing + added,
    invalid: pass.invalid + page.invalid,
    oldestAt: isOlder ? page.oldestAt : pass.oldestAt,
    stuckPages: isOlder ? 0 : pass.stuckPages + 1,
    cursor: page.next,
    // Brent's cycle detection: the mark moves to the current page after 1, 2, 4, … pages.
    mark: Number.isInteger(Math.log2(pass.pages + 1)) ? cursor : pass.mark,
  };
  if (left > 0) return ended(after, 'too_many_missing', 'too many requests are missing; the next round goes on');
  // Older pages have nothing of the span.
  if (page.next === undefined || (page.oldestAt !== undefined && page.oldestAt < from)) return ended(after);
  if (page.next === cursor || page.next === after.mark) {
    return ended(after, 'list_circular', `its list comes back to the same page after ${after.pages} pages`);
  }
  if (after.pages >= bounds.pages || after.stuckPages >= bounds.stuckPages) {
    return ended(after, 'list_endless', `its list did not come to ${iso(from)} in ${after.pages} pages`);
  }
  return after;
}

/** Ends the reading of the list. What was found missing is recovered, unless the list is that of another endpoint or account.
 *  @param problem why the list was not read to its end */
async function endOfList(
  webhookId: string,
  pass: ReconciliationPass,
  problem: { reason: string; message: string } | undefined,
  deps: ListPagesDeps,
): Promise<ReconciliationPass> {
  const readTo = problem ? pass.oldestAt : undefined;
  const isOthers = await isListOfOthers(webhookId, { ...pass, from: Math.max(pass.from, readTo ?? 0) }, deps);
  const told = isOthers ? { reason: LIST_OF_OTHERS, message: LIST_OF_OTHERS_MESSAGE } : problem;
  const recovering: ReconciliationPass = { ...pass, phase: 'recover', cursor: undefined, mark: undefined };
  return told ? { ...recovering, incomplete: { at: Date.now(), ...told } } : recovering;
}

/** Whether the list seems to be that of another endpoint or account. Then what seems to be missing is not recovered. */
async function isListOfOthers(
  webhookId: string,
  { from, to, items, matched }: ReconciliationPass,
  { webhookReconciliations }: ListPagesDeps,
): Promise<boolean> {
  if (matched > 0 || items < OTHERS_MIN) return false;
  return (await webhookReconciliations.unlisted(webhookId, { from, to })) >= OTHERS_MIN;
}
