// A template, or JSON: with highlighting and completion once its editor is loaded, a plain field until then.
import type { ComponentType } from 'react'
import { useEffect, useId, useState } from 'react'
import type { TemplateFieldProps } from './template-props.ts'

type Editor = ComponentType<TemplateFieldProps>

let editor: Editor | undefined
// Asked for with the page that has such fields, so that it is there when the first is shown. Where it cannot be loaded, the
// plain fields stay: everything can be written in them.
const loaded = import('./template-editor.tsx').then(
  (module) => {
    editor = module.default
    return editor
  },
  () => undefined,
)

export function TemplateField(props: TemplateFieldProps) {
  const { label, hint, error, isLabelHidden = false } = props
  const shown = error ?? hint
  const id = useId()
  const [Loaded, setLoaded] = useState<Editor | undefined>(() => editor)
  // Whoever writes in the plain field goes on writing there: its place is taken once they leave it.
  const [isWritten, setWritten] = useState(false)
  useEffect(() => {
    let isGone = false
    void loaded.then((found) => !isGone && setLoaded(() => found))
    return () => {
      isGone = true
    }
  }, [])
  const isPlain = Loaded === undefined || isWritten
  return (
    <div className="flex flex-col gap-1">
      {!isLabelHidden && (
        <label htmlFor={id} aria-hidden={!isPlain || undefined} className="text-sm font-medium text-ink">
          {label}
        </label>
      )}
      {isPlain ? (
        <PlainField {...props} id={id} onFocus={() => setWritten(true)} onBlur={() => setWritten(false)} />
      ) : (
        <Loaded {...props} />
      )}
      {shown !== undefined && (
        <p
          id={`${id}-hint`}
          role={error === undefined ? undefined : 'alert'}
          className={`text-xs ${error === undefined ? 'text-ink-3' : 'text-red'}`}
        >
          {shown}
        </p>
      )}
    </div>
  )
}

interface PlainProps extends TemplateFieldProps {
  readonly id: string
  readonly onFocus: () => void
  readonly onBlur: () => void
}

function PlainField({ id, label, value, error, rows = 1, isLabelHidden, hint, onText, onFocus, onBlur }: PlainProps) {
  const shared = {
    id,
    value,
    onFocus,
    onBlur,
    spellCheck: false,
    'aria-label': isLabelHidden === true ? label : undefined,
    'aria-invalid': error === undefined ? undefined : true,
    'aria-describedby': (error ?? hint) === undefined ? undefined : `${id}-hint`,
  }
  return rows === 1 ? (
    <input {...shared} className="field font-mono text-xs" onChange={(event) => onText(event.target.value)} />
  ) : (
    <textarea
      {...shared}
      rows={rows}
      className="field font-mono text-xs"
      onChange={(event) => onText(event.target.value)}
    />
  )
}
