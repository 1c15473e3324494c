// A browser that subscribed to web push: its subscription, and how it reads what it is sent (RFC 8291, the other side).
import { createDecipheriv, createECDH, hkdfSync } from 'node:crypto'

/** The keys of the example in RFC 8291. */
export const exampleBrowser = {
  privateKey: 'q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}

export const subscription = (endpoint: string, change: object = {}): string =>
  JSON.stringify({
    endpoint,
    expirationTime: null,
    keys: { p256dh: exampleBrowser.p256dh, auth: exampleBrowser.auth, ...change },
  })

/** What the example's browser reads; throws when it is not for it. */
export function readByBrowser(body: Buffer): string {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  const browser = createECDH('prime256v1')
  browser.setPrivateKey(bytes(exampleBrowser.privateKey))
  const salt = body.subarray(0, 16)
  const sender = body.subarray(21, 21 + (body[20] ?? 0))
  const record = body.subarray(21 + sender.length)
  const about = Buffer.concat([Buffer.from('WebPush: info\0'), bytes(exampleBrowser.p256dh), sender])
  const material = hkdfSync('sha256', browser.computeSecret(sender), bytes(exampleBrowser.auth), about, 32)
  const derived = (name: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', Buffer.from(material), salt, `Content-Encoding: ${name}\0`, length))
  const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12))
  decipher.setAuthTag(record.subarray(-16))
  const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  const end = plain.lastIndexOf(2)
  if (end === -1) throw new Error('no delimiter of the last record')
  return plain.toString('utf8', 0, end)
}
