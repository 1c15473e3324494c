// SimpleTexting: whom it reaches.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simpletexting } from '../../src/providers/sms/simpletexting.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { fullMessages } from '../support/provider-contract.ts'

async function phoneFor(to: string): Promise<string> {
  const world = createFakeWorld()
  let asked = ''
  world.onFetch = async (request) => {
    asked = ((await request.json()) as { contactPhone: string }).contactPhone
    return { status: 500, headers: new Headers(), body: '' }
  }
  const account = { apiKey: 'fake-api-token', from: '8005551234' }
  const outcome = await simpletexting.send?.(world, { ...fullMessages.sms, to }, account)
  return asked === '' && outcome?.kind === 'refused' ? outcome.reason : asked
}

test('numbers of the USA and Canada go without their country code', async () => {
  for (const to of ['+14155550101', '0014155550101', '14155550101', '4155550101', '+1 (415) 555-0101']) {
    assert.equal(await phoneFor(to), '4155550101', to)
  }
})

test('a number of another country is refused, even one that has ten digits', async () => {
  for (const to of ['+447700900123', '+4512345678', '+3545551234', '004512345678', '+11555', '1155501011']) {
    assert.equal(await phoneFor(to), 'bad-recipient', to)
  }
})
