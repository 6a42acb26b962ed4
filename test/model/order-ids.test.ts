import { expect } from 'chai';
import fc from 'fast-check';
import type { AppFunction } from '../../src/model/apps/app.ts';
import { TriggerTable } from '../../src/model/events/triggers.ts';
import { isShared, orderIdOf, takingPart, webhookOf, webhookOrderId } from '../../src/model/flow-control/order-id.ts';
import { newId } from '../../src/model/ids.ts';
import { functionWith } from '../support/flow-stages.ts';

const text = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[=@/a-w]{1,8}$/));

describe('IDs of orders', () => {
  it('name a function, functions of an app, or a function and a webhook, whatever IDs and names are', () => {
    fc.assert(
      fc.property(text, text, fc.option(text, { nil: undefined }), (id, app, name) => {
        const order = { key: 'event.data.id', ...(name !== undefined && { name }) };
        const fn: AppFunction = { ...functionWith({ order }, id), app };
        const orderId = orderIdOf(fn, order);
        expect(takingPart(new TriggerTable([fn]), orderId).map(({ fn: { id } }) => id)).to.deep.equal([id]);
        expect(isShared(orderId)).to.equal(name !== undefined);
        expect(webhookOf(orderId)).to.equal(undefined);
        const webhookId = newId();
        expect(webhookOf(webhookOrderId(id, webhookId))).to.deep.equal({ functionId: id, webhookId });
      }),
    );
  });
});
