// The draft on the editor's screen, next to the version it started from. Kept in this browser until
// it is saved.
import { useEffect, useState } from 'react';
import type { TemplateVersion } from '../../../../src/client/operations.ts';
import { useDraftKeeper } from '../../kept-draft.ts';
import { type Draft, draftOf, isSameDraft } from './draft.ts';

/** Starts from the newest version, or from what this browser kept of it. */
export function useWork(template: TemplateVersion) {
  const keeper = useDraftKeeper<Draft>(`template ${template.slug}`);
  const [begun] = useState(() => {
    const kept = keeper.find();
    return kept && !isSameDraft(kept.draft, draftOf(template)) ? kept : undefined;
  });
  const [restored, setRestored] = useState(begun?.at);
  const [draft, setDraft] = useState(() => begun?.draft ?? draftOf(template));
  const [saved, setSaved] = useState(() => draftOf(template));
  /** The newest version that the person who edits has seen. */
  const [base, setBase] = useState(begun?.base ?? template.version!);
  const dirty = !isSameDraft(draft, saved);
  useEffect(() => {
    if (dirty) keeper.keep(draft, base);
    else keeper.forget();
  }, [keeper, draft, base, dirty]);
  return {
    draft,
    saved,
    base,
    dirty,
    /** When the restored draft was written; undefined: nothing was restored. */
    restored,
    change: (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part })),
    isSaved: (version: number) => {
      setSaved(draft);
      setBase(version);
      setRestored(undefined);
    },
    /** The stream is not part of a version. */
    merge: (merged: Draft, theirs: TemplateVersion) => {
      setDraft(merged);
      setSaved(({ stream }) => ({ ...draftOf(theirs), stream }));
      setBase(theirs.version!);
    },
    discard: () => {
      setDraft(draftOf(template));
      setSaved(draftOf(template));
      setBase(template.version!);
      setRestored(undefined);
    },
  };
}

export type Work = ReturnType<typeof useWork>;
