// The editor of templates, on CodeMirror. It lives in a shadow root: there its styles are sheets, which the page's policy allows.
import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { liquid } from '@codemirror/lang-liquid'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Diagnostic } from '@codemirror/lint'
import { setDiagnostics } from '@codemirror/lint'
import { Annotation, Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { jsonLanguage } from './json-words.ts'
import type { TemplateFieldProps } from './template-props.ts'
import { filters, standardVariables } from './template-words.ts'

const lineHeightPx = 20

const theme = (rows: number) =>
  EditorView.theme({
    '&': {
      border: '1px solid var(--line-2)',
      borderRadius: '6px',
      backgroundColor: 'var(--bg)',
      color: 'var(--ink)',
      fontSize: '13px',
    },
    '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
    '&.is-invalid': { borderColor: 'var(--red)' },
    '.cm-scroller': {
      fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
      lineHeight: `${lineHeightPx}px`,
      maxHeight: '480px',
      overflow: 'auto',
    },
    '.cm-content': { minHeight: `${rows * lineHeightPx}px`, padding: '6px 0', caretColor: 'var(--ink)' },
    '.cm-line': { padding: '0 10px' },
    '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--accent-bg)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-tooltip': {
      backgroundColor: 'var(--bg)',
      color: 'var(--ink)',
      border: '1px solid var(--line-2)',
      borderRadius: '6px',
    },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-bg)', color: 'var(--ink)' },
    '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
    // A border: browsers would carry a decoration of the text over to what replaces it, as a style that the policy refuses.
    '.cm-lintRange-error': { backgroundImage: 'none', borderBottom: '2px dotted var(--red)' },
  })

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: 'var(--violet)' },
    { tag: [tags.brace, tags.processingInstruction], color: 'var(--violet)' },
    { tag: [tags.variableName, tags.propertyName], color: 'var(--accent)' },
    { tag: [tags.string, tags.attributeValue], color: 'var(--green)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--amber)' },
    { tag: [tags.tagName, tags.angleBracket], color: 'var(--blue)' },
    { tag: tags.attributeName, color: 'var(--ink-2)' },
    { tag: tags.comment, color: 'var(--ink-3)' },
  ]),
)

/** What begins with a path, as what comes after it. */
function completionsOf(variables: readonly string[]) {
  const all = [...new Set([...variables, ...variables.map((name) => `payload.${name}`), ...standardVariables])]
  const under = (path: readonly string[]) => {
    const start = path.map((part) => `${part}.`).join('')
    const next = all.flatMap((name) => (name.startsWith(start) ? [name.slice(start.length).split('.')[0] ?? ''] : []))
    return [...new Set(next)].filter(Boolean).map((label) => ({ label, type: 'variable' }))
  }
  return { variables: under([]), properties: under, filters }
}

/** Where the service says the mistake is, or all of it. */
function placeOf(state: EditorState, error: string): Pick<Diagnostic, 'from' | 'to'> {
  const line = Number(/line:?\s*(\d+)/i.exec(error)?.[1] ?? 0)
  if (line < 1 || line > state.doc.lines) return { from: 0, to: state.doc.length }
  const { from, to } = state.doc.line(line)
  return { from, to }
}

/** Marks a change that came from the page, so that it is not reported as typed. */
const fromPage = Annotation.define<boolean>()

/** A value as the editor holds it: line breaks of one kind, and none in a field of one line. */
const heldText = (value: string, rows: number): string => value.replace(/\r\n?|\n/g, rows > 1 ? '\n' : ' ')

export default function TemplateEditor(props: TemplateFieldProps) {
  const { label, value, error, rows = 1, variables = [], language = 'liquid', onText } = props
  const spoken = () => (language === 'json' ? jsonLanguage : liquid(completionsOf(variables)))
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const words = useRef(new Compartment())
  const change = useRef(onText)
  change.current = onText
  const isDisabled = host.current?.closest('fieldset')?.disabled === true
  const known = variables.join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; what changes is handed on below
  useEffect(() => {
    const element = host.current
    if (element === null) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const isReadOnly = element.closest('fieldset')?.disabled === true
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: heldText(value, rows),
        extensions: [
          history(),
          autocompletion({ activateOnTyping: true, icons: false }),
          // Tab leaves the field, as everywhere.
          keymap.of([...completionKeymap, ...(rows > 1 ? [] : noEnter), ...defaultKeymap, ...historyKeymap]),
          words.current.of(spoken()),
          colours,
          theme(rows),
          EditorView.lineWrapping,
          typedOver,
          EditorState.readOnly.of(isReadOnly),
          EditorView.editable.of(!isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': String(rows > 1) }),
          ...(rows > 1 ? [] : [oneLine]),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            const isTyped = transactions.some((one) => one.docChanged && one.annotation(fromPage) !== true)
            if (docChanged && isTyped) change.current(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [isDisabled])
  useEffect(() => {
    const made = view.current
    const next = heldText(value, rows)
    if (made === undefined || made.state.doc.toString() === next) return
    made.dispatch({
      changes: { from: 0, to: made.state.doc.length, insert: next },
      annotations: fromPage.of(true),
    })
  }, [value, rows])
  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by what they hold
  useEffect(() => {
    view.current?.dispatch({ effects: words.current.reconfigure(spoken()) })
  }, [known])
  useEffect(() => {
    const made = view.current
    if (made === undefined) return
    made.dom.classList.toggle('is-invalid', error !== undefined)
    const found: Diagnostic[] =
      error === undefined ? [] : [{ ...placeOf(made.state, error), severity: 'error', message: error }]
    made.dispatch(setDiagnostics(made.state, found))
  }, [error])
  return <div ref={host} />
}

/**
 * What is typed over a selection is put in its place here: browsers would give it the colour of what it replaces, as a style that the
 * policy refuses.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput: (event, made) => {
    if (event.inputType !== 'insertText' || event.data === null || event.isComposing) return false
    if (made.composing || made.state.readOnly) return false
    const range = selectedIn(made)
    if (range === undefined) return false
    event.preventDefault()
    made.dispatch({
      changes: { ...range, insert: event.data },
      selection: { anchor: range.from + event.data.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})

/** As the browser has it, of which the editor may not have heard yet; not all browsers say it of a shadow root. */
function selectedIn(made: EditorView): { from: number; to: number } | undefined {
  const found = (made.root as { getSelection?: () => Selection | null }).getSelection?.()
  const ends = [
    [found?.anchorNode, found?.anchorOffset],
    [found?.focusNode, found?.focusOffset],
  ].flatMap(([node, offset]) => {
    const isInside = node instanceof Node && made.contentDOM.contains(node)
    return isInside ? [made.posAtDOM(node, Number(offset))] : []
  })
  const { anchor, head } = made.state.selection.main
  const [one = 0, other = 0] = ends.length === 2 ? ends : [anchor, head]
  return one === other ? undefined : { from: Math.min(one, other), to: Math.max(one, other) }
}

/** In a field of one line, Enter does nothing … */
const noEnter = ['Enter', 'Shift-Enter', 'Mod-Enter'].map((key) => ({ key, run: () => true }))
/** … and what is pasted comes as one line. */
const oneLine = EditorState.transactionFilter.of((transaction) => {
  const { newDoc } = transaction
  if (!transaction.docChanged || newDoc.lines === 1) return transaction
  const changes = Array.from({ length: newDoc.lines - 1 }, (_, index) => {
    const { to } = newDoc.line(index + 1)
    return { from: to, to: to + 1, insert: ' ' }
  })
  return [transaction, { changes, sequential: true }]
})
