import { lazy, Suspense } from 'react';
import { Popover } from '../../ui/popover.tsx';
import type { SavedViewsMenuProps } from './saved-views-panel.tsx';

const SavedViewsPanel = lazy(() => import('./saved-views-panel.tsx'));

/** Views of a list: filters, columns and density under a name. The service keeps them for the user. */
export function SavedViewsMenu(props: SavedViewsMenuProps) {
  return (
    <Popover label="Views" icon="bookmark">
      {(close) => (
        <Suspense>
          <SavedViewsPanel {...props} onClose={close} />
        </Suspense>
      )}
    </Popover>
  );
}
