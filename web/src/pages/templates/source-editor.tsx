// The editor for a template's source, with markers at its errors. A chunk of its own: CodeMirror is
// large.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import type { Diagnostic } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, type Text } from '@codemirror/state';
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
import { tellMissing } from '../../parts/later.tsx';
import { appearance, language } from './codemirror.ts';
import type { Draft } from './draft.ts';

export interface EditorHandle {
  /** Puts the cursor where a fault is. */
  go(fault: Fault): void;
}

interface SourceEditorProps {
  value: string;
  onChange: (value: string) => void;
  faults: readonly Fault[];
  /** Offered while someone types. */
  variables: Draft['variables'];
  label: string;
  handle?: Ref<EditorHandle>;
}

export function SourceEditor(props: SourceEditorProps) {
  const { value, onChange, faults, variables, label, handle } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const newest = useRef(onChange);
  newest.current = onChange;
  const known = useRef(variables);
  known.current = variables;
  const shown = useRef(faults);
  shown.current = faults;

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later values go in by the effects below
  useEffect(() => {
    const view = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          marks.of(NONE_YET),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          // Before the other keys: Backspace removes both brackets of an empty pair.
          aids.of(NONE_YET),
          // Tab is left to the browser, so that the keyboard can leave the editor (WCAG 2.1.2).
          keymap.of([...defaultKeymap, ...historyKeymap]),
          language,
          appearance,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) newest.current(update.state.doc.toString());
            if (update.focusChanged && update.view.hasFocus) {
              help(update.view, () => known.current).catch(tellMissing);
            }
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest faults are what is shown
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    // Set when the markers are drawn: the text may have changed since.
    mark(view, () => shown.current.map((fault) => diagnosticOf(view.state.doc, fault))).catch(
      tellMissing,
    );
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

const aids = new Compartment();
const NONE_YET: Extension = [];

/** What only someone who types needs. */
async function help(view: EditorView, variables: () => Draft['variables']): Promise<void> {
  if (aids.get(view.state) !== NONE_YET) return;
  const before = view.state.doc;
  const { startCompletion, typingAids } = await import('./typing-aids.ts');
  view.dispatch({ effects: aids.reconfigure(typingAids(variables)) });
  // Someone who typed before this was loaded is offered what the next keystroke would have offered.
  if (!view.state.doc.eq(before) && isInsideTag(view.state)) startCompletion(view);
}

/** The cursor is after a `{{` or `{%` on its line that is still open. */
function isInsideTag({ doc, selection }: EditorState): boolean {
  const { head } = selection.main;
  return /\{[{%][^}]*$/.test(doc.sliceString(doc.lineAt(head).from, head));
}

const marks = new Compartment();

/** Markers at the errors; the code that draws them is fetched for the first error. */
async function mark(view: EditorView, diagnosticsOf: () => Diagnostic[]): Promise<void> {
  const isMarked = marks.get(view.state) !== NONE_YET;
  if (!isMarked && diagnosticsOf().length === 0) return;
  const { lintGutter, lintKeymap, setDiagnostics } = await import('@codemirror/lint');
  if (marks.get(view.state) === NONE_YET) {
    view.dispatch({ effects: marks.reconfigure([lintGutter(), keymap.of(lintKeymap)]) });
  }
  view.dispatch(setDiagnostics(view.state, diagnosticsOf()));
}

function diagnosticOf(doc: Text, fault: Fault): Diagnostic {
  const from = placeOf(doc, fault);
  const to = Math.max(from, doc.lineAt(from).to);
  return { from, to, severity: 'error', message: fault.message };
}

/** Lines and columns count from 1, and may refer to a text that has changed since. */
function placeOf(doc: Text, { line, column }: Fault): number {
  const found = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
  return Math.min(found.from + Math.max((column ?? 1) - 1, 0), found.to);
}
