// Firebase Cloud Messaging, the HTTP v1 API.
// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
import { secret } from '../form.ts'
import { bad, good, provider, unreachable } from '../provider.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { askAccessToken, readServiceAccount } from './service-account.ts'

export const fcm = provider({
  id: 'fcm',
  channel: 'push',
  name: 'Firebase Cloud Messaging',
  docsUrl: 'https://firebase.google.com/docs/cloud-messaging',
  form: {
    serviceAccount: secret('Service account', {
      description: 'The whole key file of a service account, as JSON.',
      placeholder: '{"type":"service_account","project_id":"…","client_email":"…","private_key":"…"}',
      mistake: (file) => {
        const account = readServiceAccount(file)
        return 'mistake' in account ? account.mistake : undefined
      },
    }),
  },

  async check(world, { serviceAccount }) {
    const account = readServiceAccount(serviceAccount)
    if ('mistake' in account) return bad(account.mistake, 'serviceAccount')
    try {
      const granted = await askAccessToken(world, account)
      const accessToken = granted.string('access_token')
      if (granted.status !== 200 || accessToken === undefined) {
        return bad(wordsOf('Google', granted, 'error_description', 'error'), 'serviceAccount')
      }
      // Validated by Firebase and sent to nobody.
      const request = new Request(
        `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: { topic: 'credential-check' }, validate_only: true }),
        },
      )
      const answer = answerOf(await world.fetch(request))
      return answer.status === 200 ? good : bad(wordsOf('Firebase', answer, 'error.message'), 'serviceAccount')
    } catch (error) {
      return unreachable(error)
    }
  },
})
