/** `tidegate mcp`: gives assistants access to the service, by the Model Context Protocol. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import type { Context } from '../context.ts';
import { usageError } from '../exit-codes.ts';

const KEY = 'TIDEGATE_API_KEY';
const SERVER = 'tidegate';
const INPUT = 'tidegate-api-key';

type Json = Record<string, unknown>;

/** What a client reads: a file of the project, and its entry for a server. No file has the key itself. */
const CLIENTS: Record<string, { file: string; add(settings: Json, server: { url: string; headers: Json }): Json }> = {
  'claude-code': {
    file: '.mcp.json',
    add: (settings, { url, headers }) =>
      withServer(settings, 'mcpServers', { type: 'http', url, headers: { ...bearer(`\${${KEY}}`), ...headers } }),
  },
  cursor: {
    file: '.cursor/mcp.json',
    add: (settings, { url, headers }) =>
      withServer(settings, 'mcpServers', { url, headers: { ...bearer(`\${env:${KEY}}`), ...headers } }),
  },
  vscode: {
    file: '.vscode/mcp.json',
    add(settings, { url, headers }) {
      const others = Array.isArray(settings.inputs) ? settings.inputs.filter(({ id }) => id !== INPUT) : [];
      const input = { type: 'promptString', id: INPUT, description: 'API key of Tidegate', password: true };
      const server = { type: 'http', url, headers: { ...bearer(`\${input:${INPUT}}`), ...headers } };
      return { ...withServer(settings, 'servers', server), inputs: [...others, input] };
    },
  },
};

export function register(program: Command, context: Context): void {
  const mcp = program
    .command('mcp')
    .summary('let an assistant look')
    .description('Access for assistants that speak MCP.');
  mcp
    .command('install')
    .description(
      `Writes the settings of a client into this folder, and prints them. The key stays in ${KEY}, or the client asks for it.`,
    )
    .addArgument(new Argument('<client>').choices(Object.keys(CLIENTS)))
    .action((name: string) => {
      const { url, environment } = context.settings();
      const { file, add } = CLIENTS[name] as (typeof CLIENTS)[string];
      const path = resolve(file);
      const headers = environment === undefined ? {} : { 'x-service-env': environment };
      const settings = add(readSettings(path, file), { url: `${url}/mcp`, headers });
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`);
      context.output().result({ file, settings }, () => {
        const output = context.output();
        output.line(`${file}:`);
        output.line(JSON.stringify(settings, null, 2));
      });
    });
}

function withServer(settings: Json, field: string, server: Json): Json {
  return { ...settings, [field]: { ...(settings[field] as Json | undefined), [SERVER]: server } };
}

function bearer(key: string): Json {
  return { Authorization: `Bearer ${key}` };
}

/** @throws CliError for a file that is no JSON object: it is not overwritten */
function readSettings(path: string, file: string): Json {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return {};
  }
  try {
    const settings: unknown = JSON.parse(text);
    if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings as Json;
  } catch {}
  throw usageError(`${file} is not a JSON object`, 'Mend it, or move it away; comments are not JSON');
}
