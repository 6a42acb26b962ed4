/** Evaluates a webhook's order on the events of a request (docs/webhooks.md#order). An expression that cannot be evaluated, or costs too much,
 *  has no value: then the event waits for no other. */
import type { Event } from '../../model/events/event.ts';
import type { Expression } from '../../model/expressions/expression.ts';
import { FuelBudgets } from '../../model/expressions/fuel-budgets.ts';
import { keyTextOf } from '../../model/flow-control/key-text.ts';
import { orderTextOf } from '../../model/flow-control/order-text.ts';
import { EVENT_ORDER } from '../../model/webhooks/webhook-order.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import { type FilteredRequest, requestScopeOf } from './filter-webhook.ts';

type Valued = Pick<Expression, 'valueOf'>;

export class WebhookOrders {
  readonly #budgets = new FuelBudgets();

  /** @returns the events with their places in the order */
  ordered(
    { id, order, orderExpressions }: Pick<WebhookInUse, 'id' | 'order' | 'orderExpressions'>,
    events: readonly Event[],
    request: FilteredRequest,
  ): readonly Event[] {
    if (!order || !orderExpressions) return events;
    const scope = requestScopeOf(request);
    const { receivedAt } = request;
    const evaluate = (expression: Valued | undefined, source: string | undefined, event: object) => {
      if (!expression) return undefined;
      const owner = { env: id, expression: `${id}\n${source}` };
      const nowMs = Date.now();
      const budget = this.#budgets.budgetOf(owner, nowMs);
      const evaluated = expression.valueOf({ event, request: scope }, budget.units, receivedAt);
      const result = evaluated.result === 'too_costly' ? 'too_costly' : 'met';
      this.#budgets.record(owner, { result, cost: evaluated.cost }, budget, nowMs);
      return evaluated.value;
    };
    return events.map((made) => {
      const event = { ...made, ts: made.ts ?? receivedAt };
      const key = evaluate(orderExpressions.key, order.key, event);
      if (key === undefined || key === null || key === false) return made;
      const by = orderTextOf(evaluate(orderExpressions.by, order.by, event));
      return { ...made, [EVENT_ORDER]: { webhookId: id, key: keyTextOf(key), ...(by !== undefined && { by }) } };
    });
  }
}
