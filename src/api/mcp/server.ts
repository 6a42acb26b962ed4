/** `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions, so that any web process answers any request. The tools are
 *  operations of the REST API (tools.ts), with the access of the caller. */

import type * as Library from '@modelcontextprotocol/server';
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { refOf } from '../../model/environment.ts';
import { closestName } from '../../model/values/closest-name.ts';
import { isShallowJson, MAX_DEPTH, parseExact } from '../../model/values/json.ts';
import { loadOnce } from '../../model/values/load-once.ts';
import { toServiceError } from '../../store/redis/connection/connection.ts';
import { VERSION } from '../../version.ts';
import { allow, environmentOf } from '../auth/guard.ts';
import { parseJson, readBody } from '../http/body.ts';
import { countRequests, type RequestLimits } from '../http/rate-limit.ts';
import type { Context, Router } from '../http/router.ts';
import { admit, bodyIn, carryOut, grantedAccess, type MountDeps } from '../rest/mount.ts';
import type { GivenInput, Route } from '../rest/route.ts';
import { textOf } from './results.ts';
import { type Part, type Tool, toolsOf } from './tools.ts';

const BODY_MAX_BYTES = 262_144;
const DEFAULT_LIMIT = '20';
const INSTRUCTIONS = `Tidegate receives events and webhooks and runs functions on them. To explain what happened: search for an ID, an order
number or a part of an error; read the event, the runs that it started and the decisions about it; then the history of a run. Times are ISO 8601 in UTC.
Tools that change something say so; ask the person before you use one.`;

export interface McpDeps extends Pick<MountDeps, 'environments' | 'principals' | 'auditLogger' | 'targetNames'> {
  routes: readonly Route[];
  requestLimits: RequestLimits;
  publicUrl: string | undefined;
  /** The setting MCP_PAYLOADS. */
  withPayloads: boolean;
  log: Logger;
}

export function mcpRoute(router: Router, deps: McpDeps): void {
  // Loaded with the first request: it takes 0.2 s of CPU time, and few installations use it.
  const protocol = loadOnce(() => Protocol.load(deps));
  router.on('all', '/mcp', async (ctx) => {
    await (await protocol()).respond(ctx);
  });
}

class Protocol {
  readonly #deps: McpDeps;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #library: typeof Library;

  private constructor(deps: McpDeps, library: typeof Library) {
    this.#deps = deps;
    this.#library = library;
    this.#tools = new Map(toolsOf(deps.routes).map((tool) => [tool.name, tool]));
  }

  static async load(deps: McpDeps): Promise<Protocol> {
    return new Protocol(deps, await import('@modelcontextprotocol/server'));
  }

  async respond(ctx: Context): Promise<void> {
    const { method, headers, url } = ctx.req;
    const isBodyAwaited = !ctx.req.complete;
    const body = method === 'POST' ? await readBody(ctx.req, BODY_MAX_BYTES) : undefined;
    if (isBodyAwaited) await this.#deps.principals.confirm(ctx);
    const message = body && messageIn(body);
    // Protocol versions before 2025-06-18 have batches. Their first message is counted as the request.
    const more = Array.isArray(message) ? message.length - 1 : 0;
    if (more > 0) await countRequests(ctx, more, this.#deps.requestLimits);
    const given = Object.entries(headers).filter(([name]) => name === 'accept' || name.startsWith('mcp-'));
    const request = new Request(new URL(url ?? '/', 'http://service'), {
      method: method ?? 'GET',
      headers: [
        ...given.map(([name, value]): [string, string] => [name, String(value)]),
        ['content-type', 'application/json'],
      ],
    });
    const response = await this.#handler(ctx).fetch(request, { parsedBody: message });
    ctx.status = response.status;
    const type = response.headers.get('content-type');
    if (type !== null) ctx.set('content-type', type);
    ctx.body = response.body === null ? null : await response.text();
  }

  #handler(ctx: Context): Library.McpHttpHandler {
    const { createMcpHandler } = this.#library;
    // The server announces nothing later, so a stream would only stay open.
    return createMcpHandler(() => this.#server(ctx), { maxSubscriptions: 0 });
  }

  #server(ctx: Context): Library.Server {
    const { Server } = this.#library;
    const { publicUrl } = this.#deps;
    const docs = `The docs of this version: ${publicUrl ?? ''}/llms.txt.`;
    const server = new Server(
      { name: 'tidegate', version: VERSION },
      { capabilities: { tools: {} }, instructions: `${INSTRUCTIONS} ${docs}` },
    );
    server.setRequestHandler('tools/list', async () => ({ tools: this.#toolsOf(ctx).map(({ listed }) => listed) }));
    server.setRequestHandler('tools/call', async ({ params }) => this.#call(ctx, params.name, params.arguments ?? {}));
    return server;
  }

  #toolsOf(ctx: Context): Tool[] {
    return [...this.#tools.values()].filter(({ route }) => this.#isOpen(ctx, route));
  }

  #isOpen(ctx: Context, route: Route): boolean {
    try {
      const name = environmentOf(ctx);
      allow(ctx, route, refOf(name, this.#deps.environments.find(name)));
      return true;
    } catch {
      return false;
    }
  }

  async #call(ctx: Context, name: string, given: Record<string, unknown>) {
    try {
      const tool = this.#tools.get(name) ?? unknownTool(name, this.#toolsOf(ctx));
      await admit(ctx, tool.route, this.#deps);
      const input = inputOf(ctx, tool, given);
      tool.checkParams(input);
      const granted = await grantedAccess(ctx, tool.route, input);
      const reply = await carryOut(ctx, tool.route, input, granted, this.#deps);
      try {
        return { content: [{ type: 'text' as const, text: textOf(reply, tool.route, this.#deps.withPayloads) }] };
      } finally {
        reply.onSent?.();
      }
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (!(error instanceof ServiceError)) this.#deps.log.error({ err: error, tool: name }, 'a tool failed');
      const text =
        error instanceof ServiceError
          ? `${error.code}: ${error.message}`
          : 'internal: the service failed; its log says why';
      return { isError: true, content: [{ type: 'text' as const, text }] };
    }
  }
}

function unknownTool(name: string, tools: readonly Tool[]): never {
  const close = closestName(
    name,
    tools.map((tool) => tool.name),
  );
  throw new ServiceError('not_found', {
    detail: `there is no tool ${JSON.stringify(name.slice(0, 100))}${close ? `; did you mean "${close}"?` : ''}`,
  });
}

/** Numbers keep all digits.
 *  @throws ServiceError body_not_json, input_invalid */
function messageIn(body: Buffer): unknown {
  const text = body.toString('utf8');
  const message = parseJson(text, parseExact);
  if (isShallowJson(text)) return message;
  throw new ServiceError('input_invalid', { detail: `the message is nested deeper than ${MAX_DEPTH} levels` });
}

/** Arguments are as in JSON; parameters of paths and queries are texts. Unknown ones go to the body or the query, whose
 *  validation names them.
 *  @throws ServiceError body_too_large */
function inputOf(ctx: Context, { route, partOf }: Tool, given: Record<string, unknown>): GivenInput {
  const all = Object.entries(given);
  const partOfArgument = (name: string) => partOf.get(name) ?? (route.body ? 'body' : 'query');
  const inPart = (part: Part) => all.filter(([name]) => partOfArgument(name) === part);
  const texts = (part: Part) => Object.fromEntries(inPart(part).map(([name, value]) => [name, textIn(value)]));
  return {
    params: texts('params'),
    query: { ...(partOf.get('limit') === 'query' && { limit: DEFAULT_LIMIT }), ...texts('query') },
    body: bodyIn(ctx, route, JSON.stringify(Object.fromEntries(inPart('body')))),
  };
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
