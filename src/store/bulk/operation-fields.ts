/** A bulk operation as fields of a hash: four JSON texts, its status, and counts. */
import type { BulkOperation, BulkOperationStatus } from '../../model/bulk/bulk-operation.ts';

/** Initial or changed values of an operation. */
export interface Fields<Position> {
  position?: Position | undefined;
  planned?: unknown;
  numbers?: Record<string, number>;
}

export function fieldsOf<Position>({ position, planned, numbers = {} }: Fields<Position>): Record<string, string> {
  return {
    ...(position !== undefined && { position: JSON.stringify(position) }),
    ...(planned !== undefined && { planned: JSON.stringify(planned) }),
    ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)])),
  };
}

/** @param active number of started runs that have not ended
 *  @returns undefined if there is no such operation */
export function operationOf<Definition extends { id: string }, Position>(
  env: string,
  fields: Record<string, string>,
  active: number,
): BulkOperation<Definition, Position> | undefined {
  const {
    definition,
    status,
    position = 'null',
    portion = '0',
    planned,
    waiting,
    done_at,
    digest: _,
    ...rest
  } = fields;
  if (definition === undefined || status === undefined) return undefined;
  const asked = JSON.parse(definition) as Definition;
  return {
    env,
    id: asked.id,
    definition: asked,
    status: status as BulkOperationStatus,
    position: JSON.parse(position) as Position,
    portion,
    ...(planned !== undefined && { planned: JSON.parse(planned) as unknown }),
    counts: { ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, Number(value)])), active },
    waiting,
    doneAt: done_at === undefined ? undefined : Number(done_at),
  };
}
