/** An editor of YAML, which is loaded when the first draft is opened. */
import { yaml } from '@codemirror/lang-yaml';
import { syntaxHighlighting } from '@codemirror/language';
import { lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { EditorView, minimalSetup } from 'codemirror';
import { useEffect, useRef } from 'react';
import { nonce } from '../cluster/settings.ts';
import classes from './details.module.css';

/** Replaces a selection itself: a browser would give the new text the style of the old one, which the page does not allow. */
const typedOver = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    // The document knows a selection earlier than the editor.
    const chosen = document.getSelection();
    if (inputType !== 'insertText' || data === null || !chosen || chosen.isCollapsed) return false;
    const { startContainer, startOffset, endContainer, endOffset } = chosen.getRangeAt(0);
    const from = view.posAtDOM(startContainer, startOffset);
    const to = view.posAtDOM(endContainer, endOffset);
    const selection = { anchor: from + data.length };
    view.dispatch({ changes: { from, to, insert: data }, selection, userEvent: 'input.type' });
    return true;
  },
});

export function YamlEditor(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  const { label, value } = props;
  const latest = useRef(props);
  latest.current = props;
  const frame = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  useEffect(() => {
    const view = new EditorView({
      doc: latest.current.value,
      parent: frame.current as HTMLDivElement,
      extensions: [
        minimalSetup,
        lineNumbers(),
        yaml(),
        syntaxHighlighting(classHighlighter),
        EditorView.lineWrapping,
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        typedOver,
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) latest.current.onChange(state.doc.toString());
        }),
      ],
    });
    editor.current = view;
    return () => view.destroy();
  }, [label]);
  useEffect(() => {
    const { state } = editor.current ?? {};
    const text = state?.doc.toString() ?? value;
    // Otherwise the cursor would move while the user types.
    if (text === value) return;
    editor.current?.dispatch({ changes: { from: 0, to: text.length, insert: value } });
  }, [value]);
  return <div ref={frame} className={`${classes.code} ${classes.editor} ${classes.tokens}`} />;
}
