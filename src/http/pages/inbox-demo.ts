// /demo/inbox: a page with the inbox of Development on it, for whoever tries the service for the first time.
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../../domain/problem.ts'
import { isLocalCall } from '../access/local-call.ts'

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0 }
header { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: .75rem 1.5rem; border-bottom: 1px solid #8884 }
h1 { font-size: 1.1rem; margin: 0 }
main { max-width: 40rem; margin: 0 auto; padding: 1.5rem }
button, select { font: inherit; padding: .4rem .8rem }
pre { overflow: auto; padding: 1rem; border: 1px solid #8884; border-radius: .5rem }
`

const script = `
const element = document.querySelector('posthorn-inbox')
let count = 0
async function send() {
  const { token } = await element.inbox.session()
  count += 1
  const subject = count === 1 ? 'Welcome to your inbox' : 'Notification number ' + count
  const body = 'It came over the stream: this page did not ask for it.'
  await fetch('../v1/inbox/events', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify({ payload: { subject, body } }),
  })
}
document.querySelector('#send').addEventListener('click', send)
document.querySelector('#theme').addEventListener('change', (event) => element.setAttribute('theme', event.target.value))
document.querySelector('#locale').addEventListener('change', (event) => element.setAttribute('locale', event.target.value))
customElements.whenDefined('posthorn-inbox').then(async () => {
  const { data } = await element.inbox.list({ limit: 1 })
  if (data.length === 0) await send()
})
`

const locales = ['en', 'de', 'fr', 'es', 'it', 'pt', 'ja', 'zh', 'ar']

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inbox demo</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<script src="../inbox.js" defer></script>
</head>
<body>
<header><h1>Inbox demo</h1><posthorn-inbox locale="en"></posthorn-inbox></header>
<main>
<p>This is the inbox of a demo subscriber in Development. Open the bell, or send it another notification.</p>
<p><button id="send" type="button">Send a notification</button>
<label>Theme <select id="theme"><option value="">Auto</option><option>light</option><option>dark</option></select></label>
<label>Language <select id="locale">${locales.map((locale) => `<option>${locale}</option>`).join('')}</select></label></p>
<p>On a page of your own:</p>
<pre>&lt;script src="https://your-posthorn.example/inbox.js" defer&gt;&lt;/script&gt;
&lt;posthorn-inbox application="…" subscriber="user-1" subscriber-hash="…"&gt;&lt;/posthorn-inbox&gt;</pre>
</main>
<script type="module">${script}</script>
</body>
</html>
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' ${hashOf(script)}`,
    `style-src 'self' ${hashOf(style)}`,
    'img-src https: http: data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

export function installInboxDemo(app: FastifyInstance, mayDemo: (isLocal: boolean) => boolean): void {
  app.get('/demo/inbox', async (request, reply) => {
    if (!mayDemo(isLocalCall(request.raw))) throw new Problem(404, `Cannot GET ${request.url.split('?')[0]}`)
    return reply.headers(headers).send(page)
  })
}
