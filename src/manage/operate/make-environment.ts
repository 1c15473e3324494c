// A new environment: its row, its audit key and its built-in integrations.
import { randomBytes } from 'node:crypto'
import type { Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { toBase62 } from '../../domain/operate/api-key.ts'
import { platformEmail } from '../../providers/email/platform-email.ts'
import { platform } from '../../providers/in-app/platform.ts'
import { platformSms } from '../../providers/sms/platform-sms.ts'
import { insertIntegration } from '../../store/integrations/integrations.ts'
import { insertEnvironment } from '../../store/operate/installation.ts'
import { signingRecord } from '../../store/operate/sealed-columns.ts'
import type { World } from '../../world/world.ts'

const signingSecretBytes = 32

export async function makeEnvironment(
  tx: Tx,
  world: World,
  environment: Environment,
  how: { parentId: string | null; color?: string | undefined; captures: boolean },
): Promise<void> {
  const secret = randomBytes(signingSecretBytes).toString('hex')
  await insertEnvironment(tx, {
    ...environment,
    parentId: how.parentId,
    color: how.color,
    identifier: toBase62(randomBytes(9)),
    signingSecret: world.sealer.seal(environment.id, 'signing-secret', signingRecord(1), secret),
    now: world.now(),
  })
  // Capture keeps messages without sending them: right where one tries things out, wrong where customers wait.
  await addBuiltIns(tx, world, environment, how.captures)
}

async function addBuiltIns(tx: Tx, world: World, environment: Environment, captures: boolean): Promise<void> {
  const now = world.now()
  const builtIns = [
    { provider: platform, active: true, primary: false },
    { provider: platformEmail, active: captures, primary: captures },
    { provider: platformSms, active: captures, primary: captures },
  ]
  for (const { provider, active, primary } of builtIns) {
    await insertIntegration(tx, world.sealer, environment, {
      id: world.newId(now),
      identifier: provider.id,
      name: provider.name,
      providerId: provider.id,
      channel: provider.channel,
      active,
      primary,
      credentials: {},
      conditions: [],
      now,
    })
  }
}
