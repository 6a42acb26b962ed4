/** A body may take a minute to arrive after the request was authenticated for an environment. Meanwhile the environment may be deleted,
 *  and another one created under its name, so the current environment is compared with the authenticated one. */
import { ServiceError } from '../../errors.ts';
import { type Environment, isSameEnvironment } from '../../model/environment.ts';
import type { Context, Proven } from '../http/router.ts';

type ProvenState = Pick<Context, 'state'>;

/** @param proven `environment` is undefined if none had the name */
export function rememberProven({ state }: ProvenState, proven: Proven): void {
  state.proven = proven;
}

export function isStillProven({ state: { proven } }: ProvenState, present: Environment | undefined): boolean {
  return proven !== undefined && isSameEnvironment(proven.environment, present);
}

/** @param present the environment that the name means now
 *  @throws ServiceError environment_changed */
export function requireProven(ctx: ProvenState, present: Environment | undefined): void {
  if (!isStillProven(ctx, present)) throw environmentChanged();
}

export function environmentChanged(): ServiceError {
  return new ServiceError('environment_changed', {
    detail: 'it was deleted or made anew while the request arrived; send the request again',
  });
}
