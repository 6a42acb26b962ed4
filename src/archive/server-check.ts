/** Finds reasons why a Postgres cannot be the archive. */
import type { ArchiveSettings } from '../config.ts';
import { limited, STATEMENT_TIMEOUT_MS } from './database.ts';
import { withOwnConnection } from './own-connection.ts';

const MIN_VERSION = 14;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const FACTS = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
         current_setting('search_path') AS search_path, current_user AS name, current_database() AS database,
         to_regnamespace($1) IS NOT NULL AS present,
         coalesce(has_schema_privilege(to_regnamespace($1), 'CREATE'), false) AS in_schema,
         has_database_privilege(current_database(), 'CREATE') AS in_database,
         current_setting('server_encoding') AS encoding,
         coalesce((SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'), false) AS lz4`;

export interface ServerFindings {
  problems: string[];
  warnings: string[];
}

/** Facts that a server reports about itself and the schema. */
export interface ServerFacts {
  version: string;
  /** 150_004: 15.4 */
  number: number;
  encoding: string;
  lz4: boolean;
  search_path: string;
  name: string;
  database: string;
  /** Whether the schema exists, and whether the user may create missing parts. */
  present: boolean;
  in_schema: boolean;
  in_database: boolean;
}

/** @throws an error of Postgres, TLS or DNS if it cannot connect */
export async function checkServer({
  url,
  tlsVerify,
  schema,
}: Pick<ArchiveSettings, 'url' | 'tlsVerify' | 'schema'>): Promise<ServerFindings> {
  return withOwnConnection({ url, tlsVerify }, { options: `-c search_path=${schema}` }, async (client) => {
    const { rows } = await client.query<ServerFacts>(limited(STATEMENT_TIMEOUT_MS, FACTS, [schema]));
    return { problems: problemsOf(rows[0] as ServerFacts, schema), warnings: tlsWarnings(url, tlsVerify) };
  });
}

export function problemsOf(found: ServerFacts, schema: string): string[] {
  // Other findings would only be consequences.
  if (found.number < MIN_VERSION * 10_000) {
    return [`found Postgres ${found.version}; Tidegate needs ${MIN_VERSION} or newer`];
  }
  const problems: string[] = [];
  if (!found.lz4) {
    problems.push(
      'this Postgres was built without lz4, which compresses the archive. Use packages built with it (--with-lz4), as those of Debian and ' +
        'postgresql.org are',
    );
  }
  if (found.encoding !== 'UTF8') {
    problems.push(`the database "${found.database}" has the encoding ${found.encoding}; create one with UTF8`);
  }
  if (found.present ? !found.in_schema : !found.in_database) problems.push(permissionProblem(found, schema));
  if (found.search_path !== schema) {
    problems.push(
      'the setting search_path of a connection has no effect. A pooler such as PgBouncer must be in session mode, and must not ignore the startup ' +
        'parameter "options"',
    );
  }
  return problems;
}

function permissionProblem({ name, present }: ServerFacts, schema: string): string {
  const what = present ? `tables in the schema "${schema}"` : `the schema "${schema}"`;
  const remedy = present
    ? `GRANT CREATE, USAGE ON SCHEMA ${schema} TO "${name}"`
    : `CREATE SCHEMA ${schema} AUTHORIZATION "${name}"`;
  return `the user "${name}" may not create ${what}. Let an owner of the database run: ${remedy}`;
}

function tlsWarnings(url: string, tlsVerify: boolean): string[] {
  const { hostname, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  if (LOOPBACK.test(hostname) || (mode === null ? !tlsVerify : mode !== 'disable')) return [];
  return [
    `the connection to ${hostname} is not encrypted. Add ?sslmode=require to DATABASE_URL, unless the network is private`,
  ];
}
