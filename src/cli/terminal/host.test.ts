// The terminal of a process: readers that disconnect, and questions without an answer.
import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { terminalOf } from './host.ts'

const gone = (): Writable =>
  new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a reader that goes away stops the command where it read the answer, and is no mistake where it read hints', async () => {
  const reader = { env: {}, stdout: new PassThrough(), stderr: gone() }
  const hinting = terminalOf(reader, { outlivesReader: false })
  const signal = hinting.untilStopped()
  hinting.note('Progress')
  await turn()
  assert.equal(signal.aborted, false)
  const answering = terminalOf({ env: {}, stdout: gone(), stderr: gone() }, { outlivesReader: false })
  answering.print('An answer')
  await turn()
  assert.equal(answering.untilStopped().aborted, true)
})

test('the service goes on when no one reads its log, and when its log cannot be written', async () => {
  const full = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })),
  })
  const serving = terminalOf({ env: {}, stdout: gone(), stderr: full }, { outlivesReader: true })
  serving.print('A line')
  serving.note('Another one')
  await turn()
  assert.equal(serving.untilStopped().aborted, false)
})

test('a question whose terminal is closed, by Ctrl-C or Ctrl-D, is answered with nothing', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const stdout = Object.assign(new PassThrough(), { isTTY: true })
  const { ask } = terminalOf({ env: {}, stdout, stderr: new PassThrough(), stdin }, { outlivesReader: false })
  const answer = ask?.('Really? ') ?? assert.fail('there is no one to ask')
  stdin.write('\u0003')
  assert.equal(await answer, '')
})

test('a secret that is asked for is not shown as it is typed', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const stdout = Object.assign(new PassThrough(), { isTTY: true })
  const { askSecret } = terminalOf({ env: {}, stdout, stderr: new PassThrough(), stdin }, { outlivesReader: false })
  const answer = askSecret?.('Password: ') ?? assert.fail('there is no one to ask')
  stdin.write('hush hush\r')
  assert.equal(await answer, 'hush hush')
  assert.equal(String(stdout.read()), 'Password: \n')
})
