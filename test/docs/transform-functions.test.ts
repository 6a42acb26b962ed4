import { expect } from 'chai';
import { request } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, pageOf } from './examples.ts';

/** The cells of a table, by the row's first cell: pipes do not occur in them. */
function rowsOf(section: string): string[][] {
  const [, text = ''] = pageOf('transforms.md').split(`### ${section}\n`);
  const lines = (text.split('\n#')[0] as string).split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codeOf = (cell = '') => cell.replace(/^`|`$/g, '');

describe('Functions of a transform in docs/transforms.md', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const rows = rowsOf('Functions of a transform');

  it('all exist', () => {
    expect(rows.length).to.be.greaterThan(10);
  });

  for (const [, example, result] of rows) {
    it(`${codeOf(example)} is ${codeOf(result)}`, async () => {
      const transform = `const transform = () => ({ name: 'a/b', data: { value: ${codeOf(example)} } })`;
      const { body } = await service.post('/v1/transforms/test', { transform, body: {} });
      expect(body.data?.event.data.value, JSON.stringify(body)).to.deep.equal(JSON.parse(codeOf(result)));
    });
  }

  it('include an example of a response that works', async () => {
    const transform = blocksOf(pageOf('transforms.md')).find(({ info }) => info === 'js answer')?.code;
    const { url } = (await service.post('/v1/webhooks', { name: 'answers', transform })).body.data;
    const response = await request('POST', url, { body: { orders: [{ n: 1 }, { n: 2 }] } });
    expect([response.status, response.body]).to.deep.equal([202, { ok: true }]);
    expect(response.headers.get('x-received')).to.equal('2');
  });
});
