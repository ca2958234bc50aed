// A dialog that a link can open: the page's address says so (`?dialog=key`). The palette's actions
// lead to these.
import { useNavigate, useSearch } from '@tanstack/react-router';

/** `may`: for others such a link opens nothing. */
export function useDialogInAddress(
  name: string,
  may: boolean,
): [opened: boolean, way: { open: () => void; close: () => void }] {
  const { dialog } = useSearch({ strict: false });
  const navigate = useNavigate();
  const show = (shown: string | undefined) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, dialog: shown }),
      replace: true,
    });
  return [may && dialog === name, { open: () => show(name), close: () => show(undefined) }];
}
