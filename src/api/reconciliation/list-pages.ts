/** Reads a provider's list page by page, newest first, and compares each page with the received requests. Reading
 *  stops at an endless or circular list, and the pass records that. */
import { iso } from '../../model/values/time.ts';
import type { Store } from '../../store/store.ts';
import type { ReconciliationPass } from '../../store/webhooks/webhook-reconciliations.ts';
import type { ProviderList } from './provider-list.ts';

export const PASS_BOUNDS = { pages: 2_000, stuckPages: 200 };

/** Minimum number of requests that show that a list is of another endpoint: with fewer, all of them may be late retries of older
 *  requests. */
const OTHERS_MIN = 3;
/** Reason of a pass whose list is that of another endpoint or account. No request of such a list is recovered. */
export const LIST_OF_OTHERS = 'list_of_others';
const LIST_OF_OTHERS_MESSAGE =
  'nothing that came in this time is in its list: is it the list of another endpoint or account?';

export type ListPagesDeps = Pick<Store, 'webhookReconciliations'>;

/** Reads one page. @returns the pass afterwards @throws ListProblem */
export async function listPage(
  webhookId: string,
  pass: ReconciliationPass,
  list: Pick<ProviderList, 'types' | 'page'>,
  { webhookReconciliations }: ListPagesDeps,
  bounds = PASS_BOUNDS,
): Promise<ReconciliationPass> {
  if (pass.types === undefined) {
    const types = await list.types();
    return { ...pass, types: types ? [...types] : null };
  }
  const { from, to, cursor } = pass;
  const page = await list.page({ from, to }, cursor, pass.types ? new Set(pass.types) : undefined);
  const within = page.items.filter(({ at }) => at >= from && at <= to);
  const { matched, added, left } = await webhookReconciliations.recordSent(webhookId, within);
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
  if (left > 0) return givenUp(after, 'too_many_missing', 'too many requests are missing; the next round goes on');
  // Older pages have no requests of the span.
  if (page.next === undefined || (page.oldestAt !== undefined && page.oldestAt < from)) {
    const isOthers = await isListOfOthers(webhookId, after, webhookReconciliations);
    return isOthers ? givenUp(after, LIST_OF_OTHERS, LIST_OF_OTHERS_MESSAGE) : recovering(after);
  }
  if (page.next === cursor || page.next === after.mark) {
    return givenUp(after, 'list_circular', `its list comes back to the same page after ${after.pages} pages`);
  }
  if (after.pages >= bounds.pages || after.stuckPages >= bounds.stuckPages) {
    return givenUp(after, 'list_endless', `its list did not come to ${iso(from)} in ${after.pages} pages`);
  }
  return after;
}

/** Whether the list seems to be that of another endpoint or account. Then what seems to be missing is not recovered. */
async function isListOfOthers(
  webhookId: string,
  { from, to, items, matched }: ReconciliationPass,
  webhookReconciliations: ListPagesDeps['webhookReconciliations'],
): Promise<boolean> {
  if (matched > 0 || items < OTHERS_MIN) return false;
  return (await webhookReconciliations.unlisted(webhookId, { from, to })) >= OTHERS_MIN;
}

function recovering(pass: ReconciliationPass): ReconciliationPass {
  return { ...pass, phase: 'recover', cursor: undefined, mark: undefined };
}

/** Ends the reading of the list. Requests already found missing are still recovered, unless the list is that of another endpoint or
 *  account. */
function givenUp(pass: ReconciliationPass, reason: string, message: string): ReconciliationPass {
  return { ...recovering(pass), incomplete: { at: Date.now(), reason, message } };
}
