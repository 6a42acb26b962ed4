import { useId } from 'react';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorAlert } from '../../../ui/error-alert.tsx';
import { Loading } from '../../../ui/loading.tsx';
import { NO_PROVIDER, ProviderPicker } from './provider-picker.tsx';
import { useCreateWebhook } from './use-create-webhook.ts';
import { WebhookForm } from './webhook-form.tsx';

/** Step of the dialog in which the provider is chosen; any other is the ID of a provider. */
export const CHOOSE = 'choose';

interface CreateWebhookDialogProps {
  /** undefined: closed. */
  step: string | undefined;
  onStep(step: string | undefined): void;
}

/** Asks for the provider, then for the fields that its webhook needs. */
export function CreateWebhookDialog({ step, onStep }: CreateWebhookDialogProps) {
  const form = useId();
  const id = step === CHOOSE || step === NO_PROVIDER ? undefined : step;
  const provider = useProvider(id);
  const creation = useCreateWebhook();
  const isReady = step === NO_PROVIDER || provider.data !== undefined;
  const change = (to: string | undefined) => {
    creation.reset();
    onStep(to);
  };
  return (
    <Dialog
      open={step !== undefined}
      wide={step === CHOOSE}
      title={provider.data && id ? `Create webhook: ${provider.data.name}` : 'Create webhook'}
      onClose={() => change(undefined)}
      footer={
        <>
          {step !== CHOOSE && (
            <Button icon="chevron-left" className="mr-auto" onClick={() => change(CHOOSE)}>
              Providers
            </Button>
          )}
          <Button onClick={() => change(undefined)}>Cancel</Button>
          {step !== CHOOSE && (
            <Button variant="primary" type="submit" form={form} busy={creation.isPending} disabled={!isReady}>
              Create
            </Button>
          )}
        </>
      }
    >
      {step === CHOOSE && <ProviderPicker onChoose={change} />}
      {id !== undefined && provider.isPending && <Loading />}
      {id !== undefined && provider.isError && (
        <ErrorAlert error={provider.error} onRetry={() => void provider.refetch()} />
      )}
      {step !== CHOOSE && isReady && (
        <WebhookForm
          key={step}
          id={form}
          provider={id === undefined ? undefined : provider.data}
          error={creation.error}
          onCreate={creation.mutate}
        />
      )}
    </Dialog>
  );
}
