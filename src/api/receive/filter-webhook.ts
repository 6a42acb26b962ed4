/** Evaluates a webhook's filter on a request (docs/webhooks.md#filters), within the webhook's fuel budget. Costly filters of one webhook
 *  do not delay others: they get less fuel after a while, and yield to other work. */
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import { EVALUATION_UNITS } from '../../model/expressions/expression.ts';
import { type FuelBudget, FuelBudgets, QUARANTINE_UNITS } from '../../model/expressions/fuel-budgets.ts';
import { addTo } from '../../model/values/counting.ts';
import { parseIntegers, tryParseShallow } from '../../model/values/json.ts';
import { iso } from '../../model/values/time.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { TransformRequest } from '../../transforms/transforms.ts';

/** Fuel that the filter of one webhook may spend before it yields the event loop: about 10 ms. */
const TURN_UNITS = 2 * EVALUATION_UNITS;

export interface FilteredRequest extends Pick<TransformRequest, 'query' | 'body' | 'raw'> {
  method: string;
  headers: IncomingHttpHeaders;
  /** Time of receipt, Unix milliseconds; `now()` returns it. */
  receivedAt: number;
}

export class WebhookFilters {
  readonly #budgets = new FuelBudgets();
  /** Units spent in this turn of the event loop, by webhook. Filters of usual cost are not counted. */
  readonly #spent = new Map<string, number>();

  /** Whether the request passes. A missing field is null, as in functions; a filter that cannot be evaluated is not met.
   *  @throws ServiceError filter_failed if the filter costs too much, or this version rejects it: the request stays in the log */
  async passes(
    { id, filter, filterExpression }: Pick<WebhookInUse, 'id' | 'filter' | 'filterExpression'>,
    request: FilteredRequest,
  ): Promise<boolean> {
    if (filterExpression === undefined) return true;
    if (filterExpression === 'refused') {
      throw new ServiceError('filter_failed', {
        detail:
          'this version of the service does not accept it; save a corrected one, then replay the request from the log',
      });
    }
    while ((this.#spent.get(id) ?? 0) >= TURN_UNITS) await nextTurn();
    const nowMs = Date.now();
    const owner = { env: id, expression: `${id}\n${filter}` };
    const budget = this.#budgets.budgetOf(owner, nowMs);
    const evaluation = filterExpression.evaluate(requestScopeOf(request), budget.units, request.receivedAt);
    this.#budgets.record(owner, evaluation, budget, nowMs);
    if (evaluation.cost > QUARANTINE_UNITS) this.#spend(id, evaluation.cost);
    if (evaluation.result !== 'too_costly') return evaluation.result === 'met';
    throw new ServiceError('filter_failed', { detail: messageOf(budget) });
  }

  #spend(id: string, cost: number): void {
    if (this.#spent.size === 0) setImmediate(() => this.#spent.clear());
    addTo(this.#spent, id, cost);
  }
}

/** The request as expressions see it. */
export function requestScopeOf({ method, headers, query, body, raw }: FilteredRequest) {
  return { method, headers: joined(headers), query, body: body ?? tryParseShallow(raw, parseIntegers) ?? {} };
}

/** Joins repeated headers, as documented for filters. */
function joined(headers: IncomingHttpHeaders): Record<string, unknown> {
  const { 'set-cookie': cookies } = headers;
  return cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers;
}

function messageOf({ quarantine, until }: FuelBudget): string {
  const remedy = 'simplify it, then replay the request from the log';
  if (quarantine === undefined) return `it costs more than a filter may; ${remedy}`;
  const end = iso(until ?? 0);
  return `filters of this webhook have cost too much; until ${end} they may cost little. Or ${remedy}`;
}
