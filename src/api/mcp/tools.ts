/** The tools of `/mcp`: operations of the REST API that help to find out what happened, and to put it right. A tool has
 *  the input, the access, the limits and the errors of its operation. */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { paramsCheck } from '../http/path-ids.ts';
import type { GivenInput, Route } from '../rest/route.ts';

/** Keyed by operationId, in the order in which they are listed. The text says more than the operation's summary where an assistant needs it. */
const OPERATIONS: Record<string, string> = {
  search: 'Start here with an ID, an order number, a customer or a part of an error message.',
  getOverview: '',
  getStatus: '',
  listEvents: '`search` is a condition on what is in an event: `data.order == "A7"`.',
  getEvent: '',
  listEventRuns: 'Which functions an event has run.',
  listEventDecisions: 'Why functions did not run for an event.',
  getEventProvenance: '',
  listRuns: '`search` is a condition on what is in a run or its event.',
  getRun: 'Its `history` says what each step did, and where a run waits now.',
  getRunStep: '',
  listRunLogs: '',
  listErrorGroups: 'Why runs fail: one entry for each cause.',
  getErrorGroup: '',
  listFunctions: '',
  getFunction: '',
  getFunctionLimits: 'What its limits hold back, and for whom.',
  listLanes: '',
  listApps: '',
  listAppVersions: '',
  listDeploys: '',
  listWebhooks: '',
  getWebhook: '',
  listWebhookRequests: '',
  getWebhookRequest: '',
  getWebhookCompleteness: 'Whether everything that the provider sent has come.',
  listWebhookIssues: '',
  listDestinations: '',
  listHeldEvents: '',
  listSearchFields: '',
  listHealthChecks: '',
  listAuditEntries: 'Who changed what.',
  getWhatIf: '',
  testTransform: '',
  createWhatIf: '',
  sendEvent: 'A new event runs functions; it cannot be taken back.',
  invokeFunction: '',
  resendEvent: '',
  rerunRun: '',
  retryRunNow: '',
  resumeRun: '',
  cancelRun: '',
  createBulkAction: 'Begin with `dry_run`, which counts the runs.',
  pauseFunction: '',
  resumeFunction: '',
  pauseWebhook: '',
  resumeWebhook: '',
  rerunWebhookRequest: '',
  reconcileWebhook: '',
};

/** Operations that end something for good, or change it irrevocably. */
const DESTRUCTIVE = new Set(['cancelRun', 'createBulkAction', 'pauseFunction', 'pauseWebhook']);
const PARTS = ['params', 'query', 'body'] as const;
export type Part = (typeof PARTS)[number];

export interface Tool {
  name: string;
  route: Route;
  listed: ListedTool;
  /** The part of a request that has each argument. */
  partOf: ReadonlyMap<string, Part>;
  /** @throws ServiceError not_found for a parameter that is not an ID */
  checkParams(input: Pick<GivenInput, 'params'>): void;
}

export function toolsOf(routes: readonly Route[]): Tool[] {
  const byOperation = new Map(routes.map((route) => [route.operationId, route]));
  return Object.entries(OPERATIONS).map(([operationId, more]) => {
    const route = byOperation.get(operationId);
    if (!route) throw new Error(`no route has the operationId ${operationId}`);
    return toolOf(route, more);
  });
}

function toolOf(route: Route, more: string): Tool {
  const name = route.operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const partOf = new Map<string, Part>();
  const properties: NonNullable<ListedTool['inputSchema']['properties']> = {};
  const required: string[] = [];
  for (const part of PARTS) {
    const schema = route[part];
    if (!(schema instanceof z.ZodObject)) continue;
    const { properties: own = {}, required: needed = [] } = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      reused: 'inline',
    });
    for (const [field, described] of Object.entries(own)) {
      partOf.set(field, part);
      properties[field] = described as (typeof properties)[string];
    }
    required.push(...needed);
  }
  const description = [route.summary, more, route.description].filter(Boolean).join('. ').replaceAll('.. ', '. ');
  const check = paramsCheck<void>(route.path);
  const isRead = route.method === 'get' || route.audited === false;
  return {
    name,
    route,
    partOf,
    checkParams: (input) => check?.(input, () => undefined),
    listed: {
      name,
      description,
      inputSchema: { type: 'object', properties, required },
      annotations: { readOnlyHint: isRead, destructiveHint: DESTRUCTIVE.has(route.operationId), openWorldHint: false },
    },
  };
}
