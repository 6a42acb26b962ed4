import type { Webhook } from '../../../api/types.ts';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton } from '../../../ui/dialog.tsx';
import type { Draft } from './use-draft.ts';

/** Begins again with the provider's transform. It is not saved by that. */
export function DefaultTransformButton({ webhook, draft }: { webhook: Webhook; draft: Draft }) {
  const { data: provider } = useProvider(webhook.provider);
  if (!provider || provider.transform === draft.code) return null;
  const load = () => draft.edit(provider.transform);
  const title = `Transform with which webhooks of ${provider.name} begin`;
  if (!draft.dirty) {
    return (
      <Button variant="ghost" title={title} onClick={load}>
        Default
      </Button>
    );
  }
  return (
    <ConfirmButton
      variant="ghost"
      title="Begin with the default transform?"
      text="Your unsaved changes are lost."
      confirmLabel="Replace"
      onConfirm={load}
    >
      Default
    </ConfirmButton>
  );
}
