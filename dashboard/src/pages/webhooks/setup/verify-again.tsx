import { ApiError } from '../../../api/client.ts';
import type { ProviderDetails, Webhook } from '../../../api/types.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { explanationOf } from '../failure-reasons.ts';
import { reasonLabel } from '../outcome.tsx';
import { SecretForm } from '../provider/secret-form.tsx';
import { type Rerun, useRerun } from '../requests/use-rerun.ts';

interface VerifyAgainProps {
  webhook: Webhook;
  provider: ProviderDetails;
  requestId: string;
}

/** Takes another secret, tries it on the request that was rejected, and processes that request. */
export function VerifyAgain({ webhook, provider, requestId }: VerifyAgainProps) {
  const rerun = useRerun(webhook.id);
  const isOfThis = rerun.variables?.requestId === requestId;
  const dryRun = (id: string) => rerun.mutate({ requestId: id, dryRun: true });
  const result = isOfThis ? rerun.data : undefined;
  const error = isOfThis ? rerun.error : null;
  return (
    <section aria-label="Verify again" className="space-y-4 border-t border-line p-4">
      {!result && (
        <SecretForm
          webhook={webhook}
          provider={provider}
          keepOldSeconds={0}
          submitLabel="Save and verify again"
          onSaved={() => dryRun(requestId)}
        />
      )}
      <div role="status" aria-live="polite" className="space-y-3">
        {error && <StillRejected error={error} />}
        {result?.dry_run && <Verified result={result} />}
      </div>
      <div className="flex flex-wrap gap-2">
        {result?.dry_run && (
          <Button
            variant="primary"
            icon="retry"
            busy={rerun.isPending}
            onClick={() => rerun.mutate({ requestId, dryRun: false })}
          >
            Re-run request
          </Button>
        )}
        {!result && webhook.secrets.length > 0 && (
          <Button icon="shield" busy={rerun.isPending} onClick={() => dryRun(requestId)}>
            Verify again
          </Button>
        )}
      </div>
    </section>
  );
}

function Verified({ result: { event, events, outcome, reason } }: { result: Rerun }) {
  const names = [...new Set((events.length > 0 ? events : event ? [event] : []).map(({ name }) => name))];
  return (
    <>
      <p className="flex items-center gap-2 font-medium text-good">
        <Icon name="shield" /> The request is verified now.
      </p>
      <p>
        {outcome === 'accepted' && names.length > 0
          ? `Run it again to make ${names.join(', ')}. Later requests need no more.`
          : `Run again, it is ${outcome}${reason ? `: ${reasonLabel(reason)}` : ''}.`}
      </p>
    </>
  );
}

function StillRejected({ error }: { error: Error }) {
  const reason = error instanceof ApiError ? error.details.reason : undefined;
  const explanation = explanationOf(typeof reason === 'string' ? reason : undefined);
  if (!explanation) return <ErrorAlert error={error} />;
  return (
    <div className="rounded-md bg-bad-soft px-3 py-2 text-sm">
      <p className="font-medium">Still not verified: {explanation.label}</p>
      <p className="break-words">{error.message}</p>
    </div>
  );
}
