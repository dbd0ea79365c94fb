// The editor: SQL with the words of patterns, marks where errors are, and names of columns to choose from.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const WORDS = `select from where group by having order limit as and or not in is null between like case when then else end with union
  all distinct join left right inner on partition over window rows range current row unbounded following preceding interval
  match_recognize measures one per match empty matches show omit unmatched after skip past last next to first initial seek pattern
  subset define segment prev running final classifier match_number permute within cluster sequence previous
  match_events match_trends time type types tie break ties strict seq return semantics output origin counts slide contiguous
  skip_till_any_match skip_till_next_match strict_contiguity partition_contiguity values true false asc desc nulls cast`;
const REX = SQLDialect.define({
  keywords: WORDS, types: "int bigint double string date timestamp boolean decimal float",
  builtin: "count sum avg min max abs round coalesce", backslashEscapes: true, slashComments: true,
  identifierQuotes: "`", operatorChars: "*+-%<>!=&|~^/?{}[]",
});
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--strong)" }, { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--comment)", fontStyle: "italic" },
]);
const LOOK = EditorView.theme({
  "&": { fontSize: "13px" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace', lineHeight: "1.45" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--pale)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--card) 70%, transparent)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--picked)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--frame)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--picked)", color: "var(--ink)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
});

export function makeEditor(parent, { onChange, onRun }) {
  const language = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      extensions: [
        EditorView.cspNonce.of(document.querySelector('meta[name="style-nonce"]').content),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => { onRun(); return true; } }])),
        lineNumbers(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        autocompletion(), highlightActiveLine(), lintGutter(), language.of(sql({ dialect: REX })),
        syntaxHighlighting(COLOURS), LOOK, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Query. Escape, then Tab, leaves the editor." }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.updateListener.of((update) => { if (update.docChanged) onChange(); }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
    know: (tables) => view.dispatch({ effects: language.reconfigure(sql({ dialect: REX, schema: tables })) }),
    mark(errors) {
      const length = view.state.doc.length;
      const marks = errors.map(({ start, end, code, message, hint }) => {
        const from = Math.min(start ?? 0, Math.max(length - 1, 0));
        return {
          from, to: Math.min(Math.max(end ?? from + 1, from + 1), length), severity: "error", source: code,
          message: hint ? `${message}\n${hint}` : message,
        };
      });
      view.dispatch(setDiagnostics(view.state, marks));
    },
  };
}
