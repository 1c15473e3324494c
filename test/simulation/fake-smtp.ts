// The SMTP provider without its sockets: it asks when the message is about to leave, long after it was given a connection.
import type { Outcome } from '../../src/domain/delivery/outcome.ts'
import { busy, sent, unsure, withheld } from '../../src/domain/delivery/outcome.ts'
import type { OutboundMessage } from '../../src/domain/messages/outbound-message.ts'
import { providerOf } from '../../src/providers/registry.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { World } from '../../src/world/world.ts'

/** In this process the registry's provider sends by `world.fetch`, which asks as the real one does. */
export function fakeSmtp(): void {
  const smtp = providerOf('nodemailer')
  if (smtp === undefined) throw new Error('There is no SMTP provider')
  Object.assign(smtp, { send })
}

async function send(world: World, message: OutboundMessage, account: { host: string }): Promise<Outcome> {
  const { to, subject } = message as unknown as { to: string[]; subject: string }
  const body = JSON.stringify({ to, subject })
  try {
    const answer = await world.fetch({ url: `https://${account.host}/`, method: 'POST', headers: {}, body })
    if (answer.status === 202) return sent('m1')
    return answer.status === 504 ? unsure('cut') : busy(`answered ${answer.status}`)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    if (error.kind === 'withheld') return withheld(error.message)
    return error.kind === 'unsure' ? unsure(error.message) : busy(error.message)
  }
}
