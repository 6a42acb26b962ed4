import { Page } from '../../ui/page.tsx';

export default function AppsListPage() {
  return <Page title="apps">{null}</Page>;
}
