// HTML of others, shown in a frame of an origin of its own: no script of it runs, and nothing is fetched until it is asked for.
import { useEffect, useRef, useState } from 'react'
import { basePath } from '../api.ts'
import { Button, Choice } from './controls.tsx'
import { Code } from './copy.tsx'
import { hasDarkStyles, inDark } from './dark-mail.ts'

export function MessageFrame({
  html,
  images,
  title,
  width,
  height = 'h-[520px]',
}: {
  html: string
  images: boolean
  title: string
  width?: number
  height?: string
}) {
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const hand = (event: MessageEvent) => {
      if (event.source === frame.current?.contentWindow && event.data === 'ready') {
        frame.current?.contentWindow?.postMessage(html, '*')
      }
    }
    addEventListener('message', hand)
    frame.current?.contentWindow?.postMessage(html, '*')
    return () => removeEventListener('message', hand)
  }, [html])
  return (
    <iframe
      key={String(images)}
      ref={frame}
      title={title}
      sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"
      src={`${basePath}message-frame${images ? '?images=on' : ''}`}
      style={width === undefined ? undefined : { width }}
      className={`mx-auto block max-w-full rounded-md border border-line bg-white ${height} ${width === undefined ? 'w-full' : ''}`}
    />
  )
}

type View = 'desktop' | 'mobile' | 'dark' | 'text' | 'source'
const mobileWidth = 375

/** An e-mail as a person sees it, and as a program does. */
export function EmailView({
  html,
  text,
  source,
  subject,
  height,
}: {
  html: string
  text?: string | undefined
  source?: (() => Promise<string>) | undefined
  subject?: string | undefined
  height?: string
}) {
  const [view, setView] = useState<View>('desktop')
  const [images, setImages] = useState(false)
  const [raw, setRaw] = useState<string>()
  useEffect(() => {
    if (view === 'source' && raw === undefined) source?.().then(setRaw, (error: Error) => setRaw(error.message))
  }, [view, raw, source])
  const isShown = view !== 'text' && view !== 'source'
  const hasRemote = /<img[^>]+src=["']?https?:/i.test(html) || /url\(["']?https?:/i.test(html)
  const options: (readonly [View, string])[] = [
    ['desktop', 'Desktop'],
    ['mobile', 'Mobile'],
    ['dark', 'Dark'],
    ...(text === undefined ? [] : ([['text', 'Plain text']] as const)),
    ['source', source === undefined ? 'HTML' : 'Source'],
  ]
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Choice label="How to show the e-mail" value={view} options={options} onChange={setView} />
        {hasRemote && !images && isShown && (
          <Button look="quiet" icon="eye" onClick={() => setImages(true)}>
            Load remote images
          </Button>
        )}
      </div>
      {isShown && (
        <MessageFrame
          html={view === 'dark' ? inDark(html) : html}
          images={images}
          title={subject ?? 'E-mail'}
          {...(view === 'mobile' ? { width: mobileWidth } : {})}
          {...(height === undefined ? {} : { height })}
        />
      )}
      {view === 'dark' && (
        <p className="text-xs text-ink-3">
          {hasDarkStyles(html)
            ? 'With the dark styles of the e-mail itself.'
            : 'The e-mail has no dark styles of its own, so it is shown inverted, as many mail clients do.'}
        </p>
      )}
      {view === 'text' && <Code label="plain text" text={text ?? ''} />}
      {view === 'source' && <Code label="source" text={source === undefined ? html : (raw ?? 'Loading …')} />}
    </div>
  )
}

/** What is not an e-mail, as it looks on a phone or in an app. */
export function Bubble({ channel, title, content }: { channel: string; title?: string | undefined; content: string }) {
  return (
    <div className="flex justify-center rounded-md bg-bg-2 p-4">
      <div
        className={`w-full max-w-[340px] ${channel === 'sms' || channel === 'chat' ? 'rounded-2xl rounded-bl-sm bg-bg-3 px-4 py-2.5' : 'card p-3 shadow-sm'}`}
      >
        {title !== undefined && title !== '' && <p className="font-semibold">{title}</p>}
        <p className="whitespace-pre-wrap">{content}</p>
      </div>
    </div>
  )
}
