// Mail that is about to leave: asked for between the server's 354 and the content, and not sent before the dot that ends it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { after, test } from 'node:test'
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { emailjs } from '../../src/providers/email/emailjs.ts'
import { nodemailer } from '../../src/providers/email/nodemailer.ts'
import { outlook365 } from '../../src/providers/email/outlook365.ts'
import { platformEmail } from '../../src/providers/email/platform-email.ts'
import type { SmtpResult } from '../../src/providers/email/smtp.ts'
import { closeSmtpPools, sendBySmtp } from '../../src/providers/email/smtp.ts'
import { leavingWorld } from '../../src/world/outbound/may-leave.ts'
import type { MayLeave } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { email, reply, startMailServer } from '../support/outbound-scene.ts'
import { polite, startConversation } from '../support/smtp-script.ts'

after(() => closeSmtpPools())

const accountAt = (port: string) => ({ host: '127.0.0.1', port, ignoreTls: true, from: 'hello@example.com' })

/** It shares no connection with the former. */
const otherAccountAt = (port: string) => ({ ...accountAt(port), tlsOptions: { minVersion: 'TLSv1.2' } })

async function send(port: string, mayLeave?: MayLeave): Promise<Outcome> {
  const world = createFakeWorld()
  const asking = mayLeave === undefined ? world : leavingWorld(world, mayLeave)
  const outcome = await nodemailer.send?.(asking, email(), accountAt(port))
  assert.ok(outcome)
  return outcome
}

const mail = { from: 'a@example.com', recipients: ['b@example.org'], raw: Buffer.from('Subject: x\r\n\r\nHi\r\n') }
/** More than the buffers of a connection hold on both sides. */
const large = { ...mail, raw: Buffer.from(`Subject: x\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(400_000)}`) }
const shown = (result: SmtpResult): unknown => (result.kind === 'failed' ? result.mayBeTaken : result.kind)

test('asked once, after the 354, and no content leaves before the answer', async (t) => {
  const { port, lines } = await startConversation(t)
  const seen: string[][] = []
  const mayLeave = async (): Promise<boolean> => {
    // A whole message by another account's connection: had the content left, the server would have seen it by now.
    await sendBySmtp(otherAccountAt(port), mail, 5_000)
    seen.push([...lines])
    return true
  }
  assert.equal((await send(port, mayLeave)).kind, 'sent')
  assert.equal(seen.length, 1)
  assert.equal(seen[0]?.filter((line) => line === 'DATA').length, 2, 'its own and the other’s')
  assert.deepEqual(
    seen[0]?.filter((line) => line.startsWith('Subject: ')),
    ['Subject: x'],
  )
  assert.equal(lines.filter((line) => line.startsWith('Subject: ')).length, 2)
})

test('it is asked so by a server that takes commands in one go, too', async (t) => {
  let received = 0
  const { port, mails } = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => {
      received += 1
      done()
    },
  })
  const asked: number[] = []
  const mayLeave = async (): Promise<boolean> => {
    asked.push(received - mails.length)
    return true
  }
  for (let one = 0; one < 3; one += 1) assert.equal((await send(port, mayLeave)).kind, 'sent')
  assert.deepEqual(asked, [1, 1, 1], 'the recipient was taken, the content was not')
})

test('a no, a later no and an error withhold the message: no content arrives, and the next one goes by another connection', async (t) => {
  const { port, lines, sockets } = await startConversation(t)
  const noes: MayLeave[] = [
    () => false,
    async () => false,
    () => Promise.reject(new Error('the database is away')),
    () => {
      throw new Error('broken')
    },
  ]
  for (const mayLeave of noes) {
    const outcome = await send(port, mayLeave)
    assert.deepEqual(outcome, { kind: 'withheld', detail: 'The message was cancelled before its content was sent' })
  }
  await Promise.all([...sockets].filter(({ closed }) => !closed).map((socket) => once(socket, 'close')))
  assert.equal(lines.filter((line) => line === 'DATA').length, 4)
  assert.deepEqual(
    lines.filter((line) => line === '.' || line.startsWith('Subject')),
    [],
  )
  assert.equal((await send(port, () => true)).kind, 'sent')
  assert.equal(sockets.size, 5)
})

test('a yes that comes when the time is up sends nothing', async (t) => {
  const { port, lines, sockets } = await startConversation(t)
  let allow: (isAllowed: boolean) => void = () => {}
  const mayLeave = () =>
    new Promise<boolean>((resolve) => {
      allow = resolve
    })
  const late = await sendBySmtp(accountAt(port), { ...mail, mayLeave }, 300)
  assert.equal(shown(late), false)
  allow(true)
  await Promise.all([...sockets].map((socket) => (socket.closed ? undefined : once(socket, 'close'))))
  assert.equal(lines.includes('Subject: x'), false)
})

test('cut at the 354, while the answer is awaited: certainly not sent, and not asked again', async (t) => {
  const { port, sockets } = await startConversation(t)
  assert.equal((await send(port)).kind, 'sent')
  let asked = 0
  const outcome = await send(port, async () => {
    asked += 1
    for (const socket of sockets) socket.destroy()
    // A whole message by another account's connection: by then we have noticed.
    await sendBySmtp(otherAccountAt(port), mail, 5_000)
    return true
  })
  assert.equal(outcome.kind, 'busy', JSON.stringify(outcome))
  assert.equal(asked, 1)
})

test('a kept connection that turns out closed before the 354 is replaced, and the message asks once', async (t) => {
  const messages = new Map<Socket, number>()
  const { port, sockets } = await startConversation(t, (line, socket) => {
    if (line !== '.') return
    messages.set(socket, (messages.get(socket) ?? 0) + 1)
    polite(line, socket)
  })
  assert.equal((await send(port)).kind, 'sent')
  for (const socket of sockets) socket.end()
  let asked = 0
  const outcome = await send(port, () => {
    asked += 1
    return true
  })
  assert.deepEqual([outcome.kind, asked, sockets.size], ['sent', 1, 2])
})

test('cut in the middle of the content: certainly not sent', async (t) => {
  const { port } = await startConversation(t, (_line, socket) => socket.destroy())
  assert.equal(shown(await sendBySmtp(accountAt(port), large, 5_000)), false)
})

test('a server that stops reading has not got it all when the time is up: certainly not sent', async (t) => {
  const { port, lines } = await startConversation(t, (_line, socket) => socket.pause())
  assert.equal(shown(await sendBySmtp(accountAt(port), large, 700)), false)
  assert.equal(lines.includes('.'), false)
})

test('cut or silent after the dot: perhaps sent', async (t) => {
  const cutting = await startConversation(t, (line, socket) => {
    if (line === '.') socket.destroy()
  })
  assert.equal((await send(cutting.port)).kind, 'unsure')
  const silent = await startConversation(t, () => {})
  assert.equal(shown(await sendBySmtp(accountAt(silent.port), mail, 2_000)), true)
})

test('a late 250 is a success, and a large mail arrives whole', async (t) => {
  let bytes = 0
  const { port } = await startConversation(t, (line, socket) => {
    if (line === '.') setTimeout(() => polite(line, socket), 300)
    else bytes += line.length + 2
  })
  const half = { ...mail, raw: large.raw.subarray(0, large.raw.indexOf('\r\n', 2_000_000) + 2) }
  assert.equal(shown(await sendBySmtp(accountAt(port), half, 15_000)), 'taken')
  assert.equal(bytes, half.raw.length)
})

test('a refusal after the dot counts, and the connection continues', async (t) => {
  for (const [reply, kind] of [
    ['451 4.3.0 try later', 'busy'],
    ['554 5.7.1 spam', 'refused'],
  ] as const) {
    let dots = 0
    const { port, sockets } = await startConversation(t, (line, socket) => {
      if (line !== '.') return
      dots += 1
      socket.write(dots === 1 ? `${reply}\r\n` : '250 fine\r\n')
    })
    const outcome = await send(port)
    assert.equal(outcome.kind, kind, JSON.stringify(outcome))
    assert.match(outcome.detail ?? '', new RegExp(reply))
    assert.equal((await send(port)).kind, 'sent')
    assert.equal(sockets.size, 1)
  }
})

test('a reply before the end of the content ends the connection: nothing else is written into the content', async (t) => {
  for (const [reply, taken] of [
    ['552 5.3.4 too large', '552 5.3.4 too large'],
    ['250 fine', 'before it had received the whole message'],
  ] as const) {
    let isFirst = true
    const { port, sockets } = await startConversation(t, (line, socket) => {
      if (line === '.') polite(line, socket)
      else if (isFirst) {
        isFirst = false
        socket.pause()
        socket.write(`${reply}\r\n`)
      }
    })
    const result = await sendBySmtp(accountAt(port), large, 5_000)
    assert.equal(shown(result), false)
    assert.match(String(result.kind === 'failed' && (result.error as Error).message), new RegExp(taken))
    assert.equal(shown(await sendBySmtp(accountAt(port), mail, 5_000)), 'taken')
    assert.equal(sockets.size, 2)
  }
})

test('where those it was written to are deferred, no copy goes ahead of it: all of it waits, in the server’s words', async (t) => {
  let isDeferred = true
  const { port, mails, sockets } = await startMailServer(t, {
    onRcptTo: ({ address }, _session, done) =>
      isDeferred && address.startsWith('zoe') ? done(reply(450, '4.2.0 greylisted, come back later')) : done(),
  })
  const message = email({ bcc: ['archive@example.org'] })
  let asked = 0
  const world = leavingWorld(createFakeWorld(), () => {
    asked += 1
    return true
  })
  const outcome = await nodemailer.send?.(world, message, accountAt(port))
  assert.ok(outcome?.kind === 'busy', JSON.stringify(outcome))
  assert.match(outcome.detail, /450 4\.2\.0 greylisted, come back later/)
  assert.deepEqual([outcome.ofRecipient, outcome.down, asked, mails.length], [true, undefined, 0, 0])
  const alone = await send(port)
  assert.ok(alone.kind === 'busy' && alone.ofRecipient === true, JSON.stringify(alone))
  assert.match(alone.detail, /450 4\.2\.0 greylisted, come back later/)
  const some = await nodemailer.send?.(world, email({ to: ['zoe@example.org', 'yan@example.org'] }), accountAt(port))
  assert.equal(some?.kind, 'sent', 'one of those it was written to has got it')
  isDeferred = false
  assert.equal((await nodemailer.send?.(world, message, accountAt(port)))?.kind, 'sent')
  assert.deepEqual(mails.at(-1)?.recipients, ['zoe@example.org', 'archive@example.org'])
  assert.equal(sockets.length, 2, 'only by leaving could the copy be kept back')
})

test('all that send by SMTP mark themselves, and take as many messages at once as they have connections', () => {
  for (const [provider, credentials, connections] of [
    [nodemailer, { host: 'mail.example.com' }, 5],
    [emailjs, { host: 'mail.example.com' }, 5],
    [outlook365, { from: 'hello@example.com' }, 1],
    [platformEmail, { host: 'mail.example.com' }, 5],
    [platformEmail, {}, undefined],
  ] as const) {
    assert.equal(provider.marksItself, true, provider.id)
    assert.equal(provider.concurrency?.(credentials as never), connections, provider.id)
  }
})
