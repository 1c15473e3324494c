// What makes a story fail although it did not look: an error in the console, an exception that no one caught, a request to elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { close, scene, skip } from '../story.ts'

test('whatever goes wrong in a window of a visitor, or in one that it opened, is a complaint unless it is expected', {
  skip,
}, async () => {
  const visitor = await scene.visitor()
  await visitor.goto('sign-in')
  const heard = (words: string) => scene.complaints.some((text) => text.includes(words))
  const opened = visitor.waitForEvent('popup')
  await visitor.evaluate("void window.open('/sign-in')")
  const popup = await opened
  for (const [place, at] of [visitor, popup].entries()) {
    await at.evaluate(`console.error('planted ${place}')`)
    await at.evaluate(`setTimeout(() => { throw new Error('thrown ${place}') })`)
    await at.evaluate(`fetch('/v1/topics/of-no-one-${place}').then(() => undefined)`)
    // What the policy refuses never leaves, and is an error as well.
    await at.evaluate(`fetch('https://elsewhere.example/${place}').catch(() => undefined)`)
  }
  // The same service by another name is another site.
  await popup.goto(`${scene.url.replace('localhost', '127.0.0.1')}/sign-in`)
  await close(visitor, 404)
  for (const words of ['planted 0', 'planted 1', 'uncaught thrown 0', 'uncaught thrown 1', 'elsewhere.example/0'])
    assert.ok(heard(words), `${words} in ${scene.complaints.join('\n')}`)
  assert.ok(heard('of-no-one-0'), 'refused with 401, while 404 was expected')
  assert.ok(heard('a request to http://127.0.0.1'))
  scene.forget(/planted|thrown|elsewhere\.example|a request to/)
  assert.ok(scene.complaints.every((text) => text.includes('of-no-one-')))
  scene.forget(401)
  assert.deepEqual(scene.complaints, [])
})
