/** Writes audit entries and rejected sign-ins to the store, and each as one line of the service log, which outlives the store. A failure to
 *  write does not undo the action. */
import { ServiceError } from '../../errors.ts';
import type { Logger } from '../../log.ts';
import { addressBlock } from '../../model/network/address.ts';
import { Composed } from '../../model/values/composed.ts';
import type { AuditEntry, AuditLog } from '../../store/auth/audit-log.ts';
import type { Rejection, RejectionLog } from '../../store/auth/rejection-log.ts';
import { clientAddress } from '../http/incoming-request.ts';
import type { Context } from '../http/router.ts';
import { SignInThrottled } from './accounts.ts';

export type AuditedAction = Omit<AuditEntry, 'at' | 'ip' | 'requestId'>;

export class AuditLogger extends Composed<{ auditLog: AuditLog; rejectionLog: RejectionLog; log: Logger }> {
  async log(ctx: Context, { who: { kind, id, name }, ...action }: AuditedAction): Promise<void> {
    const { requestId } = ctx.state;
    const entry = { ...action, who: { kind, id, name }, ip: clientAddress(ctx) };
    this.deps.log.info({ request_id: requestId, audit: entry }, 'audit');
    await this.deps.auditLog
      .append({ ...entry, at: Date.now(), requestId })
      .catch((error: Error) =>
        this.deps.log.error({ request_id: requestId, err: error.message }, 'cannot write the audit entry'),
      );
  }

  /** @param name the email address or user name of the attempt */
  async logRejection(ctx: Context, action: string, name: string, error: ServiceError): Promise<void> {
    const { requestId } = ctx.state;
    const ip = clientAddress(ctx);
    // While an address is throttled, an attacker there may try any number of names: they share one entry.
    const isAboutAddress = error instanceof SignInThrottled && error.limit === 'address';
    const rejection: Rejection = {
      action,
      reason: error.code ?? error.name,
      name: isAboutAddress ? '' : name,
      address: addressBlock(ip),
    };
    this.deps.log.info({ request_id: requestId, rejection: { ...rejection, name, ip } }, 'audit: rejected');
    await this.deps.rejectionLog
      .record(rejection, requestId, Date.now())
      .catch((error: Error) =>
        this.deps.log.error({ request_id: requestId, err: error.message }, 'cannot write to the rejection log'),
      );
  }

  /** Logs the rejection of the attempt, unless the service itself failed.
   *  @param name the email address or user name of the attempt */
  async orLogRejection<T>(ctx: Context, action: string, name: string, attempt: Promise<T>): Promise<T> {
    try {
      return await attempt;
    } catch (error) {
      if (error instanceof ServiceError && error.status < 500) await this.logRejection(ctx, action, name, error);
      throw error;
    }
  }
}
