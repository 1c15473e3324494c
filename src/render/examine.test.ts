// Long templates are examined in a thread before they are saved: what is said of them is the same, and is not worked out here.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import type { ThreadFailureKind, Threads } from '../world/threads.ts'
import { createThreads, ThreadFailure } from '../world/threads.ts'
import { templateMistakes } from './check.ts'
import type { ExamineRequest } from './examine.ts'
import { examine, examineAhead, examinedNow } from './examine.ts'
import { variablesOf } from './variables.ts'

const real = createThreads({ entry: new URL('./render-thread.js', import.meta.url), size: 1 })
after(() => real.close())

const asked: ExamineRequest[] = []
const answering = (answer: () => Promise<unknown>): Threads => ({
  ...real,
  run: (message) => {
    asked.push(message as ExamineRequest)
    return answer()
  },
})
const failing = (kind: ThreadFailureKind) => answering(() => Promise.reject(new ThreadFailure(kind, 'no')))
const long = (name: string, count = 400): string => `{{ payload.${name} | upcase }}`.repeat(count)
const sms = (content: string): StepTemplate => ({ type: 'sms', content })

test('what the thread says of a long template is what counts when it is saved', async () => {
  const value = [{ paths: [] }, { mistake: 'as the thread says', paths: [['payload', 'fromThread']] }]
  await examineAhead(
    answering(async () => ({ value })),
    { steps: [{ template: sms(long('one')) }] },
  )
  assert.deepEqual(asked.pop()?.examine, [long('one')])
  assert.deepEqual(templateMistakes(sms(long('one'))), [{ path: 'template.content', message: 'as the thread says' }])
  assert.deepEqual(variablesOf([sms(long('one'))], []).variables, ['fromThread'])
})

test('a thread says the same as is found here', async () => {
  const broken = `${long('two')}{{ payload.two | unknown }}`
  const texts = [long('two'), broken, `<p>${long('two')}</p>{{ subscriber.firstName }}`]
  await examineAhead(real, { texts })
  for (const text of texts) {
    for (const mode of ['html', 'plain'] as const) assert.deepEqual(examine(text, mode), examinedNow(text, mode))
  }
  assert.match(examine(broken, 'plain').mistake ?? '', /unknown filter/)
})

test('short templates and those that are refused unread go to no thread', async () => {
  const none = failing('broken')
  await examineAhead(none, { steps: [{ content: long('three', 300) }] })
  await examineAhead(none, { steps: Array.from({ length: 4 }, (_, index) => long(`four${index}`, 2_600)) })
  await examineAhead(undefined, { steps: [{ content: long('five') }] })
  assert.deepEqual(asked, [])
})

test('where no thread starts it is examined here; what takes too long there, or finds no time, is refused, and not remembered', async () => {
  await examineAhead(failing('unavailable'), [long('six')])
  assert.deepEqual(templateMistakes(sms(long('six'))), [])
  for (const kind of ['late', 'broken'] as const) {
    await assert.rejects(examineAhead(failing(kind), [long(kind)]), /could not be checked in time/)
    assert.deepEqual(templateMistakes(sms(long(kind))), [])
  }
  await assert.rejects(examineAhead(failing('busy'), [long('busy')]), { status: 503 })
})
