import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { changedFields } from '../../dashboard/src/pages/webhooks/requests/changed-fields.ts';
import { diffLines } from '../../dashboard/src/pages/webhooks/versions/diff-lines.ts';
import { browserForSuite, open, write } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';
import { expectAccessible } from './accessible.ts';
import { make } from './fixtures.ts';

const FIRST = `function transform(evt) {
  return { name: 'order/placed', data: { number: evt.number } };
}`;
const SECOND = `function transform(evt) {
  return { name: 'order/placed', data: { number: evt.number, total: evt.total } };
}`;
const THEIRS = `function transform(evt) {
  return { name: 'order/theirs', data: evt };
}`;
/** The save that is refused. */
const CONFLICT = /409 .*\/v1\/webhooks\//;

describe('Versions of webhooks in the dashboard', () => {
  const withPage = browserForSuite({ onePage: true });
  let service: Service;
  before(async () => {
    service = await startService({ archive: true });
  });
  after(() => service.stop());

  const webhookNamed = (name: string) => make(service, '/v1/webhooks', { name, transform: FIRST });
  const editor = (page: Page) => page.getByRole('textbox', { name: 'Transform' });
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Transform saved').first().waitFor();
  };
  const transformOf = async (id: string) => (await service.get(`/v1/webhooks/${id}`)).body.data.transform;

  it('a save with a message is a version that shows its changes; an earlier version can be restored', () =>
    withPage(async (page) => {
      const { id } = await webhookNamed('Shop orders');
      await open(page, `${service.url}/webhooks/${id}`);
      await write(editor(page), SECOND);
      await page.getByLabel('What changed').fill('Totals too');
      await save(page);
      await page.getByRole('link', { name: 'Versions' }).click();
      const versions = page.getByRole('table', { name: 'Versions' });
      const second = versions.getByRole('row').filter({ hasText: 'Totals too' });
      await second.getByText('live').waitFor();
      await second.getByText('Transform').waitFor();
      await second.getByRole('link', { name: 'Version 2' }).click();
      const diff = page.getByRole('region', { name: 'From version 1 to version 2' });
      await diff.getByRole('deletion').filter({ hasText: 'number: evt.number }' }).waitFor();
      await diff.getByRole('insertion').filter({ hasText: 'total: evt.total' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'All versions' }).click();
      await expectAccessible(page);
      await versions.getByRole('link', { name: 'Version 1' }).click();
      await page.getByText('This is the first version.').or(page.getByText('With the live version')).first().waitFor();
      await page.getByRole('button', { name: 'Restore this version' }).click();
      const dialog = page.getByRole('dialog', { name: 'Restore version 1?' });
      await dialog.getByRole('deletion').filter({ hasText: 'total: evt.total' }).waitFor();
      await dialog.getByLabel('Message').fill('Totals were wrong');
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
      await versions.getByText('restored from version 1').waitFor();
      await versions.getByText('Totals were wrong').waitFor();
      expect(await transformOf(id)).to.equal(FIRST);
    }));

  it('when two people edit, the second sees what the first saved, and chooses', () =>
    withPage(
      async (page) => {
        const { id } = await webhookNamed('Two people');
        await open(page, `${service.url}/webhooks/${id}`);
        await write(editor(page), SECOND);
        await service.request(
          'PATCH',
          `/v1/webhooks/${id}`,
          { transform: THEIRS, message: 'Theirs' },
          service.apiHeaders,
        );
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        const dialog = page.getByRole('dialog', { name: 'Somebody saved meanwhile' });
        await dialog.getByText('“Theirs”').waitFor();
        await dialog.getByRole('insertion').filter({ hasText: 'order/theirs' }).waitFor();
        await expectAccessible(page);
        expect(await transformOf(id)).to.equal(THEIRS);
        await dialog.getByRole('button', { name: 'Keep editing' }).click();
        await page.getByText('Another user saved a newer version.').waitFor();
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await dialog.getByRole('button', { name: 'Save mine over it' }).click();
        await page.getByText('Transform saved').waitFor();
        expect(await transformOf(id)).to.equal(SECOND);

        await write(editor(page), FIRST);
        await service.request('PATCH', `/v1/webhooks/${id}`, { transform: THEIRS }, service.apiHeaders);
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await dialog.getByRole('button', { name: 'Discard mine, load theirs' }).click();
        await editor(page).getByText('order/theirs').waitFor();
        expect(await transformOf(id)).to.equal(THEIRS);
      },
      { forgive: CONFLICT },
    ));

  it('a draft is tried on the last requests, next to the live transform, before it is saved', () =>
    withPage(async (page) => {
      const { id, url } = await webhookNamed('Tried');
      for (const body of [{ number: 1 }, { number: 2, total: 20 }]) {
        const { headers } = await service.post(new URL(url).pathname, body);
        const path = `/v1/webhooks/${id}/requests/${headers.get('x-request-id')}`;
        await service.waitFor(path, ({ status }) => status === 200);
      }
      await open(page, `${service.url}/webhooks/${id}`);
      await write(editor(page), SECOND);
      await page.getByRole('button', { name: 'Try on the last 50 requests' }).click();
      const dialog = page.getByRole('dialog', { name: 'Draft on the last requests' });
      await dialog.getByText('Same: 1').waitFor();
      await dialog.getByText('Changed: 1').waitFor();
      const compared = dialog.getByRole('list', { name: 'Compared requests' });
      expect(await compared.getByRole('listitem').count()).to.equal(2);
      await dialog.getByRole('button', { name: 'Changes only' }).click();
      expect(await compared.locator('summary').count()).to.equal(1);
      await compared.locator('summary').click();
      await compared.getByText('data.total', { exact: true }).waitFor();
      await compared.getByRole('region', { name: 'After: draft' }).getByText('total').waitFor();
      await expectAccessible(page);
      expect(await transformOf(id)).to.equal(FIRST);
      await dialog.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText('Transform saved').waitFor();
      expect(await transformOf(id)).to.equal(SECOND);
    }));

  it('a filter is tried on the last requests before it is saved', () =>
    withPage(async (page) => {
      const { id, url } = await webhookNamed('Filtered');
      for (const number of [1, 2]) {
        const { headers } = await service.post(new URL(url).pathname, { number });
        const path = `/v1/webhooks/${id}/requests/${headers.get('x-request-id')}`;
        await service.waitFor(path, ({ status }) => status === 200);
      }
      await open(page, `${service.url}/webhooks/${id}?tab=settings`);
      await page.getByRole('textbox', { name: 'Filter' }).click();
      await page.keyboard.insertText('body.number == 1');
      await page.getByRole('button', { name: 'Try on the last 50 requests' }).click();
      const dialog = page.getByRole('dialog', { name: 'Draft on the last requests' });
      await dialog.getByText('No event: 1').waitFor();
      await dialog.getByText('Same: 1').waitFor();
      await dialog.getByRole('button', { name: 'Save draft' }).click();
      await page.getByText('Filter saved').waitFor();
      expect((await service.get(`/v1/webhooks/${id}`)).body.data.filter).to.equal('body.number == 1');
    }));

  it('a logged request links to the version that handled it', () =>
    withPage(async (page) => {
      const { id, url } = await webhookNamed('Linked');
      const { headers } = await service.post(new URL(url).pathname, { number: 1 });
      const requestId = headers.get('x-request-id');
      await service.waitFor(`/v1/webhooks/${id}/requests/${requestId}`, ({ status }) => status === 200);
      await open(page, `${service.url}/webhooks/${id}?tab=requests&request=${requestId}`);
      await page.getByRole('link', { name: 'Version 1' }).click();
      await page.getByText('This is the first version.').waitFor();
    }));
});

describe('Differences in the dashboard', () => {
  it('a unified diff is parsed by lines, with their numbers in both texts', () => {
    const patch =
      '--- version 1\n+++ version 2\n@@ -2,2 +2,2 @@\n same\n-gone\n+--- new\n\\ No newline at end of file\n';
    expect(diffLines(patch)).to.deep.equal([
      { kind: 'gap', text: 'From line 2' },
      { kind: 'same', text: 'same', before: 2, after: 2 },
      { kind: 'removed', text: 'gone', before: 3 },
      { kind: 'added', text: '--- new', after: 3 },
    ]);
  });

  it('changed fields of events are listed by their paths', () => {
    const before = { name: 'a', data: { id: 1, list: [1, { x: 1 }] } };
    expect(changedFields(before, structuredClone(before))).to.deep.equal([]);
    const after = { name: 'b', data: { id: 1, list: [1, { x: 2 }], more: null } };
    expect(changedFields(before, after)).to.deep.equal(['name', 'data.list[1].x', 'data.more']);
    expect(changedFields({ data: 1 }, { data: [1] })).to.deep.equal(['data']);
  });
});
