/** The routes that all kinds of bulk operations share: list, get, pause, resume and cancel. */
import type { z } from 'zod';
import type { ServiceError } from '../../errors.ts';
import {
  type BulkOperationRef,
  type BulkOperationStatus,
  STATUS_CHANGES,
  type StatusChange,
} from '../../model/bulk/bulk-operation.ts';
import type { BulkOperations } from '../../store/bulk/bulk-operations.ts';
import { listReply } from '../rest/lists.ts';
import type { Input, Reply, Route, Routes } from '../rest/route.ts';

interface Operation extends BulkOperationRef {
  status: BulkOperationStatus;
}

/** Differences between the kinds. */
export interface OperationKind<One extends Operation, Params extends z.ZodObject> {
  routes: Routes;
  /** Path of one operation, such as `/v1/replays/:id`. */
  path: string;
  params: Params;
  /** Last word of operation IDs, such as `Replay`. */
  name: string;
  /** Noun for summaries: `replay`, or `replay of a webhook`. */
  noun: string;
  plural: string;
  data: z.ZodObject;
  present(operation: One): unknown;
  store: Pick<BulkOperations<never, never>, 'change'>;
  /** @throws ServiceError not_found */
  read(env: string, params: z.output<Params>): Promise<One>;
  /** The error of a change that is no longer possible. Absent: the operation stays unchanged. */
  refusal?(operation: One): ServiceError;
}

interface List<One, Params extends z.ZodObject | undefined, Query extends z.ZodObject> {
  /** Absent if the list's path has no parameters. */
  params?: Params;
  query: Query;
  description: string;
  /** Default: the schema of one operation. */
  data?: z.ZodType;
  present?(operation: One): object;
  /** @returns a page, newest first, and the position of the next page */
  find(
    input: Input<Params extends z.ZodObject ? z.output<Params> : undefined, z.output<Query>, undefined>,
  ): Promise<{ page: One[]; next: string | undefined }>;
}

export function operationRoutes<One extends Operation, Params extends z.ZodObject>(kind: OperationKind<One, Params>) {
  const { routes, path, params, name, noun, data } = kind;
  const present = (operation: One) => kind.present(operation) as object;

  /** If the operation already has the status, nothing changes, and the audit log gets no entry. */
  async function change(
    env: string,
    given: z.output<Params>,
    { to, from }: { to: BulkOperationStatus; from: readonly BulkOperationStatus[] },
  ): Promise<Reply> {
    const isChanged = await kind.store.change(await kind.read(env, given), to, from, Date.now());
    const operation = await kind.read(env, given);
    const isReached = operation.status === to || (to === 'cancelled' && operation.status === 'cancelling');
    if (!isChanged && !isReached && kind.refusal) throw kind.refusal(operation);
    return { data: present(operation), ...(!isChanged && { audited: false }) };
  }

  return {
    change,

    list<Query extends z.ZodObject, ListParams extends z.ZodObject | undefined = undefined>(
      list: List<One, ListParams, Query>,
    ): Route {
      return routes.get<ListParams, Query>(path.slice(0, path.lastIndexOf('/')), {
        operationId: `list${name}s`,
        summary: `List ${kind.plural}`,
        description: list.description,
        ...(list.params && { params: list.params }),
        query: list.query,
        data: (list.data ?? data).array(),
        async handle(input) {
          const { page, next } = await list.find(input as Parameters<typeof list.find>[0]);
          return listReply(page, { present: list.present ?? present, positionOf: ({ id }) => id, next });
        },
      });
    },

    get(): Route {
      return routes.get(path, {
        operationId: `get${name}`,
        summary: `Get a ${noun}`,
        params,
        data,
        async handle({ env, params: given }) {
          return { data: present(await kind.read(env, given as z.output<Params>)) };
        },
      });
    },

    changes(descriptions: Partial<Record<StatusChange, string>>, verbs: readonly StatusChange[] = VERBS): Route[] {
      return verbs.map((verb) =>
        routes.post(`${path}/${verb}`, {
          operationId: `${verb}${name}`,
          summary: `${VERB_TEXTS[verb]} ${noun}`,
          ...(descriptions[verb] && { description: descriptions[verb] }),
          params,
          data,
          errors: ['not_found', ...(kind.refusal ? (['replay_ended'] as const) : [])],
          handle: ({ env, params: given }) => change(env, given as z.output<Params>, STATUS_CHANGES[verb]),
        }),
      );
    },
  };
}

const VERBS = Object.keys(STATUS_CHANGES) as StatusChange[];
const VERB_TEXTS = { pause: 'Pause a', resume: 'Resume a paused', cancel: 'Cancel a' } as const;
