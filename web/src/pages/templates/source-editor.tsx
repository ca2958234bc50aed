// The editor for a template's source, with markers where it is wrong. A chunk of its own:
// CodeMirror is large.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, foldGutter, indentOnInput } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import type { Fault } from '../../../../src/client/calls.ts';
import { appearance, language } from './codemirror.ts';

export interface EditorHandle {
  /** Puts the cursor where a fault is. */
  go(fault: Fault): void;
}

interface SourceEditorProps {
  value: string;
  onChange: (value: string) => void;
  faults: readonly Fault[];
  label: string;
  handle?: Ref<EditorHandle>;
}

export function SourceEditor({ value, onChange, faults, label, handle }: SourceEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const newest = useRef(onChange);
  newest.current = onChange;

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later values go in by the effects below
  useEffect(() => {
    const view = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          lintGutter(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          autocompletion(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          // Tab is left to the browser, so that the keyboard can leave the editor (WCAG 2.1.2).
          keymap.of([
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...completionKeymap,
            ...lintKeymap,
          ]),
          language(),
          appearance,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) newest.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    return () => view.destroy();
  }, []);

  useEffect(() => {
    const view = editor.current;
    if (view && view.state.doc.toString() !== value) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
    }
  }, [value]);

  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const diagnostics = faults.map((fault): Diagnostic => {
      const from = placeOf(view.state.doc, fault);
      const to = Math.max(from, view.state.doc.lineAt(from).to);
      return { from, to, severity: 'error', message: fault.message };
    });
    view.dispatch(setDiagnostics(view.state, diagnostics));
  }, [faults]);

  useImperativeHandle(handle, () => ({
    go(fault) {
      const view = editor.current;
      if (!view) return;
      const at = placeOf(view.state.doc, fault);
      view.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      });
      view.focus();
    },
  }));

  return <div ref={host} className="source-editor" />;
}

/** Lines and columns count from 1, and may be of a text that has changed since. */
function placeOf(doc: Text, { line, column }: Fault): number {
  const found = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
  return Math.min(found.from + Math.max((column ?? 1) - 1, 0), found.to);
}
