import { Card } from '../../ui/page.tsx';

/** URL of the last registration, while the app still responded at its known path. */
export function DeclinedUrl({ url }: { url: string }) {
  return (
    <Card title="Another path not used">
      <p className="px-4 py-3 text-sm text-muted">
        The last registration named <span className="font-mono text-xs break-all">{url}</span>. The app still answers at
        its known path, and stays there. Anybody can cause this by a request with another path: register the app at this
        URL only if it has moved.
      </p>
    </Card>
  );
}
