// Sends a large body from a thread of its own, so that the turns of the service are its own.
import { Worker } from 'node:worker_threads'
import type { Json } from './app.ts'

export interface SentBody {
  readonly url: string
  readonly key: string
  /** An expression that makes the body: it is computed there. */
  readonly makes: string
  readonly chunked?: true
  readonly headers?: Readonly<Record<string, string>>
}

export interface SentReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly bytes: number
}

const code = `
const { parentPort, workerData } = require('node:worker_threads')
const { request } = require('node:http')
const { url, key, makes, chunked, headers } = workerData
const bytes = Buffer.from(eval(makes))
const length = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes.length }
const call = request(url, {
  method: 'POST',
  headers: { authorization: 'ApiKey ' + key, 'content-type': 'application/json', ...length, ...headers },
}, (answer) => {
  const chunks = []
  answer.on('data', (chunk) => chunks.push(chunk))
  answer.on('end', () => parentPort.postMessage({
    status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString(), bytes: bytes.length,
  }))
})
call.on('error', (error) => parentPort.postMessage({ status: 0, headers: {}, text: JSON.stringify(String(error)), bytes: bytes.length }))
for (let at = 0; at < bytes.length; at += 65536) call.write(bytes.subarray(at, at + 65536))
call.end()
`

export function sendBody(sent: SentBody): Promise<SentReply> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData: sent })
    worker.once('error', reject)
    worker.once('message', ({ status, headers, text, bytes }) => {
      resolve({ status, headers, body: JSON.parse(text), bytes })
    })
  })
}
