import { expect } from 'chai';
import { type ReconcileDeps, reconcileWebhook } from '../../src/api/reconciliation/reconcile-webhook.ts';
import { presetOf } from '../../src/providers/catalog.ts';
import type { ReconciliationState } from '../../src/store/webhooks/reconciliation-state.ts';
import type { WebhookInUse } from '../../src/store/webhooks/webhook-in-use.ts';

describe('A turn of a reconciliation', () => {
  it('that has nothing to compare yet does not put off what somebody asks for meanwhile', async () => {
    const now = Date.now();
    let state: ReconciliationState = { dueAt: 0, since: now };
    const store = {
      state: async () => state,
      change: async (_: string, fields: Partial<ReconciliationState>) => {
        // Somebody asks between the look at the state and the write of the next time.
        const asked = state.asked ?? { id: 'asked', since: now - 3_600_000 };
        state = { ...state, asked, ...fields };
      },
    };
    const reconciliation = { key: 'sealed', account: {}, since: now };
    const webhook = { id: 'w', createdAt: now, preset: presetOf('stripe'), reconciliation } as unknown as WebhookInUse;
    const deps = { webhookReconciliations: store, webhooks: { open: () => ['key'] } } as unknown as ReconcileDeps;
    await reconcileWebhook(webhook, deps, new AbortController().signal);
    expect(state.answered).to.equal(undefined);
    expect(state.dueAt).to.be.at.most(Date.now());
  });

  it('does nothing if this process does not know yet that the webhook has access to another list', async () => {
    const now = Date.now();
    const calls: string[] = [];
    const called = (name: string, result: unknown) => async () => {
      calls.push(name);
      return result;
    };
    const store = {
      state: called('state', { dueAt: 0, since: now }),
      begin: called('begin', undefined),
      change: called('change', undefined),
    };
    const reconciliation = { key: 'sealed', account: {}, since: now - 3_600_000 };
    const webhook = { id: 'w', createdAt: now, preset: presetOf('stripe'), reconciliation } as unknown as WebhookInUse;
    const webhooks = { open: () => ['key'], read: async () => ({ reconciliation: { since: now } }) };
    const deps = { webhookReconciliations: store, webhooks } as unknown as ReconcileDeps;
    await reconcileWebhook(webhook, deps, new AbortController().signal);
    expect(calls).to.deep.equal(['state']);
  });
});
