// The words of execution details, each code in order: clients compare them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import { detail, wordings } from '../../domain/insight/execution-detail.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import { executionDetailsOf } from './execution-details.ts'

const at = new Date('2026-01-02T03:04:05.678Z')
const job = { id: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21', status: 'completed', created_at: at } as const

const words: Readonly<Record<DetailCode, readonly [detail: string, status: string, source: string]>> = {
  queued: ['Step queued', 'Pending', 'Internal'],
  providerSelected: ['Integration instance selected', 'Pending', 'Internal'],
  messageCreated: ['Message created', 'Pending', 'Internal'],
  messageSent: ['Message sent', 'Success', 'Internal'],
  providerError: ['Unexpected provider error', 'Failed', 'Internal'],
  providerBusy: ['Unexpected provider error', 'Queued', 'Internal'],
  perhapsSent: ['Unexpected provider error', 'Warning', 'Internal'],
  misconfigured: ['Unexpected provider error', 'Failed', 'Credentials'],
  retryScheduled: ['The message will be tried again', 'Queued', 'Internal'],
  providerDown: ['The message is held: its provider is down', 'Queued', 'Internal'],
  leftUnsure: ['It is unknown whether the message was sent; it is not sent again', 'Warning', 'Internal'],
  noIntegration: ['Subscriber does not have an active integration', 'Failed', 'Credentials'],
  noEmail: ['Subscriber missing email address', 'Failed', 'Internal'],
  noPhone: ['Subscriber missing phone number', 'Failed', 'Internal'],
  noChannel: ['Subscriber does not have a configured channel', 'Failed', 'Internal'],
  noPushChannel: ['Subscriber does not have a configured channel', 'Warning', 'Internal'],
  noWebhookUrl: ['Webhook URL for the chat channel is missing', 'Failed', 'Internal'],
  payloadAddressIgnored: [
    'The webhookUrl of the payload was ignored: the integration lets no payload choose',
    'Warning',
    'Payload',
  ],
  payloadAddressRefused: [
    'The webhookUrl of the payload is on none of the hosts that the integration lists',
    'Failed',
    'Payload',
  ],
  someChatSkipped: ['Some chat channels skipped to send the message', 'Warning', 'Internal'],
  allChatFailed: ['All chat channels failed to send the message', 'Failed', 'Internal'],
  noDeviceTokens: [
    'Subscriber credentials is missing the tokens for sending a push notification message',
    'Failed',
    'Internal',
  ],
  somePushSkipped: ['Some push channels skipped to send the message', 'Warning', 'Internal'],
  deviceTokenRemoved: ['Invalid push device token was removed from subscriber', 'Warning', 'Internal'],
  suppressed: ['Nothing was sent: the address is on the suppression list', 'Warning', 'Internal'],
  contentFailed: ['Message content could not be generated', 'Failed', 'Payload'],
  conditionsFailed: ['Step was skipped based on steps conditions', 'Success', 'Internal'],
  conditionsBroken: ['Processing step filter failed', 'Failed', 'Internal'],
  variantChosen: ['Variant was chosen by the provided condition criteria', 'Pending', 'Internal'],
  workflowPreference: ['Step filtered by workflow preferences', 'Success', 'Internal'],
  tenantPreference: ['Step filtered by the tenant’s override of the workflow', 'Success', 'Internal'],
  globalPreference: ['Step filtered by subscriber global preferences', 'Success', 'Internal'],
  subscriberPreference: ['Step filtered by subscriber workflow preferences', 'Success', 'Internal'],
  outsideSchedule: ["The step was skipped as it fell outside the subscriber's schedule", 'Success', 'Internal'],
  scheduleExtended: ['Step was extended to the next available time in the subscriber schedule', 'Pending', 'Internal'],
  scheduleExtensionsMax: [
    'Step was executed due to maximum number of subscriber schedule extensions reached',
    'Success',
    'Internal',
  ],
  held: ['Step was held back until the subscriber wants to hear of it', 'Pending', 'Internal'],
  heldMerged: ['Step was bundled with others that were held back', 'Success', 'Internal'],
  heldReleased: ['What was held back is sent now', 'Success', 'Internal'],
  webhookRetried: ['Webhook filter failed, retry will be executed', 'Pending', 'Webhook'],
  webhookFailed: ['Failed to get response from remote webhook filter on last retry', 'Failed', 'Webhook'],
  throttled: ['Throttle limit exceeded for the given window', 'Success', 'Internal'],
  throttlePassed: ['Throttle let the step through', 'Success', 'Internal'],
  throttlePast: ['Throttle window date is in the past', 'Failed', 'Payload'],
  throttleInvalid: ['Invalid throttle configuration', 'Failed', 'Payload'],
  callStarted: ['Custom step called its service', 'Pending', 'Internal'],
  callFinished: ['Custom step was answered', 'Success', 'Internal'],
  callBusy: ['Custom step got no answer, it will be called again', 'Queued', 'Internal'],
  callFailed: ['Custom step failed', 'Failed', 'Internal'],
  layoutNotFound: ['Layout not found ', 'Failed', 'Internal'],
  layoutSelected: ['Layout selected', 'Pending', 'Internal'],
  replyCallbackMissing: ['Inbound mail - Missing replay callback URL', 'Warning', 'Internal'],
  canceled: ['Step was canceled by request', 'Success', 'Internal'],
  workflowOff: ['The tenant’s override switches the workflow off', 'Success', 'Internal'],
  delayed: ['Step delayed', 'Pending', 'Internal'],
  delayFinished: ['Delay is finished', 'Success', 'Internal'],
  delayInvalid: ['Invalid delay configuration', 'Failed', 'Payload'],
  digested: ['Step digested', 'Pending', 'Internal'],
  digestMerged: ['Digest was merged with other digest', 'Success', 'Internal'],
  digestSkipped: ['Digest was skipped, first backoff event', 'Success', 'Internal'],
  digestTriggered: ['Digest triggered events', 'Success', 'Internal'],
  digestInvalid: ['Invalid digest configuration', 'Failed', 'Payload'],
  previousFailed: ['Step was canceled because a previous step failed', 'Failed', 'Internal'],
  severityOverridden: ['Severity for the message was overridden', 'Pending', 'Internal'],
  tenantSelected: ['Tenant context selected', 'Pending', 'Internal'],
  buried: ['There was one or more errors when trying to execute the notification', 'Failed', 'Internal'],
  subscriberGone: ['Subscriber was deleted before the step ran', 'Failed', 'Internal'],
  snoozed: ['Message snoozed', 'Pending', 'Internal'],
  unsnoozed: ['Message unsnoozed', 'Success', 'Internal'],
  seen: ['Message seen', 'ReadConfirmation', 'Internal'],
  read: ['Message read', 'ReadConfirmation', 'Internal'],
  allPushFailed: ['There was one or more errors when trying to execute the notification', 'Failed', 'Internal'],
  receiptGood: ['Message delivered', 'Success', 'Webhook'],
  receiptWaiting: ['Message deferred', 'Pending', 'Webhook'],
  receiptQueued: ['Message queued', 'Queued', 'Webhook'],
  receiptFailed: ['Message not delivered', 'Failed', 'Webhook'],
  receiptRead: ['Message opened', 'ReadConfirmation', 'Webhook'],
  replyReceived: ['Inbound mail - Reply received', 'Success', 'Webhook'],
  replyCalled: ['Inbound mail - Reply handed to its callback', 'Success', 'Internal'],
  replyFailed: ['Inbound mail - Reply callback failed', 'Failed', 'Internal'],
  replyDomainMissing: ['Inbound mail - Missing MX route domain configuration', 'Warning', 'Internal'],
  redriven: ['Step was redriven by request', 'Pending', 'Internal'],
  retracted: ['Step was retracted by request', 'Success', 'Internal'],
  testLeftOut: ['Step was left out of the test', 'Success', 'Internal'],
  testNotWaited: ['Step did not wait, as it is a test', 'Success', 'Internal'],
  testNotThrottled: ['Throttle let the test through and did not count it', 'Success', 'Internal'],
}

for (const code of Object.keys(wordings) as DetailCode[]) {
  test(`the detail ${code} is worded ${words[code].join(' / ')}`, () => {
    const shown = executionDetailsOf({ ...job, details: [detail(at, code)] }, 'email').at(-1)
    assert.deepEqual([shown?.detail, shown?.status, shown?.source], words[code])
    assert.deepEqual([shown?.isRetry, shown?.isTest, shown?.createdAt], [false, false, at.toISOString()])
    assert.deepEqual([shown?.raw, shown?.providerId], [undefined, undefined])
  })
}

test('words that name someone stand instead of the code’s own', () => {
  const details = [detail(at, 'providerSelected', { words: 'SendGrid provider was selected', providerId: 'sendgrid' })]
  const shown = executionDetailsOf({ ...job, details }, 'email').at(-1)
  assert.equal(shown?.detail, 'SendGrid provider was selected')
  assert.equal(shown?.providerId, 'sendgrid')
})

test('every detail has an id of its own that says its time, and another job’s has another', () => {
  const details = [detail(at, 'messageCreated'), detail(at, 'messageCreated')]
  const ids = executionDetailsOf({ ...job, details }, 'email').map((one) => one._id)
  const others = executionDetailsOf({ ...job, id: '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e22', details }, 'email')
  assert.equal(new Set([...ids, ...others.map((one) => one._id)]).size, 6)
  for (const id of ids) assert.ok(isUuid(id) && id.startsWith('019b7c7a-2d0e-7'), id)
})
