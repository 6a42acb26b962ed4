import { expect } from 'chai';
import type pg from 'pg';
import { connectPostgres, dropSchema } from '../support/postgres.ts';
import { eachCase } from './cases.ts';

interface Case {
  title: string;
  name: string;
  parameters?: string[];
  sql: string | string[];
}

const SCHEMA = 'test_conformance_postgres';

describe('The service conforms: postgres', () => {
  let client: pg.Client;
  before(async () => {
    client = await connectPostgres(SCHEMA);
    await client.query(`CREATE SCHEMA ${SCHEMA}`);
  });
  after(async () => {
    await client.end();
    await dropSchema(SCHEMA);
  });

  eachCase<Case>('postgres', { name: true, parameters: true, sql: true }, async ({ name, sql, parameters = [] }) => {
    const text = [sql].flat().join('\n');
    if (name === 'schema') {
      await client.query(text);
      return;
    }
    await client.query(`PREPARE ${name} AS ${text}`);
    const { rows } = await client.query(
      'SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = $1',
      [name],
    );
    expect(rows).to.deep.equal([{ count: parameters.length }]);
  });
});
