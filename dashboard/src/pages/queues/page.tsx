import { useEffect, useState } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';

const BOARD = '/queues';

/** Bull Board in an iframe (src/api/operations/board.ts) that fills the page. */
export default function QueuesPage() {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    document.title = 'Queues · Tidegate';
  }, []);
  return (
    <div className="flex h-[calc(100dvh-3.5rem)] flex-col">
      <header className="flex items-baseline gap-4 px-4 py-3 sm:px-8">
        <h1 className="text-lg font-semibold tracking-tight">Queues</h1>
        <p className="hidden min-w-0 flex-1 truncate text-muted sm:block">Jobs of all environments, in Bull Board.</p>
        <a
          href={BOARD}
          target="_blank"
          rel="noreferrer"
          className="ml-auto inline-flex items-center gap-1.5 text-sm whitespace-nowrap text-muted hover:text-text"
        >
          Open in a new tab
          <Icon name="external" />
        </a>
      </header>
      {!loaded && <Loading />}
      <iframe
        src={BOARD}
        title="Bull Board"
        onLoad={() => setLoaded(true)}
        className={`w-full flex-1 border-t border-line ${loaded ? '' : 'invisible'}`}
      />
    </div>
  );
}
