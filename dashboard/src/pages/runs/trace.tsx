import { CopyButton, Id } from '../../ui/code-block.tsx';
import { Icon } from '../../ui/icon.tsx';

const ID_CHARS = 13;

/** The ID of a run's trace, and the way to it.
 *  @param url null: the installation has no setting TRACE_URL_TEMPLATE */
export function Trace({ id, url }: { id: string; url: string | null }) {
  return (
    <span className="flex items-center gap-1">
      {url === null ? (
        <Id id={id} maxChars={ID_CHARS} />
      ) : (
        <a href={url} target="_blank" rel="noreferrer" className="flex items-center gap-1 text-accent hover:underline">
          <Id id={id} maxChars={ID_CHARS} />
          <Icon name="external" className="size-3.5" />
          <span className="sr-only">(opens your tracing)</span>
        </a>
      )}
      <CopyButton text={id} label="Copy trace ID" />
    </span>
  );
}
