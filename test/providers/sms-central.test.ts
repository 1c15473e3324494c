// SMS Central: what is kept of a receipt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiptsIn } from '../../src/providers/inbound/inbound.ts'
import { smsCentral } from '../../src/providers/sms/sms-central.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

test('the passwords that a receipt brings along are not kept', () => {
  const query =
    '?ID=991&REFERENCE=0197f3a0-0000-7000-8000-000000000002&STATUS=DELIVERD&USER_NAME=u&PASSWORD=p&token=k&key=k'
  const [receipt] = receiptsIn(smsCentral, inboundCallOf({ method: 'GET', query }))
  assert.deepEqual(receipt?.row, {
    ID: '991',
    REFERENCE: '0197f3a0-0000-7000-8000-000000000002',
    STATUS: 'DELIVERD',
  })
})

test('a foreign reference matches no message', () => {
  const query = '?ID=991&REFERENCE=campaign-7&STATUS=DELIVERD'
  assert.deepEqual(receiptsIn(smsCentral, inboundCallOf({ method: 'GET', query })), [])
})
