import { Button } from '../../ui/button.tsx';
import { useErrorGroup } from './queries.ts';

const SHOWN = 40;

/** Says that only the runs of one error group are listed, and removes this filter. */
export function ErrorGroupFilter({ fingerprint, onRemove }: { fingerprint: string; onRemove(): void }) {
  const { data } = useErrorGroup(fingerprint);
  const text = data ? data.message || data.name : fingerprint;
  return (
    <Button icon="close" title="Show runs with other errors too" onClick={onRemove}>
      Error: {text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}
    </Button>
  );
}
