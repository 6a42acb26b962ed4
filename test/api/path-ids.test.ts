import { expect } from 'chai';
import { paramsCheck } from '../../src/api/http/path-ids.ts';
import { officialRoutes, routes } from '../support/route-table.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
/** What is found by a name, by a number that the handler reads, or in a list that has it. */
const NAMES =
  /\/(?:alert-channels|alert-rules|apps|destinations|environments|functions|invoke|lanes|steps|providers|errors|versions|allowed-origins|held-registrations)\/:/;

describe('Path parameters', () => {
  const codeOf = (path: string, params: Record<string, string>) => {
    try {
      return paramsCheck(path)?.({ params }, () => 'passed');
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('that are IDs must look like an ID', () => {
    expect(codeOf('/v1/runs/:id', { id: ID })).to.equal('passed');
    const wrong = ['', 'nope', `${ID}:metadata`, `${ID}\n`, ID.toLowerCase(), `8${ID.slice(1)}`, 'x'.repeat(16_000)];
    for (const id of wrong) expect(codeOf('/v1/runs/:id/metadata', { id }), id.slice(0, 50)).to.equal('not_found');
    expect(codeOf('/v1/webhooks/:id/requests/:rid', { id: ID, rid: `${ID}:x` })).to.equal('not_found');
  });

  it('that are names must be short and printable', () => {
    for (const name of ['shop', 'shop/checkout:pay', 'Größe 2']) {
      expect(codeOf('/v1/functions/:id', { id: name })).to.equal('passed');
    }
    for (const name of ['a\nb', 'a\0', 'x'.repeat(1_025)]) {
      expect(codeOf('/v1/functions/:id', { id: name })).to.equal('not_found');
    }
  });

  it('are declared as IDs or names in every route', () => {
    for (const { path } of [...routes, ...officialRoutes]) {
      for (const [parameter] of path.matchAll(/\/[^/]+\/:\w+/g)) {
        const name = parameter.split(':')[1] as string;
        const isId = codeOf(parameter, { [name]: 'nope' }) === 'not_found';
        expect(isId, path).to.equal(!NAMES.test(parameter));
      }
    }
  });
});
