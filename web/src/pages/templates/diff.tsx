// What changed between two sources, in one column. A chunk of its own, with CodeMirror.
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { appearance, language } from './codemirror.ts';

interface DiffProps {
  before: string;
  now: string;
  /** No higher than it needs to be. */
  low?: boolean;
}

export function Diff({ before, now, low = false }: DiffProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: now,
        extensions: [
          lineNumbers(),
          language,
          appearance,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ 'aria-label': 'What changed', tabindex: '0' }),
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: {} }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, now]);
  return <div ref={host} className="source-editor diff" data-low={low || undefined} />;
}
