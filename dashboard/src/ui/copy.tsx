// Text that is copied whole by a click, ids shown shortened, and code with a button.
import { useState } from 'react'
import { copyText } from './clipboard.ts'
import { Icon } from './icons.tsx'
import { say } from './toast.tsx'

const shownMs = 1_500

function useCopied(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false)
  const copy = (text: string) => {
    void copyText(text).then((isDone) => {
      if (!isDone) return say('The browser does not let this page copy. Select the text and copy it.', 'error')
      setCopied(true)
      setTimeout(() => setCopied(false), shownMs)
    })
  }
  return [copied, copy]
}

export const shortened = (text: string): string => (text.length <= 18 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`)

export function CopyText({ text, whole = false }: { text: string; whole?: boolean }) {
  const [copied, copy] = useCopied()
  return (
    <button
      type="button"
      title={`Copy ${text}`}
      onClick={(event) => {
        event.stopPropagation()
        copy(text)
      }}
      className="inline-flex max-w-full items-center gap-1 rounded font-mono text-xs text-ink-2 hover:text-ink"
    >
      <span className="truncate">{whole ? text : shortened(text)}</span>
      <Icon name={copied ? 'check' : 'copy'} size={12} className={copied ? 'text-green' : 'text-ink-3'} />
      <span className="sr-only">{copied ? 'Copied' : 'Copy'}</span>
    </button>
  )
}

export function Code({ text, label, className = '' }: { text: string; label: string; className?: string }) {
  const [copied, copy] = useCopied()
  return (
    <div className={`relative rounded-md border border-line bg-bg-2 ${className}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in */}
      <pre tabIndex={0} role="group" aria-label={label} className="prose-mono max-h-[420px] overflow-auto p-3 pr-10">
        {text}
      </pre>
      <button
        type="button"
        onClick={() => copy(text)}
        title={`Copy ${label}`}
        aria-label={copied ? 'Copied' : `Copy ${label}`}
        className="absolute top-1.5 right-1.5 flex size-7 items-center justify-center rounded-md text-ink-2 hover:bg-bg-3 hover:text-ink"
      >
        <Icon name={copied ? 'check' : 'copy'} size={14} className={copied ? 'text-green' : ''} />
      </button>
    </div>
  )
}

export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Code label={label} text={JSON.stringify(value, undefined, 2) ?? ''} />
)
