import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Deploy } from '../../api/types.ts';
import { Time } from '../../ui/time.tsx';
import { deployText, originText } from './deploy-text.ts';

/** A deploy in a list; its functions when it is opened.
 *  @param linksToApp where the list is not on the page of the app */
export function DeployItem({ deploy, linksToApp = false }: { deploy: Deploy; linksToApp?: boolean }) {
  const { at, by, deploy_id, functions, changes } = deploy;
  const named = functions.added.length + functions.removed.length + functions.changed.length;
  const hasDetails = named > 0 || changes.length > 0;
  return (
    <li className="px-4 py-2.5">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-48 break-words first-letter:uppercase">{deployText(deploy)}</span>
        <span className="text-sm text-muted">
          {deploy_id !== null && <span className="font-mono text-xs">{deploy_id} · </span>}
          {linksToApp && (
            <>
              <Link to="/apps/$name" params={{ name: deploy.app }} className="text-accent underline">
                {deploy.app}
              </Link>
              {' · '}
            </>
          )}
          {originText(by)} · <Time at={at} />
        </span>
      </div>
      {hasDetails && (
        <details className="mt-1 text-sm">
          <summary className="w-fit cursor-pointer rounded text-muted hover:text-text">What changed</summary>
          <Changes deploy={deploy} />
        </details>
      )}
    </li>
  );
}

const FIELD_TERMS = { url: 'URL', sdk: 'SDK', framework: 'Framework', deploy_id: 'Build' } as const;

function Changes({ deploy }: { deploy: Deploy }) {
  const { changes, functions } = deploy;
  return (
    <dl className="mt-1 space-y-1 border-l-2 border-line pl-3">
      {changes.map(({ field, from }) => (
        <Change key={field} term={FIELD_TERMS[field]}>
          <span className="font-mono text-xs break-all">
            {from ?? 'none'} → {deploy[field] ?? 'none'}
          </span>
        </Change>
      ))}
      {functions.added.map((id) => (
        <Change key={id} term="Added">
          <FunctionLink id={id} />
        </Change>
      ))}
      {functions.changed.map(({ id, fields }) => (
        <Change key={id} term="Changed">
          <FunctionLink id={id} /> <span className="text-muted">({fields.join(', ')})</span>
        </Change>
      ))}
      {functions.removed.map((id) => (
        <Change key={id} term="Removed">
          <FunctionLink id={id} />
        </Change>
      ))}
      {functions.omitted > 0 && <Change term="Others">{functions.omitted} more functions</Change>}
    </dl>
  );
}

function Change({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      <dt className="w-20 shrink-0 text-muted">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

function FunctionLink({ id }: { id: string }) {
  return (
    <Link to="/functions/$id" params={{ id }} className="font-mono text-xs break-all hover:text-accent hover:underline">
      {id}
    </Link>
  );
}
