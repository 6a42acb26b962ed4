/** A body may take a minute to arrive, after the request has proven its right to an environment. Meanwhile the environment may be deleted, and
 *  another made under its name: what the name means afterwards is compared with what was proven. */
import { ServiceError } from '../../errors.ts';
import { type Environment, isStill } from '../../model/environment.ts';
import type { Context, Proven } from '../http/router.ts';

type ProvenState = Pick<Context, 'state'>;

/** @param proven `environment` is undefined where there is none of the name */
export function rememberProven({ state }: ProvenState, proven: Proven): void {
  state.proven = proven;
}

export function isStillProven({ state: { proven } }: ProvenState, present: Environment | undefined): boolean {
  return proven !== undefined && isStill(proven.environment, present);
}

/** @param present what the name means now
 *  @throws ServiceError environment_changed */
export function requireProven(ctx: ProvenState, present: Environment | undefined): void {
  if (!isStillProven(ctx, present)) throw environmentChanged();
}

export function environmentChanged(): ServiceError {
  return new ServiceError('environment_changed', {
    detail: 'it was deleted or made anew while the request arrived; send the request again',
  });
}
