// Saving and publishing what the editor shows, and the dialogs they may open.
import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { readNow, useChange } from '../../operations.ts';
import { later } from '../../parts/later.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { draftOf, isSameDraft } from './draft.ts';
import { isStale, templateReads } from './reads.ts';
import type { Work } from './work.ts';

const ConflictDialog = later(async () => (await import('./conflict.tsx')).ConflictDialog);
const PublishDialog = later(async () => (await import('./publish-dialog.tsx')).PublishDialog);

/**
 * Saving creates a new version, publishing puts it in use. Both name the version shown here: what
 * someone else has saved since is neither overwritten nor published.
 */
export function useVersionActions(slug: string, work: Work) {
  const { draft, saved, base, dirty } = work;
  const queries = useQueryClient();
  const save = useChange('templates.put', { changes: templateReads });
  const [conflict, setConflict] = useState(false);
  const [publishing, setPublishing] = useState<number>();
  const refused = (fault: unknown) => {
    if (isStale(fault)) setConflict(true);
    else tellFault(fault);
  };
  const keep = async () => {
    // The stream is not part of a version: an editor that was open for long must not undo another
    // person's choice.
    const stream = draft.stream === saved.stream ? undefined : draft.stream;
    const { version } = await save
      .mutateAsync({ slug, ...draft, stream, base_version: base })
      .catch(findSaved);
    work.isSaved(version);
    return version;
  };
  /**
   * Saved by a call whose answer was lost: the version that someone else seems to have saved is the
   * one shown here.
   */
  const findSaved = async (fault: unknown): Promise<{ version: number }> => {
    if (!isStale(fault)) throw fault;
    const newest = await readNow(queries, 'templates.getVersion', { slug, version: 'newest' });
    if (!isSameDraft(draftOf(newest), draft)) throw fault;
    return { version: newest.version! };
  };
  const publish = async () => setPublishing(dirty ? await keep() : base);
  return {
    saving: save.isPending,
    fault: save.error,
    save: () => void keep().then((made) => tellDone(`Saved as version ${made}`), refused),
    publish: () => void publish().catch(refused),
    dialogs: (
      <Suspense>
        {conflict && (
          <ConflictDialog
            {...{ slug, base }}
            mine={draft}
            onMerged={(merged, theirs) => {
              work.merge(merged, theirs);
              setConflict(false);
            }}
            onClose={() => setConflict(false)}
          />
        )}
        {publishing !== undefined && (
          <PublishDialog
            slug={slug}
            version={publishing}
            newest={publishing}
            onStale={() => {
              setPublishing(undefined);
              setConflict(true);
            }}
            onClose={() => setPublishing(undefined)}
          />
        )}
      </Suspense>
    ),
  };
}
