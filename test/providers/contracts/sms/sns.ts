// The contract of Amazon SNS.
import { sns } from '../../../../src/providers/sms/sns.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'

const account = {
  apiKey: 'AKIAFAKEFAKEFAKE0001',
  secretKey: 'fakeFAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE',
  region: 'eu-central-1',
}
const id = '567910cd-659e-55d4-8ccb-5aaf14679dc0'
const published = (messageId: string) =>
  `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>${messageId}</MessageId></PublishResult></PublishResponse>`
const failure = (status: number, code: string) => ({
  status,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>words</Message></Error></ErrorResponse>`,
})

export const contract: ProviderContract = {
  provider: sns,
  account: { ...account, token: 'fake-session-token', from: '+14155550100' },
  message: {
    customData: {
      'AWS.SNS.SMS.SMSType': 'Transactional',
      'AWS.SNS.SMS.MaxPrice': 0.5,
      'AWS.SNS.SMS.SenderID': 'Other',
      phoneNumber: '+999',
      TopicArn: 'arn:aws:sns:eu-central-1:1:all',
      'MessageAttributes.entry.1.Name': 'x',
    },
  },
  variants: [
    {
      name: 'from a number, in China',
      account: { ...account, region: 'cn-north-1', from: '+14155550100' },
      message: { from: undefined, customData: undefined },
    },
  ],
  success: { answer: { status: 200, body: published(id) }, id },
  errors: [
    ['a wrong key', failure(403, 'InvalidClientTokenId'), 'misconfigured'],
    ['a wrong secret', failure(403, 'SignatureDoesNotMatch'), 'misconfigured'],
    ['no rights', failure(403, 'AuthorizationError'), 'misconfigured'],
    ['a parameter', failure(400, 'InvalidParameter'), 'refused: other'],
    ['a value', failure(400, 'InvalidParameterValue'), 'refused: other'],
    ['a value, in other words', failure(400, 'ParameterValueInvalid'), 'refused: other'],
    ['someone who opted out', failure(400, 'OptedOut'), 'refused: opted-out'],
    ['too fast', failure(400, 'Throttling'), 'busy'],
    ['too fast, in other words', failure(400, 'ThrottlingException'), 'busy'],
    ['a key of encryption', failure(400, 'KMSDisabled'), 'misconfigured'],
    ['no rights to a key of encryption', failure(400, 'KMSAccessDenied'), 'misconfigured'],
    ['an error of its own', failure(500, 'InternalError'), 'busy'],
    ['away', failure(503, 'ServiceUnavailable'), 'busy'],
    ['a code of tomorrow', failure(400, 'Pondered'), 'refused: other'],
    ['no id', { status: 200, body: published('') }, 'unsure'],
    ['a gateway that waited too long', { status: 504 }, 'unsure'],
  ],
  check: [
    ['its settings', { status: 200, body: '<GetSMSAttributesResponse/>' }, 'good'],
    ['a key that may not read them', failure(403, 'AuthorizationError'), 'good'],
    ['a wrong key', failure(403, 'InvalidClientTokenId'), 'bad: apiKey'],
    ['a wrong secret', failure(403, 'SignatureDoesNotMatch'), 'bad: secretKey'],
    ['trouble', { status: 500 }, 'bad'],
  ],
}
